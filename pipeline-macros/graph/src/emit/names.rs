//! How the emitted code calls the stages' types.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};

use super::Target;
use crate::plan::Plan;
use crate::words::type_name;

/// One alias per branch of each stage, so that a path that does not exist is one error.
#[derive(Debug)]
pub struct Names<'a> {
    plan: &'a Plan,
    stages: &'a TokenStream,
    /// The type that is emitted.
    pub graph: Ident,
    /// Where rustc points.
    pub span: Span,
}

impl<'a> Names<'a> {
    /// The names for a plan.
    #[must_use]
    pub fn new(plan: &'a Plan, target: &'a Target) -> Self {
        Self {
            plan,
            stages: &target.stages,
            graph: Ident::new(&target.name.to_string(), target.span),
            span: target.span,
        }
    }

    /// The alias of a branch.
    #[must_use]
    pub fn branch(&self, stage: usize, branch: usize) -> Ident {
        let stage = &self.plan.stages[stage];
        let backend = type_name(&stage.branches[branch].backend.value);
        format_ident!("{}On{}", type_name(&stage.name), backend, span = self.span)
    }

    /// The alias of the branch that runs.
    #[must_use]
    pub fn stage(&self, stage: usize) -> Ident {
        let plan = &self.plan.stages[stage];
        let chosen = plan.branches.iter().position(|branch| branch.backend.value == plan.backend);
        self.branch(stage, chosen.unwrap_or_default())
    }

    /// The trait that a stage has if it reads the source's job.
    #[must_use]
    pub fn job_trait(&self, stage: usize) -> Ident {
        format_ident!("JobOf{}", self.stage(stage), span = self.span)
    }

    /// The alias of the branch that runs, by way of [`Self::job_trait`].
    #[must_use]
    pub fn checked(&self, stage: usize) -> Ident {
        format_ident!("{}Checked", self.stage(stage), span = self.span)
    }

    /// The alias of the token of an edge, or of what stands in for it.
    #[must_use]
    pub fn token(&self, edge: usize) -> Ident {
        format_ident!("TokenOf{edge}", span = self.span)
    }

    /// The alias of a stage as it is wired: [`Self::checked`], or what stands in for it.
    #[must_use]
    pub fn wired(&self, stage: usize) -> Ident {
        format_ident!("{}Wired", self.stage(stage), span = self.span)
    }

    /// The aliases.
    #[must_use]
    pub fn aliases(&self) -> TokenStream {
        let span = self.span;
        let stages = self.plan.stages.iter().enumerate();
        let branches = stages.flat_map(|(stage, plan)| (0..plan.branches.len()).map(move |branch| (stage, branch)));
        let aliases = branches.map(|(stage, branch)| {
            let plan = &self.plan.stages[stage];
            let path = path(self.stages, &plan.branches[branch].backend.value, &plan.name, span);
            let alias = self.branch(stage, branch);
            quote_spanned!(span=> type #alias = #path;)
        });
        aliases.collect()
    }
}

/// The type of a stage's implementation.
pub fn path(stages: &TokenStream, backend: &str, stage: &str, span: Span) -> TokenStream {
    let (backend, ty) = (format_ident!("{backend}", span = span), format_ident!("{}", type_name(stage), span = span));
    quote_spanned!(span=> #stages::#backend::#ty)
}
