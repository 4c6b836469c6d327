//! PL0104: a pinned stage without a group.

use super::{Check, Example, examples};
use crate::diagnostic::{Diagnostic, Report};
use crate::resolve::Resolved;

/// The page.
pub const CHECK: Check = Check {
    code: "PL0104",
    name: "pinned-without-group",
    rule: "A stage whose implementation is tagged `ccd_pinned` is `on` a group.",
    why: "Such a stage computes in the pool of threads of its placement; without a group there is none.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 1, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize"),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv")],
)"#,
    ),
    good: examples::SMALL,
    fix: "Add `on: \"GROUP\"`; a group over all CCDs is `\"all\": Ccds(\"*\", share: Pack)`.",
    run: Some(run),
};

fn run(graph: &Resolved<'_>, report: &mut Report) {
    for stage in graph.stages.iter().filter(|stage| stage.known && stage.stated.on.is_none()) {
        let Some(branch) = stage.branches.iter().find(|branch| branch.tags.has("ccd_pinned")) else {
            continue;
        };
        let title =
            format!("stage `{}` on `{}` is pinned to CCDs, and has no group", stage.name(), branch.backend.value);
        let found = Diagnostic::error(CHECK.code, stage.stated.name.span, title);
        report.add(match graph.file.groups.items.first() {
            Some(group) => found.help(format!("add `on: \"{}\"`", group.name.value)),
            None => found
                .help("add a group, `groups: { \"all\": Ccds(\"*\", share: Pack) }`, and `on: \"all\"` to the stage"),
        });
    }
}
