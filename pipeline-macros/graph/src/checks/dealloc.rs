//! PL0207: `dealloc` is missing, or has an edge.

use super::{Check, Example, examples};
use crate::diagnostic::{Diagnostic, Report};
use crate::resolve::Resolved;
use crate::source::Span;

/// The page.
pub const CHECK: Check = Check {
    code: "PL0207",
    name: "dealloc",
    rule: "The graph has the stage `dealloc`, and no edge names it.",
    why: "When the last reader of a token is done, its slot goes to `dealloc`, whatever stage made it; so it needs no edges, and \
          no graph can do without it.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 1, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all"),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }),
    ],
    edges: [Edge("synthesize", "spmv")],
)"#,
    ),
    good: examples::SMALL,
    fix: "Add `Stage(\"dealloc\", needs: { \"dealloc\": 1 })`, or remove the edge.",
    run: Some(run),
};

fn run(graph: &Resolved<'_>, report: &mut Report) {
    if graph.file.stages.whole
        && graph.stages.iter().all(|stage| !stage.branches.is_empty() && !stage.is_dealloc())
        && let Some(dealloc) = graph.catalogue.implementations.iter().find(|one| one.is_dealloc())
    {
        let name = &dealloc.stage.value;
        report.add(
            Diagnostic::error(CHECK.code, graph.file.span, format!("this graph has no stage `{name}`"))
                .note("dead slots would never go home")
                .help(format!("add `Stage(\"{name}\", needs: {{ \"dealloc\": 1 }})` to `stages`")),
        );
    }
}

/// An edge from or to `dealloc`.
pub fn has_an_edge(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(CHECK.code, span, format!("`{name}` takes the dead slots of all stages, and has no edges"))
        .help("remove this edge")
}

#[cfg(test)]
mod tests {
    use crate::checks::examples;
    use crate::checks::testing::{titles, with};

    #[test]
    fn edges_from_and_to_it_are_refused() {
        let of = |new| titles(&with(examples::SMALL, "edges: [", &format!("edges: [{new}, ")));
        assert_eq!(
            of("Edge(\"spmv\", \"dealloc\")"),
            ["`dealloc` takes the dead slots of all stages, and has no edges"]
        );
        assert_eq!(
            of("Edge(\"dealloc\", \"spmv\")")[0],
            "`dealloc` takes the dead slots of all stages, and has no edges"
        );
    }
}
