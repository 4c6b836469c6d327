//! PL0206: a graph without a beginning, or with several ends.

use super::{Check, Example, examples};
use crate::diagnostic::{Diagnostic, Report};
use crate::resolve::{Resolved, Stage};
use crate::words::listed;

/// The page.
pub const CHECK: Check = Check {
    code: "PL0206",
    name: "one-source-one-sink",
    rule: "One stage has no input ports, and the output of one stage goes nowhere.",
    why: "The stage without ports is the source: a job's partitions fire it. The stage whose output goes nowhere is the sink: \
          its output is the job's result. With two sources a join could wait for ever, because no stage reserves its places \
          for both.",
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
        Stage("b_g2_msm", on: "all", needs: { "mem_heavy": 1 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [
        Edge("synthesize", "spmv"),
        Edge("synthesize", "prep_msm"),
        Edge("spmv", "gpu_ntt_msm"),
        Edge("prep_msm", "gpu_ntt_msm"),
        Edge("prep_msm", "b_g2_msm"),
    ],
)"#,
    ),
    good: examples::FORK_AND_JOIN,
    fix: "Connect the stages that the error shows, or remove one.",
    run: Some(run),
};

fn run(graph: &Resolved<'_>, report: &mut Report) {
    if !graph.whole {
        return;
    }
    let stages = || graph.stages.iter().enumerate().filter(|(_, stage)| !stage.is_dealloc());
    let sources: Vec<&Stage<'_>> =
        stages().filter(|(_, stage)| stage.ports().is_empty()).map(|(_, stage)| stage).collect();
    match sources.as_slice() {
        [_] => {}
        [] => {
            let title = "this graph has no source: every stage waits for another";
            report.add(
                Diagnostic::error(CHECK.code, graph.file.span, title).help("add the stage that makes the first token"),
            );
        }
        several => report.add(
            all_of(several, "takes no token", "a graph has one source, this one has")
                .help("a job's partitions fire one stage; the others take tokens from it"),
        ),
    }
    // An unconnected port is the same fault seen from the other side.
    let unconnected = stages().any(|(position, stage)| {
        (0..stage.ports().len()).any(|port| !graph.edges.iter().any(|edge| edge.to == position && edge.port == port))
    });
    if unconnected {
        return;
    }
    let ends = stages().filter(|(position, _)| graph.leaving(*position).next().is_none());
    let ends: Vec<&Stage<'_>> = ends.map(|(_, stage)| stage).collect();
    if let ([only], [end]) = (sources.as_slice(), ends.as_slice())
        && only.name() == end.name()
    {
        let title = format!("stage `{}` is source and sink at once", only.name());
        report
            .add(Diagnostic::error(CHECK.code, only.stated.name.span, title).help("lead its output to another stage"));
    }
    if ends.len() > 1 {
        report.add(
            all_of(&ends, "its output goes nowhere", "a graph has one sink, this one has")
                .help("the output of one stage is the job's result; lead the others to a stage that takes them"),
        );
    }
}

fn all_of(stages: &[&Stage<'_>], label: &str, title: &str) -> Diagnostic {
    let title = format!("{title} {}: {}", stages.len(), listed(stages.iter().map(|stage| stage.name())));
    let mut found: Option<Diagnostic> = None;
    for stage in stages {
        let span = stage.stated.name.span;
        found = Some(match found {
            None => Diagnostic::error(CHECK.code, span, title.clone()).here(label),
            Some(found) => found.and(span, label),
        });
    }
    found.expect("there are several")
}
