//! A plan as a picture, in the language of Graphviz.

use std::fmt::Write;

use crate::plan::{Plan, Role, StagePlan};

/// The stages by group, with workers and permits, and the edges with token and capacity. Where another stage than the
/// edge's own reserves the places, the edge says so.
#[must_use]
pub fn dot(plan: &Plan) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "digraph {} {{", quoted(&plan.graph));
    text.push_str("    rankdir = LR;\n    node [shape = box, style = rounded];\n");
    for (number, group) in plan.groups.iter().enumerate() {
        let _ = writeln!(text, "    subgraph cluster_{number} {{");
        let _ = writeln!(text, "        label = {};", quoted(&format!("{} ({:?})", group.name, group.share)));
        for (position, stage) in plan.stages.iter().enumerate().filter(|(_, stage)| stage.group == Some(number)) {
            let _ = writeln!(text, "        {position} [label = {}];", quoted(&describe(plan, stage)));
        }
        text.push_str("    }\n");
    }
    for (position, stage) in plan.stages.iter().enumerate().filter(|(_, stage)| stage.group.is_none()) {
        let shape = if stage.role == Role::Dealloc { ", shape = ellipse" } else { "" };
        let _ = writeln!(text, "    {position} [label = {}{shape}];", quoted(&describe(plan, stage)));
    }
    for edge in &plan.edges {
        let mut label = format!("{} × {}", edge.token, edge.capacity);
        if edge.reserved_by != edge.from {
            let _ = write!(label, "\nreserved by {}", plan.stages[edge.reserved_by].name);
        }
        let _ = writeln!(text, "    {} -> {} [label = {}];", edge.from, edge.to, quoted(&label));
    }
    text.push_str("}\n");
    text
}

fn describe(plan: &Plan, stage: &StagePlan) -> String {
    let mut text = format!("{}\n{} × {}", stage.name, stage.workers, stage.backend);
    if let Some(device) = stage.device {
        let _ = write!(text, " {device}");
    }
    for (pool, weight) in &stage.needs {
        let _ = write!(text, "\n{weight} {}", plan.pools[*pool].name);
    }
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use crate::checks::{examples, testing};

    #[test]
    fn stages_edges_and_reservations_are_drawn() {
        let plan = testing::outcome(examples::FORK_AND_JOIN.text()).plan.expect("the example is good");
        let text = super::dot(&plan);
        assert!(text.contains("1 [label = \"spmv\\n1 × host\\n1 mem_heavy\"];"), "{text}");
        assert!(text.contains("1 -> 3 [label = \"Evaluated × 2\\nreserved by synthesize\"];"), "{text}");
        assert_eq!(text.matches(" -> ").count(), 4);
    }
}
