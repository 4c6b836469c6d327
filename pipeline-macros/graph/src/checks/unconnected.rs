//! PL0202: a port that no edge leads to.

use super::{Check, Example, examples};
use crate::diagnostic::{Diagnostic, Report};
use crate::model;
use crate::resolve::Resolved;

/// The page.
pub const CHECK: Check = Check {
    code: "PL0202",
    name: "unconnected-port",
    rule: "Every input port of every stage has an edge.",
    why: "A stage fires when a token of the same key has come to every port; without an edge it would never fire.",
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
    ],
)"#,
    ),
    good: examples::FORK_AND_JOIN,
    fix: "Add the edge that the error names.",
    run: Some(run),
};

fn run(graph: &Resolved<'_>, report: &mut Report) {
    for (position, stage) in graph.stages.iter().enumerate().filter(|(_, stage)| stage.inputs_known) {
        for (number, port) in stage.ports().iter().enumerate() {
            if graph.edges.iter().any(|edge| edge.to == position && edge.port == number) {
                continue;
            }
            if graph.adrift.iter().any(|edge| could_lead_to(graph, edge, port)) {
                continue;
            }
            let (name, token) = (stage.name(), &port.token);
            let title = format!("port `{}` of stage `{name}` is not connected", port.name);
            let found = Diagnostic::error(CHECK.code, stage.stated.name.span, title).here(format!("takes `{token}`"));
            let several = stage.ports().iter().filter(|other| other.token == *token).count() > 1;
            let to = if several { format!("{name}.{}", port.name) } else { name.to_owned() };
            let puts_out = |giver: &&crate::resolve::Stage<'_>| {
                giver.implementation().is_some_and(|giver| giver.output.as_ref() == Some(token))
            };
            report.add(match graph.stages.iter().find(puts_out) {
                Some(giver) => found.help(format!("add `Edge(\"{}\", \"{to}\")`", giver.name())),
                None => found.help(format!("no stage of this graph puts out `{token}`; add one, and an edge from it")),
            });
        }
    }
}

/// Whether an edge to a stage that there is not was perhaps meant to lead here: that is reported, and this is due to it.
fn could_lead_to(graph: &Resolved<'_>, edge: &model::Edge, port: &model::Port) -> bool {
    let from = graph.stages.iter().find(|stage| stage.name() == edge.from.value);
    let from = from.and_then(|stage| stage.implementation());
    from.is_none_or(|from| from.output.as_ref() == Some(&port.token))
}

#[cfg(test)]
mod tests {
    use crate::checks::examples;
    use crate::checks::testing::{diagnostics, with};

    #[test]
    fn an_edge_to_a_misspelt_stage_is_one_fault() {
        let text = with(examples::FORK_AND_JOIN, "Edge(\"prep_msm\", \"gpu_ntt_msm\")", "Edge(\"prep_msm\", \"gpü\")");
        let found = diagnostics(&text);
        assert_eq!(found.iter().map(|found| found.title.as_str()).collect::<Vec<_>>(), ["there is no stage `gpü`"]);
        // What it would not have led to is a fault of its own, and so is a stage that there could be.
        let found = diagnostics(&text.replacen("Edge(\"spmv\", \"gpu_ntt_msm\"),", "", 1));
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0].title, "port `evaluated` of stage `gpu_ntt_msm` is not connected");
        let found = diagnostics(&text.replacen("\"gpü\"", "\"assemble\"", 1));
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn one_fault_for_one_missing_edge() {
        let found = diagnostics(&with(examples::FORK_AND_JOIN, "Edge(\"prep_msm\", \"gpu_ntt_msm\"),", ""));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].title, "port `classified` of stage `gpu_ntt_msm` is not connected");
        assert_eq!(found[0].help, ["add `Edge(\"prep_msm\", \"gpu_ntt_msm\")`"]);
    }
}
