//! What the graph asks of its policy, held against what the policy's Rust code declares.

use proc_macro2::TokenStream;
use quote::{format_ident, quote_spanned};

use super::{holds, message};
use crate::checks::policy as check;
use crate::diagnostic::Diagnostic;
use crate::emit::names::Names;
use crate::model::{TagSet, Unit};
use crate::plan::Plan;
use crate::source::Sources;
use crate::words::{TAGS, type_name};

/// An assertion for each thing that the graph asks.
pub fn asserts(plan: &Plan, names: &Names<'_>, sources: &Sources) -> TokenStream {
    let (span, graph) = (names.span, &names.graph);
    let word = check::word(&plan.policy);
    let mut asserts = TokenStream::new();
    let mut assert = |what: &str, fault: &Diagnostic, condition: &TokenStream| {
        let name = format_ident!("Policy{what}", span = span);
        asserts.extend(holds(&name, &message(fault, sources), &quote_spanned!(span=> #graph), condition));
    };
    let is_there = quote_spanned!(span=> rt::policy_facts(#word).is_some());
    assert("IsThere", &check::not_in_the_runtime(plan), &is_there);
    // Of a policy that is not there, nothing else is said.
    let mut declares = |what: &str, fault: &Diagnostic, of_facts: TokenStream| {
        let condition = quote_spanned! {span=>
            match rt::policy_facts(#word) {
                ::core::option::Option::Some(facts) => #of_facts,
                ::core::option::Option::None => true,
            }
        };
        assert(what, fault, &condition);
    };
    for stage in &plan.stages {
        let counted = stage.needs.iter().filter(|(pool, _)| plan.pools[*pool].unit == Unit::Count);
        let pools: Vec<&str> = counted.map(|(pool, _)| plan.pools[*pool].name.as_str()).collect();
        if pools.len() > 1 {
            let what = format!("OrdersByAgeFor{}", type_name(&stage.name));
            declares(
                &what,
                &check::of_the_runtime_starves(plan, stage, &pools),
                quote_spanned!(span=> facts.age_order),
            );
        }
    }
    if plan.priorities {
        let fault = check::of_the_runtime_lacks(plan, "priorities of jobs");
        declares("KnowsPriorities", &fault, quote_spanned!(span=> facts.priorities));
    }
    if let Some(pool) = plan.pools.iter().find(|pool| pool.unit == Unit::Bytes) {
        let fault = check::of_the_runtime_lacks(plan, &format!("pools of bytes, such as `{}`", pool.name));
        declares("KnowsBytes", &fault, quote_spanned!(span=> facts.bytes));
    }
    for tag in TAGS {
        let has = |tags: TagSet| tags.has(tag.word);
        let stage = plan.stages.iter().find(|stage| stage.branches.iter().any(|branch| has(branch.tags)));
        let Some(stage) = stage else { continue };
        let what = format!("stages tagged `{}`, such as `{}`", tag.word, stage.name);
        let constant = format_ident!("{}", tag.constant, span = span);
        let condition = quote_spanned!(span=> facts.tags.contains(rt::Tags::#constant));
        declares(&format!("Knows{}", type_name(tag.word)), &check::of_the_runtime_lacks(plan, &what), condition);
    }
    asserts
}
