//! What came of a graph → the tokens of `pipeline!`.
//!
//! Every token carries the span of the path literal, so rustc points there; the place inside the graph file is in the
//! text. With errors, the names that callers use are emitted all the same.

mod asserts;
mod names;
mod placeholder;
mod plan;
mod readable;
mod track;
mod wire;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::load::{self, Outcome};
use crate::render;
use crate::source::Source;

pub use names::Names;
pub use readable::readable;

/// What the caller of `pipeline!` decides.
#[derive(Debug)]
pub struct Target {
    /// The type to emit.
    pub name: Ident,
    /// The crate or module of the stages, `::proofline_stages` say: the implementation of stage `spmv` on `host` is its
    /// `host::Spmv`.
    pub stages: TokenStream,
    /// The environment variable that may name another graph, which cargo is to watch.
    pub env: Option<String>,
    /// Where rustc points.
    pub span: Span,
}

/// The items of a graph that could be read.
#[must_use]
pub fn pipeline(outcome: &Outcome, target: &Target) -> TokenStream {
    let tracked = track::files(outcome, target);
    let warnings =
        outcome.warnings().map(|warning| track::warning(&render::for_rustc(warning, &outcome.sources), target));
    let warnings: TokenStream = warnings.collect();
    let ty = type_item(target);
    let body = match outcome.plan.as_ref().filter(|_| outcome.study.is_empty()) {
        Some(plan) => {
            let names = Names::new(plan, target);
            let (aliases, asserts) = (names.aliases(), asserts::asserts(plan, &names, &outcome.sources));
            let graph = wire::graph(plan, &names, target);
            quote!(#aliases #asserts #graph)
        }
        None => {
            let refused = outcome.errors().chain(outcome.study.iter().filter(|_| outcome.plan.is_some()));
            let errors = refused.map(|error| render::for_rustc(error, &outcome.sources));
            let errors: TokenStream = errors.map(|text| error(&text, target.span)).collect();
            let graph = placeholder::graph(outcome.catalogue.as_ref(), target);
            quote!(#errors #graph)
        }
    };
    let span = target.span;
    quote_spanned!(span=> #ty const _: () = { #tracked #warnings #body };)
}

/// The items where the graph file, or already the catalogue, could not be opened.
#[must_use]
pub fn unreadable(message: &str, catalogue: Option<Source>, target: &Target) -> TokenStream {
    let catalogue = catalogue.and_then(load::catalogue);
    let (ty, watched) = (type_item(target), track::environment(target));
    let (error, graph) = (error(message, target.span), placeholder::graph(catalogue.as_ref(), target));
    let span = target.span;
    quote_spanned!(span=> #ty const _: () = { #watched #error #graph };)
}

fn type_item(target: &Target) -> TokenStream {
    let (name, span) = (&target.name, target.span);
    let doc = "The stage graph that this binary was compiled for; see `Graph::plan`.";
    quote_spanned! {span=>
        #[doc = #doc]
        #[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::marker::Copy)]
        pub struct #name;
    }
}

fn error(text: &str, span: Span) -> TokenStream {
    quote_spanned!(span=> ::core::compile_error!(#text);)
}
