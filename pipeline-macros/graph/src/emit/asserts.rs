//! What only rustc can check: that the Rust types are what the catalogue says, and that edges join equal types.
//!
//! Each check is a trait that the types implement only if all is well, local to the expansion and used once. Its
//! `on_unimplemented` is the whole error.

mod memory;
mod policy;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote_spanned};

use super::names::Names;
use super::plan::tags;
use crate::checks::{edge_type, job_type, stale_catalogue, tags_differ};
use crate::diagnostic::Diagnostic;
use crate::plan::{Plan, Role};
use crate::render;
use crate::source::Sources;
use crate::words::type_name;

/// All of them.
pub fn asserts(plan: &Plan, names: &Names<'_>, sources: &Sources) -> TokenStream {
    let mut asserts = compare(names);
    let source = plan.stages.iter().position(|stage| stage.role == Role::Source).unwrap_or_default();
    for (position, stage) in plan.stages.iter().enumerate() {
        for branch in 0..stage.branches.len() {
            asserts.extend(tags_of(plan, names, sources, position, branch));
            if stage.role != Role::Dealloc {
                asserts.extend(ports_of(plan, names, sources, position, branch));
            }
        }
        if stage.role != Role::Dealloc {
            asserts.extend(job_of(plan, names, sources, position, source));
        }
    }
    for edge in 0..plan.edges.len() {
        asserts.extend(types_of(plan, names, sources, edge));
    }
    if let Some(sink) = plan.stages.iter().position(|stage| stage.role == Role::Sink) {
        asserts.extend(output_of(plan, names, sources, sink));
    }
    asserts.extend(memory::asserts(plan, names, sources));
    asserts.extend(policy::asserts(plan, names, sources));
    asserts
}

/// The text of an error inside an attribute where braces stand for types; those of the graph file are doubled.
fn message(fault: &Diagnostic, sources: &Sources) -> String {
    let text = render::for_rustc(fault, sources);
    let (title, picture) = text.split_once('\n').unwrap_or((&text, ""));
    format!("{title}\n{}", picture.replace('{', "{{").replace('}', "}}"))
}

/// A trait that says `message` of types for which `condition` is false.
fn holds(name: &Ident, message: &str, ty: &TokenStream, condition: &TokenStream) -> TokenStream {
    let span = name.span();
    quote_spanned! {span=>
        const _: () = {
            #[diagnostic::on_unimplemented(message = #message, label = "in this graph")]
            trait #name<const YES: bool> {
                const OK: () = ();
            }
            #[diagnostic::do_not_recommend]
            impl<T> #name<true> for T {}
            <#ty as #name<{ #condition }>>::OK
        };
    }
}

