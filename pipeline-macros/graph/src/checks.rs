//! What makes a graph illegal: one file per check, with its rule, its page, its message and its tests.
//!
//! A check either has a `run` over the resolved graph, or (syntax, names, values) is called by the step that finds its
//! fault. In both cases the file here owns the wording. To add one: write the file, add it to [`ALL`], add a
//! `graphs/fail/*.ron`; the tests of this module then hold its page to what it says.

pub mod acquire_order;
pub mod ambiguous_port;
pub mod bytes;
pub mod contradiction;
pub mod cores;
pub mod cycle;
pub mod dead_part;
pub mod dealloc;
pub mod dealloc_unbounded;
pub mod driven_twice;
pub mod duplicate;
pub mod edge_type;
pub mod ends;
pub mod examples;
pub mod for_study;
pub mod gpu_without_device;
pub mod hold_and_wait;
pub mod job_type;
pub mod mem_heavy_without_pool;
pub mod memory;
pub mod missing_field;
pub mod pile_up;
pub mod pinned_without_group;
pub mod placement;
pub mod policy;
pub mod prefer_branches;
pub mod rates;
pub mod stage_attribute;
pub mod stale_catalogue;
pub mod syntax;
pub mod tags_differ;
#[cfg(test)]
pub mod testing;
pub mod unconnected;
pub mod unit_mismatch;
pub mod unknown_field;
pub mod unknown_name;
pub mod unreadable;
pub mod values;
pub mod version;
pub mod weight_above_pool;

use crate::diagnostic::Report;
use crate::model;
use crate::plan::Plan;
use crate::resolve::Resolved;
use crate::source::Span;

/// A check and its page.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// The code that errors show.
    pub code: &'static str,
    /// The name of its fault file and of its page.
    pub name: &'static str,
    /// What must hold, in a sentence.
    pub rule: &'static str,
    /// Why, and what else there is to know.
    pub why: &'static str,
    /// Something that breaks the rule.
    pub bad: Example,
    /// Something that keeps it.
    pub good: Example,
    /// How to get from the one to the other.
    pub fix: &'static str,
    /// Finds the fault in a graph whose names are resolved.
    pub run: Option<fn(&Resolved<'_>, &mut Report)>,
}

/// An example of a page.
#[derive(Clone, Copy, Debug)]
pub enum Example {
    /// A graph file, read with the catalogue and the SKUs of [`examples`].
    Graph(&'static str),
    /// A SKU file.
    Sku(&'static str),
    /// A stage function.
    Rust(&'static str),
}

impl Example {
    /// The text.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Example::Graph(text) | Example::Sku(text) | Example::Rust(text) => text,
        }
    }
}

/// Every check, by code.
pub const ALL: &[Check] = &[
    syntax::CHECK,
    unknown_field::CHECK,
    missing_field::CHECK,
    values::CHECK,
    version::CHECK,
    unreadable::CHECK,
    unknown_name::CHECK,
    duplicate::CHECK,
    bytes::CHECK,
    contradiction::CHECK,
    mem_heavy_without_pool::CHECK,
    tags_differ::CHECK,
    gpu_without_device::CHECK,
    pinned_without_group::CHECK,
    dealloc_unbounded::CHECK,
    unit_mismatch::CHECK,
    weight_above_pool::CHECK,
    edge_type::CHECK,
    unconnected::CHECK,
    driven_twice::CHECK,
    cycle::CHECK,
    ambiguous_port::CHECK,
    ends::CHECK,
    dealloc::CHECK,
    prefer_branches::CHECK,
    job_type::CHECK,
    stale_catalogue::CHECK,
    dead_part::DEAD,
    dead_part::REDUNDANT,
    for_study::CHECK,
    memory::MACHINE,
    memory::POOL,
    rates::BALANCE,
    rates::STALL,
    hold_and_wait::CHECK,
    pile_up::CHECK,
    acquire_order::CHECK,
    policy::STARVATION,
    placement::OVERLAP,
    placement::BEYOND,
    cores::CHECK,
    placement::PACKED,
    placement::UNEVEN,
    policy::UNDERSTOOD,
    stage_attribute::WORDS,
    stage_attribute::BACKEND,
    stage_attribute::TAG,
    stage_attribute::UNPAID,
    stage_attribute::UNDECLARED,
    stage_attribute::SIGNATURE,
    stage_attribute::OUTPUT,
    stage_attribute::TAG_SET,
];

/// Runs every check that looks at the resolved graph.
pub fn run(graph: &Resolved<'_>, report: &mut Report) {
    for check in ALL.iter().filter_map(|check| check.run) {
        check(graph, report);
    }
}

/// A graph whose shape is right, with what would become of it.
#[derive(Clone, Copy, Debug)]
pub struct Planned<'a> {
    /// The graph.
    pub graph: &'a Resolved<'a>,
    /// Its plan.
    pub plan: &'a Plan,
}

