//! PL0201: an edge whose two ends disagree.

use super::{Check, Example, examples};
use crate::diagnostic::Diagnostic;
use crate::model::{self, Port};
use crate::plan::Edge;

/// The page.
pub const CHECK: Check = Check {
    code: "PL0201",
    name: "edge-type",
    rule: "What the stage before an edge puts out is what a port of the stage behind it takes.",
    why: "The catalogue says what each stage takes and puts out; rustc checks the same again with the Rust types. Tokens go from \
          thread to thread: a type that is not `Send` and `Sync` cannot be declared a token at all.",
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
        Edge("synthesize", "gpu_ntt_msm"),
        Edge("spmv", "gpu_ntt_msm"),
        Edge("prep_msm", "gpu_ntt_msm"),
    ],
)"#,
    ),
    good: examples::FORK_AND_JOIN,
    fix: "Lead the edge to a stage that takes the token, or remove it.",
    run: None,
};

/// An edge into none of `ports`: `output` is not what they take.
pub fn report(edge: &model::Edge, output: &str, ports: &[Port]) -> Diagnostic {
    let (from, to) = (&edge.from.value, &edge.to.value);
    let takes = match ports {
        [] => format!("`{to}` has no input ports"),
        [one] => format!("`{to}` takes `{}`", one.token),
        several => {
            let tokens: Vec<String> = several.iter().map(|port| format!("`{}`", port.token)).collect();
            format!("`{to}` takes {}", tokens.join(" and "))
        }
    };
    Diagnostic::error(
        CHECK.code,
        edge.to.span,
        format!("edge `{from}` -> `{to}`: `{from}` puts out `{output}`, but {takes}"),
    )
    .and(edge.from.span, format!("puts out `{output}`"))
}

/// An edge that would fit the other way round.
pub fn turned(edge: &model::Edge, output: &str, ports: &[Port]) -> Diagnostic {
    let found = report(edge, output, ports);
    found.help(format!("turn it round: `Edge(\"{}\", \"{}\")`", edge.to.value, edge.from.value))
}

/// What rustc says if the Rust types of an edge differ, with the types in place of `{Self}` and `{Takes}`.
#[must_use]
pub fn of_the_types(edge: &Edge, from: &str, to: &str) -> Diagnostic {
    let title = format!("edge `{from}` -> `{to}`: `{from}` puts out `{{Self}}`, but `{to}` takes `{{Takes}}`");
    let [from_at, to_at] = edge.ends_at;
    Diagnostic::error(CHECK.code, to_at, title).and(from_at, "puts out another type")
}

#[cfg(test)]
mod tests {
    use crate::checks::examples;
    use crate::checks::testing::{titles, with};

    #[test]
    fn both_stages_and_tokens_are_named() {
        let of = |old, new| titles(&with(examples::FORK_AND_JOIN, old, new));
        assert_eq!(
            of("Edge(\"spmv\", \"gpu_ntt_msm\")", "Edge(\"spmv\", \"gpu_ntt_msm.classified\")"),
            ["edge `spmv` -> `gpu_ntt_msm`: `spmv` puts out `Evaluated`, but `gpu_ntt_msm` takes `Classified`"]
        );
        assert_eq!(
            of("Edge(\"synthesize\", \"prep_msm\")", "Edge(\"spmv\", \"synthesize\")")[0],
            "port `witness` of stage `prep_msm` is not connected"
        );
    }
}
