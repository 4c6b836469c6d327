//! PL0203: a port that two edges lead to.

use super::{Check, Example, examples};
use std::collections::HashMap;

use crate::diagnostic::{Diagnostic, Report};
use crate::resolve::Resolved;

/// The page.
pub const CHECK: Check = Check {
    code: "PL0203",
    name: "driven-twice",
    rule: "Every input port has one edge.",
    why: "A port takes one token of each key; two edges would bring two.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 2, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all"),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }),
        Stage("prep_msm", on: "all", needs: { "mem_heavy": 1 }),
        Stage("gpu_ntt_msm", on: "all", needs: { "mem_heavy": 2 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [
        Edge("synthesize", "spmv"),
        Edge("synthesize", "prep_msm"),
        Edge("spmv", "gpu_ntt_msm"),
        Edge("prep_msm", "gpu_ntt_msm"),
        Edge("spmv", "gpu_ntt_msm.evaluated"),
    ],
)"#,
    ),
    good: examples::FORK_AND_JOIN,
    fix: "Remove one of the two edges, or lead it to another port: `\"stage.port\"`.",
    run: Some(run),
};

fn run(graph: &Resolved<'_>, report: &mut Report) {
    let mut driven = HashMap::new();
    for edge in &graph.edges {
        let Some(first) = driven.insert((edge.to, edge.port), edge.stated) else {
            continue;
        };
        let stage = &graph.stages[edge.to];
        let port = &stage.ports()[edge.port].name;
        report.add(
            Diagnostic::error(
                CHECK.code,
                edge.stated.to.span,
                format!("port `{port}` of stage `{}` has two edges", stage.name()),
            )
            .here(format!("from `{}`", edge.stated.from.value))
            .and(first.to.span, format!("from `{}`", first.from.value))
            .help("remove one of them, or name another port: `\"stage.port\"`"),
        );
    }
}
