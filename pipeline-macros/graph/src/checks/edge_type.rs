//! PL0201: an edge whose two ends disagree, or whose token may not leave its thread.

use super::{Check, Example, examples};
use crate::diagnostic::Diagnostic;
use crate::model::{self, Port};
use crate::plan::{Edge, StagePlan};

/// The page.
pub const CHECK: Check = Check {
    code: "PL0201",
    name: "edge-type",
    rule: "What the stage before an edge puts out is what a port of the stage behind it takes, and may go from thread to \
           thread.",
    why: "The catalogue says what each stage takes and puts out; rustc checks the same again with the Rust types. Each \
          worker is a thread, and several stages read one token: its type is `Send` and `Sync`, which only rustc can see.",
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
    fix: "Lead the edge to a stage that takes the token, or remove it; in a token that may not leave its thread, put an \
          `Arc` in the place of an `Rc`, an atomic number or a mutex in the place of a `Cell`.",
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

const TRAVELS: &str = "an `Arc` travels where an `Rc` does not, an atomic number or a mutex where a `Cell` does not";

/// What rustc says if the token of an edge is not `Send` and `Sync`, with the type in place of `{Self}`.
#[must_use]
pub fn stays_on_its_thread(edge: &Edge, from: &str, to: &str) -> Diagnostic {
    let title = format!(
        "edge `{from}` -> `{to}`: `{{Self}}`, which `{from}` puts out, may not go to the threads of `{to}`: it is not `Send` \
         and `Sync`"
    );
    let [from_at, to_at] = edge.ends_at;
    Diagnostic::error(CHECK.code, to_at, title).and(from_at, "puts it out").help(TRAVELS)
}

/// What rustc says if the output of the sink is not `Send` and `Sync`, with the type in place of `{Self}`.
#[must_use]
pub fn stays_in_the_graph(sink: &StagePlan) -> Diagnostic {
    let name = &sink.name;
    let title = format!(
        "`{{Self}}`, which `{name}` puts out, may not go to the thread that waits for the job: it is not `Send` and `Sync`"
    );
    Diagnostic::error(CHECK.code, sink.name_at, title).help(TRAVELS)
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
