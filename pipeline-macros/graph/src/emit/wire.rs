//! `impl Graph`: the plan, and the stages put together.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote_spanned};

use super::names::Names;
use super::{Target, plan};
use crate::plan::{Plan, Role};

/// The implementation for a plan.
///
/// # Panics
/// The plan has no source; checks see to it that it has.
pub fn graph(compiled: &Plan, names: &Names<'_>, target: &Target) -> TokenStream {
    let (span, name) = (names.span, &target.name);
    let find = |role| compiled.stages.iter().position(|stage| stage.role == role);
    let source = names.stage(find(Role::Source).expect("a plan has a source"));
    let output = names.output();
    let expression = plan::expression(compiled, span);
    let (edges, stages) = (edges(compiled, names), stages(compiled, names));
    quote_spanned! {span=>
        use ::pipeline_runtime::export as rt;

        #[automatically_derived]
        impl rt::Graph for #name {
            type Job = <#source as rt::Stage>::Job;
            type Output = #output;

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
        let (ty, checked) = (names.stage(position), names.checked(position));
        let inputs = stage.inputs.iter().map(|edge| ends(*edge, names).1);
        let outputs = stage.outputs.iter().map(|edge| ends(*edge, names).0);
        match stage.role {
            Role::Dealloc => quote_spanned!(span=> wiring.dealloc::<#ty>(#position);),
            Role::Sink => quote_spanned!(span=> wiring.sink::<#checked>(#position, (#(#inputs,)*));),
            Role::Source | Role::Inner => quote_spanned! {span=>
                wiring.stage::<#checked, _>(#position, (#(#inputs,)*), ::std::vec![#(#outputs),*]);
            },
        }
    });
    stages.collect()
}
