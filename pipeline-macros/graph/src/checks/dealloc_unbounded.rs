//! PL0105: `dealloc` without a bound.

use super::{Check, Example, examples};
use crate::diagnostic::{Diagnostic, Report};
use crate::model::Unit;
use crate::resolve::Resolved;

/// The page.
pub const CHECK: Check = Check {
    code: "PL0105",
    name: "dealloc-unbounded",
    rule: "`dealloc` needs permits of a counted pool.",
    why: "To give memory back, the kernel stops all threads of the process to flush their address translations. Several \
          firings at once multiply those stops and slow down every stage; one permit is the usual number.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 1, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all"),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }),
        Stage("dealloc"),
    ],
    edges: [Edge("synthesize", "spmv")],
)"#,
    ),
    good: examples::SMALL,
    fix: "Give the stage `needs: { \"dealloc\": 1 }`, and the graph a pool of that name.",
    run: Some(run),
};

fn run(graph: &Resolved<'_>, report: &mut Report) {
    for stage in graph.stages.iter().filter(|stage| stage.is_dealloc() && stage.known) {
        if stage.needs.iter().any(|(pool, _)| graph.file.pools.items[*pool].unit == Unit::Count) {
            continue;
        }
        let title = format!("stage `{}` gives memory back to the kernel, and no pool bounds it", stage.name());
        let found = Diagnostic::error(CHECK.code, stage.stated.name.span, title);
        let pool = graph.file.pools.items.iter().find(|pool| pool.name.value == "dealloc");
        report.add(match pool {
            Some(pool) => found.and(pool.name.span, "its pool").help("add `needs: { \"dealloc\": 1 }` to the stage"),
            None => found.help("add `\"dealloc\": 1` to `pools`, and `needs: { \"dealloc\": 1 }` to the stage"),
        });
    }
}
