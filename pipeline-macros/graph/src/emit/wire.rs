//! `impl Graph`: the plan, and the stages put together.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote_spanned};

use super::names::Names;
use super::{Target, plan};
use crate::plan::{Plan, Role};
use crate::render;

/// The implementation for a plan.
///
/// # Panics
/// The plan has no source or no sink; checks see to it that it has.
pub fn graph(compiled: &Plan, names: &Names<'_>, target: &Target) -> TokenStream {
    let (span, name) = (names.span, &target.name);
    let find = |role| compiled.stages.iter().position(|stage| stage.role == role);
    let source = names.stage(find(Role::Source).expect("a plan has a source"));
    let sink = names.stage(find(Role::Sink).expect("a plan has a sink"));
    let (expression, tables) = (plan::expression(compiled, span), render::plan(compiled));
    let (aliases, edges, stages) =
        (aliases(compiled, names, &source, &sink), edges(compiled, names), stages(compiled, names));
    quote_spanned! {span=>
        use ::pipeline_runtime::export as rt;

        #aliases

        #[automatically_derived]
        impl rt::Graph for #name {
            type Job = <#source as rt::Stage>::Job;
            type Output = <rt::If<{ LEAVES }> as rt::Either<<#sink as rt::Stage>::Out, rt::Never>>::Chosen;

            const TABLES: &'static str = #tables;

            fn plan() -> rt::Plan {
                #expression
            }

            fn wire(wiring: &mut rt::Wiring<'_, Self::Job, Self::Output>) {
                #edges
                #stages
            }
        }
    }
}

/// The types of edges and stages if rustc answers all that [`super::asserts`] asks of them with yes, else what stands in
/// for them: then that is the only error.
fn aliases(plan: &Plan, names: &Names<'_>, source: &Ident, sink: &Ident) -> TokenStream {
    let span = names.span;
    let out = |stage: usize| {
        let stage = names.stage(stage);
        quote_spanned!(span=> <#stage as rt::Stage>::Out)
    };
    let answers = plan.edges.iter().map(|edge| {
        let (out, to, port) = (out(edge.from), names.stage(edge.to), edge.port);
        quote_spanned! {span=>
            && rt::Ends::<#out, <#to as rt::TakesAt<#port>>::Takes>::ALIKE && rt::Asked::<#out>::TRAVELS
        }
    });
    let tokens = plan.edges.iter().enumerate().map(|(number, edge)| {
        let (token, out) = (names.token(number), out(edge.from));
        quote_spanned!(span=> type #token = <rt::If<{ WIRES }> as rt::Either<#out, rt::Never>>::Chosen;)
    });
    let stages = plan.stages.iter().enumerate().filter(|(_, stage)| stage.role != Role::Dealloc);
    let stages = stages.map(|(position, stage)| {
        let (wired, checked) = (names.wired(position), names.checked(position));
        let inputs = stage.inputs.iter().map(|edge| names.token(*edge));
        let output = match stage.outputs.first() {
            Some(edge) => names.token(*edge),
            None => format_ident!("Output", span = span),
        };
        quote_spanned! {span=>
            type #wired = <rt::If<{ WIRES }> as rt::Either<
                #checked,
                rt::StandIn<<#source as rt::Stage>::Job, (#(rt::InEnd<#inputs>,)*), #output>,
            >>::Chosen;
        }
    });
    quote_spanned! {span=>
        // Where every answer is yes nothing is asked of the traits.
        #[allow(unused_imports)]
        use rt::{Differ as _, Stays as _};

        const LEAVES: bool = rt::Asked::<<#sink as rt::Stage>::Out>::TRAVELS;
        const WIRES: bool = LEAVES #(#answers)*;
        type Output = <rt::If<{ LEAVES }> as rt::Either<<#sink as rt::Stage>::Out, rt::Never>>::Chosen;
        #(#tokens)*
        #(#stages)*
    }
}

fn ends(edge: usize, names: &Names<'_>) -> (Ident, Ident) {
    (format_ident!("into_{edge}", span = names.span), format_ident!("out_of_{edge}", span = names.span))
}

fn edges(plan: &Plan, names: &Names<'_>) -> TokenStream {
    let span = names.span;
    let edges = (0..plan.edges.len()).map(|number| {
        let (into, out_of) = ends(number, names);
        let token = names.token(number);
        quote_spanned!(span=> let (#into, #out_of) = wiring.edge::<#token>(#number);)
    });
    edges.collect()
}

fn stages(plan: &Plan, names: &Names<'_>) -> TokenStream {
    let span = names.span;
    let stages = plan.stages.iter().enumerate().map(|(position, stage)| {
        let (ty, wired) = (names.stage(position), names.wired(position));
        let inputs = stage.inputs.iter().map(|edge| ends(*edge, names).1);
        let outputs = stage.outputs.iter().map(|edge| ends(*edge, names).0);
        match stage.role {
            Role::Dealloc => quote_spanned!(span=> wiring.dealloc::<#ty>(#position);),
            Role::Sink => quote_spanned!(span=> wiring.sink::<#wired>(#position, (#(#inputs,)*));),
            Role::Source | Role::Inner => quote_spanned! {span=>
                wiring.stage::<#wired, _>(#position, (#(#inputs,)*), ::std::vec![#(#outputs),*]);
            },
        }
    });
    stages.collect()
}
