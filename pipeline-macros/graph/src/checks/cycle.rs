//! PL0204: stages that wait for each other in a circle.

use super::{Check, Example, examples};
use std::collections::VecDeque;

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::diagnostic::{Diagnostic, Report};
use crate::resolve::{Edge, Resolved};

/// The page.
pub const CHECK: Check = Check {
    code: "PL0204",
    name: "cycle",
    rule: "No stage waits, over any number of edges, for its own output.",
    why: "A stage fires when a token of one key has come to all its ports. In a circle each stage waits for the one before it, \
          so none of them ever fires.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 1, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all"),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }),
        Stage("compare"),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [
        Edge("synthesize", "spmv"),
        Edge("spmv", "compare.left"),
        Edge("compare", "compare.right"),
    ],
)"#,
    ),
    good: examples::TWO_PORTS,
    fix: "Break the circle: remove one of the edges that the error marks.",
    run: Some(run),
};

fn run(graph: &Resolved<'_>, report: &mut Report) {
    let mut stages = DiGraph::<(), ()>::new();
    let nodes: Vec<NodeIndex> = graph.stages.iter().map(|_| stages.add_node(())).collect();
    for edge in &graph.edges {
        stages.add_edge(nodes[edge.from], nodes[edge.to], ());
    }
    let mut knots = tarjan_scc(&stages);
    knots.iter_mut().for_each(|knot| knot.sort());
    knots.sort();
    for knot in knots {
        let inside: Vec<&Edge<'_>> = graph
            .edges
            .iter()
            .filter(|edge| knot.binary_search(&nodes[edge.from]).is_ok() && knot.binary_search(&nodes[edge.to]).is_ok())
            .collect();
        if let Some(circle) = shortest_circle(knot[0].index(), &inside) {
            report.add(describe(graph, &circle));
        }
    }
}

/// The shortest way from a stage back to itself over these edges: a search in breadth.
fn shortest_circle<'e, 'a>(start: usize, edges: &[&'e Edge<'a>]) -> Option<Vec<&'e Edge<'a>>> {
    let mut reached: std::collections::HashMap<usize, &Edge<'_>> = std::collections::HashMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(stage) = queue.pop_front() {
        for edge in edges.iter().copied().filter(|edge| edge.from == stage) {
            if edge.to == start {
                let mut circle = vec![edge];
                while circle[circle.len() - 1].from != start {
                    circle.push(reached.get(&circle[circle.len() - 1].from)?);
                }
                circle.reverse();
                return Some(circle);
            }
            if let std::collections::hash_map::Entry::Vacant(vacant) = reached.entry(edge.to) {
                vacant.insert(edge);
                queue.push_back(edge.to);
            }
        }
    }
    None
}

fn describe(graph: &Resolved<'_>, circle: &[&Edge<'_>]) -> Diagnostic {
    let mut path: Vec<String> = circle.iter().map(|edge| format!("`{}`", graph.stages[edge.from].name())).collect();
    path.extend(path.first().cloned());
    let mut found = Diagnostic::error(
        CHECK.code,
        circle[0].stated.to.span,
        format!("stages wait in a circle: {}", path.join(" -> ")),
    );
    for edge in circle.iter().skip(1) {
        found = found.and(edge.stated.to.span, "");
    }
    for (label, edge) in found.labels.iter_mut().zip(circle) {
        label.text = format!("`{}` waits for `{}`", graph.stages[edge.to].name(), graph.stages[edge.from].name());
    }
    found.help("remove one of these edges")
}

#[cfg(test)]
mod tests {
    use crate::checks::testing::titles;

    #[test]
    fn the_path_is_told() {
        assert_eq!(titles(super::CHECK.bad.text()), ["stages wait in a circle: `compare` -> `compare`"]);
        let two = super::CHECK.bad.text().replace("Stage(\"compare\"),", "Stage(\"compare\"), Stage(\"spin\"),");
        let two = two.replace(
            "Edge(\"compare\", \"compare.right\")",
            "Edge(\"compare\", \"spin\"), Edge(\"spin\", \"compare.right\")",
        );
        let catalogue = crate::checks::examples::CATALOGUE.replace(
            "Implementation(stage: \"assemble\"",
            "Implementation(stage: \"spin\", backend: \"host\", tags: [], inputs: [(\"x\", \"Evaluated\")], output: \"Evaluated\"),
             Implementation(stage: \"assemble\"",
        );
        let outcome = crate::load::load(
            crate::source::Source::inline("graph.ron", two),
            crate::source::Source::inline("catalogue.ron", catalogue),
            crate::load::SkuFiles::Known(&[]),
        );
        let titles: Vec<&str> = outcome.diagnostics.iter().map(|found| found.title.as_str()).collect();
        assert_eq!(titles, ["stages wait in a circle: `compare` -> `spin` -> `compare`"]);
    }
}