fn tags_of(plan: &Plan, names: &Names<'_>, sources: &Sources, stage: usize, branch: usize) -> TokenStream {
    let (span, ty) = (names.span, names.branch(stage, branch));
    let implementation = &plan.stages[stage].branches[branch];
    let name = format_ident!("TagsOf{}", ty, span = span);
    let tags = tags(implementation.tags, span);
    let of = format_ident!("{}", if implementation.is_dealloc() { "DeallocStage" } else { "Stage" }, span = span);
    let own = quote_spanned!(span=> <#ty as rt::#of>::TAGS);
    let condition = quote_spanned!(span=> #own.contains(#tags) && (#tags).contains(#own));
    let text = message(&tags_differ::of_the_type(&plan.stages[stage], implementation), sources);
    holds(&name, &text, &quote_spanned!(span=> #ty), &condition)
}

fn ports_of(plan: &Plan, names: &Names<'_>, sources: &Sources, stage: usize, branch: usize) -> TokenStream {
    let (span, ty) = (names.span, names.branch(stage, branch));
    let implementation = &plan.stages[stage].branches[branch];
    let name = format_ident!("PortsOf{}", ty, span = span);
    let ports = implementation.ports.iter().map(|port| (&port.name, &port.token));
    let ports = ports.map(|(name, token)| quote_spanned!(span=> (#name, #token)));
    let output = implementation.output.as_deref().unwrap_or_default();
    let condition = quote_spanned! {span=>
        same_ports(<#ty as rt::Stage>::PORTS, &[#(#ports),*])
            && same_text(<<#ty as rt::Stage>::Out as rt::Token>::NAME, #output)
    };
    let text = message(&stale_catalogue::report(&plan.stages[stage], implementation), sources);
    holds(&name, &text, &quote_spanned!(span=> #ty), &condition)
}

/// The stage's type by way of a trait that it has only if it reads the source's job; [`super::wire`] uses that, so that
/// a stage with another job is one error.
fn job_of(plan: &Plan, names: &Names<'_>, sources: &Sources, stage: usize, source: usize) -> TokenStream {
    let (span, name, checked) = (names.span, names.job_trait(stage), names.checked(stage));
    let (ty, source_ty) = (names.stage(stage), names.stage(source));
    let text = message(&job_type::report(&plan.stages[stage], &plan.stages[source]), sources);
    quote_spanned! {span=>
        #[diagnostic::on_unimplemented(message = #text, label = "in this graph")]
        trait #name<Job> {
            type Stage;
        }
        #[diagnostic::do_not_recommend]
        impl<S: rt::Stage<Job = J>, J: rt::Job> #name<J> for S {
            type Stage = S;
        }
        type #checked = <#ty as #name<<#source_ty as rt::Stage>::Job>>::Stage;
    }
}

/// Both questions about an edge: whether its ends are of one type, and, if so, whether that may go from thread to thread.
fn types_of(plan: &Plan, names: &Names<'_>, sources: &Sources, number: usize) -> TokenStream {
    let span = names.span;
    let edge = &plan.edges[number];
    let (from, to, port) = (&plan.stages[edge.from].name, &plan.stages[edge.to].name, edge.port);
    let name = format_ident!("Edge{}To{}", type_name(from), type_name(to), span = span);
    let (from_ty, to_ty) = (names.stage(edge.from), names.stage(edge.to));
    let out = quote_spanned!(span=> <#from_ty as rt::Stage>::Out);
    let takes = quote_spanned!(span=> <#to_ty as rt::TakesAt<#port>>::Takes);
    let text = message(&edge_type::of_the_types(edge, from, to), sources);
    let condition = quote_spanned!(span=> !rt::Ends::<#out, #takes>::ALIKE || rt::Asked::<#out>::TRAVELS);
    let text_of_travels = message(&edge_type::stays_on_its_thread(edge, from, to), sources);
    let travels = holds(&format_ident!("{}Travels", name, span = span), &text_of_travels, &out, &condition);
    quote_spanned! {span=>
        const _: () = {
            #[diagnostic::on_unimplemented(message = #text, label = "in this graph")]
            trait #name<Takes: ?Sized> {
                const OK: () = ();
            }
            #[diagnostic::do_not_recommend]
            impl<T: ?Sized> #name<T> for T {}
            <#out as #name<#takes>>::OK
        };
        #travels
    }
}

/// Whether what the sink puts out may go to the thread that waits for it.
fn output_of(plan: &Plan, names: &Names<'_>, sources: &Sources, sink: usize) -> TokenStream {
    let (span, ty) = (names.span, names.stage(sink));
    let name = format_ident!("OutputOf{}", ty, span = span);
    let text = message(&edge_type::stays_in_the_graph(&plan.stages[sink]), sources);
    let out = quote_spanned!(span=> <#ty as rt::Stage>::Out);
    holds(&name, &text, &out, &quote_spanned!(span=> rt::Asked::<#out>::TRAVELS))
}

/// Equality of texts and of lists of ports in constants.
fn compare(names: &Names<'_>) -> TokenStream {
    let span = names.span;
    quote_spanned! {span=>
        const fn same_text(one: &str, other: &str) -> bool {
            let (one, other) = (one.as_bytes(), other.as_bytes());
            if one.len() != other.len() {
                return false;
            }
            let mut byte = 0;
            while byte < one.len() {
                if one[byte] != other[byte] {
                    return false;
                }
                byte += 1;
            }
            true
        }
        const fn same_ports(own: &[rt::Port], stated: &[(&str, &str)]) -> bool {
            if own.len() != stated.len() {
                return false;
            }
            let mut port = 0;
            while port < own.len() {
                if !same_text(own[port].name, stated[port].0) || !same_text(own[port].token, stated[port].1) {
                    return false;
                }
                port += 1;
            }
            true
        }
    }
}
