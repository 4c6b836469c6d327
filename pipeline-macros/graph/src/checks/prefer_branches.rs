//! PL0208: branches of a `Prefer` that cannot stand in for each other.

use super::{Check, Example};
use crate::diagnostic::{Diagnostic, Report};
use crate::model::Implementation;
use crate::resolve::Resolved;

/// The page.
pub const CHECK: Check = Check {
    code: "PL0208",
    name: "prefer-branches",
    rule: "All branches of a `Prefer` have the same ports and the same output.",
    why: "Which branch runs is decided by the machine; the edges are the same for all.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: "small",
    pools: { "mem_heavy": 2, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all"),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }),
        Stage("prep_msm", on: "all", needs: { "mem_heavy": 1 }),
        Stage("gpu_ntt_msm", backend: Prefer("host", "cuda"), device: 0, on: "all", needs: { "mem_heavy": 2 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [
        Edge("synthesize", "spmv"),
        Edge("synthesize", "prep_msm"),
        Edge("spmv", "gpu_ntt_msm"),
        Edge("prep_msm", "gpu_ntt_msm"),
    ],
)"#,
    ),
    good: Example::Graph(
        r#"Graph(
    version: 1,
    sku: "small",
    pools: { "dealloc": 1, "mem_heavy": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all"),
        Stage("spmv", backend: Prefer("cuda", "host"), device: 0, on: "all", needs: { "mem_heavy": 1 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv")],
)"#,
    ),
    fix: "Choose one backend, or write an implementation with the same ports.",
    run: Some(run),
};

fn run(graph: &Resolved<'_>, report: &mut Report) {
    for stage in &graph.stages {
        let (Some(backend), Some((first, others))) = (&stage.stated.backend, stage.branches.split_first()) else {
            continue;
        };
        for (other, name) in others.iter().zip(&backend.names()[1..]) {
            if other.ports == first.ports && other.output == first.output {
                continue;
            }
            let title = format!(
                "stage `{}` on `{}` does not fit where it is on `{}`",
                stage.name(),
                name.value,
                first.backend.value
            );
            report.add(
                Diagnostic::error(CHECK.code, name.span, title)
                    .here(shape(other))
                    .and(backend.names()[0].span, shape(first))
                    .help("choose one of the two"),
            );
        }
    }
}

fn shape(one: &Implementation) -> String {
    let ports: Vec<&str> = one.ports.iter().map(|port| port.token.as_str()).collect();
    format!("({}) -> {}", ports.join(", "), one.output.as_deref().unwrap_or("nothing"))
}