impl<'a> Planned<'a> {
    /// What the file says of a stage of the plan.
    #[must_use]
    pub fn stated(&self, stage: usize) -> &'a model::Stage {
        self.graph.stages[self.plan.stages[stage].origin].stated
    }

    /// What the file says of an edge of the plan.
    #[must_use]
    pub fn stated_edge(&self, edge: usize) -> &'a model::Edge {
        self.graph.edges[self.plan.edges[edge].origin].stated
    }

    /// Where the size of a pool is written.
    #[must_use]
    pub fn pool_span(&self, pool: usize) -> Span {
        let pool = &self.graph.file.pools.items[pool];
        pool.size.map_or(pool.name.span, |size| size.span)
    }

    /// Where the file begins.
    #[must_use]
    pub fn file_span(&self) -> Span {
        self.graph.file.span
    }
}

/// Runs every check that looks at the plan: what they ask needs a graph whose shape is right.
pub fn judge(graph: &Planned<'_>, report: &mut Report) {
    memory::judge(graph, report);
    rates::judge(graph, report);
    let piling = pile_up::judge(graph, report);
    hold_and_wait::judge(graph, &piling, report);
}

/// Runs every check that only warns, on a graph without errors: what is idle in a wrong graph may be used in the right one.
pub fn lint(graph: &Resolved<'_>, report: &mut Report) {
    memory::beyond(graph, report);
    dead_part::dead(graph, report);
    dead_part::redundant(graph, report);
    cores::together(graph, report);
    placement::packed(graph, report);
    placement::uneven(graph, report);
}

/// The check with a code; letters of either case.
#[must_use]
pub fn find(code: &str) -> Option<&'static Check> {
    ALL.iter().find(|check| check.code.eq_ignore_ascii_case(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_ascend_and_are_unique() {
        for pair in ALL.windows(2) {
            assert!(pair[0].code < pair[1].code, "{} stands before {}", pair[0].code, pair[1].code);
        }
    }

    #[test]
    fn bad_examples_have_their_fault_and_no_other() {
        for check in ALL {
            let codes = match check.bad {
                Example::Graph(text) => Some(testing::codes_of_a_build(text)),
                Example::Sku(text) => Some(testing::diagnostics_of_sku(text).iter().map(|found| found.code).collect()),
                Example::Rust(_) => None,
            };
            if let Some(codes) = codes {
                assert!(!codes.is_empty(), "{} lets its bad example pass", check.code);
                assert!(codes.iter().all(|code| *code == check.code), "{}: {codes:?}", check.code);
            }
        }
    }

    #[test]
    fn good_examples_are_good() {
        for check in ALL {
            if let Example::Graph(text) = check.good {
                assert_eq!(testing::codes(text), [""; 0], "{}", check.code);
            }
            if let Example::Sku(text) = check.good {
                assert_eq!(testing::diagnostics_of_sku(text), [], "{}", check.code);
            }
        }
    }
}
