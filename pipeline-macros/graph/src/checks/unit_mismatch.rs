//! PL0106: permits of a pool of bytes, or bytes of a pool of permits.

use super::{Check, Example};
use crate::diagnostic::{Diagnostic, Report};
use crate::model::Unit;
use crate::resolve::Resolved;
use crate::source::Span;

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
    for stage in &graph.stages {
        for (pool, weight) in stage.needs.iter().filter(|(pool, _)| pools[*pool].unit == Unit::Bytes) {
            let (name, stage) = (&pools[*pool].name, stage.name());
            let title = format!("stage `{stage}` needs permits of `{}`, which is a pool of bytes", name.value);
            let found = mismatch(weight.span, title, name.span, "its size has a unit");
            report.add(
                found.help(format!("write `holds: {{ \"{}\": \"…\" }}` for what the output token keeps", name.value)),
            );
        }
        for (list, what) in [(&stage.holds, "holds"), (&stage.workspace, "workspace")] {
            for (pool, _, place) in list.iter().filter(|(pool, ..)| pools[*pool].unit == Unit::Count) {
                let (name, stage) = (&pools[*pool].name, stage.name());
                let title =
                    format!("`{what}` of stage `{stage}` takes bytes of `{}`, which counts permits", name.value);
                let found = mismatch(place.span, title, name.span, "its size is a number of permits");
                report.add(found.help(format!("write `needs: {{ \"{}\": 1 }}`, or name a pool of bytes", name.value)));
            }
        }
    }
}

fn mismatch(span: Span, title: String, pool: Span, label: &str) -> Diagnostic {
    Diagnostic::error(CHECK.code, span, title).and(pool, label)
}
