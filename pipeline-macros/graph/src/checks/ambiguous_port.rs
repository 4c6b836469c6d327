//! PL0205: an edge that fits two ports.

use super::{Check, Example, examples};
use crate::diagnostic::Diagnostic;
use crate::model::{self, Port};
use crate::words::listed;

/// The page.
pub const CHECK: Check = Check {
    code: "PL0205",
    name: "ambiguous-port",
    rule: "An edge to a stage with several ports for the same token names the port.",
    why: "`Edge(\"a\", \"b\")` finds the port of `b` by what `a` puts out; where two ports take that, it cannot.",
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
    edges: [Edge("synthesize", "spmv"), Edge("spmv", "compare"), Edge("spmv", "compare.right")],
)"#,
    ),
    good: examples::TWO_PORTS,
    fix: "Write `\"stage.port\"`.",
    run: None,
};

/// An edge that fits each of `ports`.
pub fn report(edge: &model::Edge, output: &str, ports: &[&Port]) -> Diagnostic {
    let to = &edge.to.value;
    let names = listed(ports.iter().map(|port| port.name.as_str()));
    let example = ports.first().map(|port| format!("write `\"{to}.{}\"`", port.name)).unwrap_or_default();
    let title = format!("stage `{to}` takes `{output}` at the ports {names}");
    Diagnostic::error(CHECK.code, edge.to.span, title).here("which one?").help(example)
}
