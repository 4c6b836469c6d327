//! PL0106: permits of a pool of bytes, or bytes of a pool of permits.

use super::{Check, Example};
use crate::diagnostic::{Diagnostic, Report};
use crate::model::Unit;
use crate::resolve::{Resolved, Stage};
use crate::source::{At, Span};

/// The page.
pub const CHECK: Check = Check {
    code: "PL0106",
    name: "unit-mismatch",
    rule: "`needs` takes permits of counted pools, `holds` and `workspace` take bytes of pools of bytes.",
    why: "A pool is counted where its size is a number, and of bytes where its size is a string with a unit.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 1, "dealloc": 1, "ram": "8 GiB" },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all", needs: { "ram": 1 }),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv")],
)"#,
    ),
    good: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 1, "dealloc": 1, "ram": "8 GiB" },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all", holds: { "ram": "Witness" }),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv")],
)"#,
    ),
    fix: "Use `holds` or `workspace` for bytes and `needs` for permits.",
    run: Some(run),
};

fn run(graph: &Resolved<'_>, report: &mut Report) {
    let pools = &graph.file.pools.items;
    // A pool whose size could not be read is one fault, not one at every stage that names it.
    let of_unit = |pool: usize, unit| pools[pool].unit == unit && pools[pool].size.is_some();
    for (number, pool) in pools.iter().enumerate().filter(|(number, _)| of_unit(*number, Unit::Bytes)) {
        permits_of_bytes(graph, number, &pool.name, report);
    }
    for stage in &graph.stages {
        for (list, what) in [(&stage.holds, "holds"), (&stage.workspace, "workspace")] {
            for (pool, _, place) in list.iter().filter(|(pool, ..)| of_unit(*pool, Unit::Count)) {
                let (name, stage) = (&pools[*pool].name, stage.name());
                let title =
                    format!("`{what}` of stage `{stage}` takes bytes of `{}`, which counts permits", name.value);
                let found = mismatch(place.span, title, name.span, "its size is a number of permits");
                report.add(found.help(format!("write `needs: {{ \"{}\": 1 }}`, or name a pool of bytes", name.value)));
            }
        }
    }
}

/// All stages that take permits of one pool of bytes are one fault: mostly it is the pool that is wrong.
fn permits_of_bytes(graph: &Resolved<'_>, number: usize, name: &At<String>, report: &mut Report) {
    let weight =
        |stage: &Stage<'_>| stage.needs.iter().find(|(pool, _)| *pool == number).map(|(_, weight)| weight.span);
    let wrong: Vec<_> = graph.stages.iter().filter_map(|stage| Some((stage.name(), weight(stage)?))).collect();
    let Some(((stage, first), others)) = wrong.split_first() else {
        return;
    };
    let who = match others.len() {
        0 => format!("stage `{stage}` needs"),
        others => format!("{} stages need", others + 1),
    };
    let title = format!("{who} permits of `{}`, which is a pool of bytes", name.value);
    let found = mismatch(*first, title, name.span, "its size has a unit");
    let found = others.iter().fold(found, |found, (_, span)| found.and(*span, "and here"));
    let help = format!("write `holds: {{ \"{}\": \"…\" }}` for what the output token keeps", name.value);
    report.add(found.help(if others.is_empty() { help } else { format!("{help}; or give the pool a number") }));
}

fn mismatch(span: Span, title: String, pool: Span, label: &str) -> Diagnostic {
    Diagnostic::error(CHECK.code, span, title).and(pool, label)
}
