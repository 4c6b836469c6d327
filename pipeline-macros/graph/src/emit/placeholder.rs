//! What stands for a graph that was refused: callers find the names that they use, and report nothing.

use proc_macro2::TokenStream;
use quote::quote_spanned;

use super::Target;
use super::names::path;
use crate::model::{Catalogue, Implementation};

/// An implementation of the trait that does nothing. Job and output are those that a lawful graph would have had, as
/// far as the catalogue tells: what stages without ports read, and what no stage takes.
pub fn graph(catalogue: Option<&Catalogue>, target: &Target) -> TokenStream {
    let (span, name) = (target.span, &target.name);
    let implementations = catalogue.map(|known| &known.implementations);
    let all = || implementations.into_iter().flatten();
    let source = all().find(|one| one.ports.is_empty());
    let taken = |token: &String| all().any(|one| one.ports.iter().any(|port| port.token == *token));
    let sink = all().find(|one| one.output.as_ref().is_some_and(|output| !taken(output)));
    let ty = |one: &Implementation| path(&target.stages, &one.backend.value, &one.stage.value, span);
    let (unknown, job, output) = match source.zip(sink) {
        Some((source, sink)) => {
            let (source, sink) = (ty(source), ty(sink));
            let job = quote_spanned!(span=> <#source as rt::Stage>::Job);
            (TokenStream::new(), job, quote_spanned!(span=> <#sink as rt::Stage>::Out))
        }
        None => (unknown(target), quote_spanned!(span=> Unknown), quote_spanned!(span=> Unknown)),
    };
    quote_spanned! {span=>
        use ::pipeline_runtime::export as rt;
        #unknown
        #[automatically_derived]
        impl rt::Graph for #name {
            type Job = #job;
            type Output = #output;

            fn plan() -> rt::Plan {
                ::core::unreachable!()
            }

            fn wire(_: &mut rt::Wiring<'_, Self::Job, Self::Output>) {
                ::core::unreachable!()
            }
        }
    }
}

/// A type that is a job and a token.
fn unknown(target: &Target) -> TokenStream {
    let span = target.span;
    quote_spanned! {span=>
        #[allow(dead_code)]
        pub enum Unknown {}
        impl rt::Job for Unknown {
            fn partitions(&self) -> u32 {
                match *self {}
            }
            fn sizes(&self) -> rt::Sizes {
                match *self {}
            }
        }
        impl rt::Token for Unknown {
            const NAME: &'static str = "Unknown";
            type Shape = ();
            fn with_shape(_: &()) -> Self {
                ::core::unreachable!()
            }
            fn shape(&self) {
                match *self {}
            }
            fn bytes(&self) -> u64 {
                match *self {}
            }
        }
    }
}
