//! A plan to try things on.

use crate::plan::{Edge, Plan, Pool, Role, StagePlan, Unit};

/// A small plan for documentation and tests: source → {left, right} → sink, both branches with a permit of `heavy`.
#[must_use]
pub fn example_plan() -> Plan {
    let stage = |name: &str, role, workers, heavy: bool, inputs: &[usize], outputs: &[usize]| StagePlan {
        workers,
        needs: if heavy { vec![(0, 1)] } else { Vec::new() },
        inputs: inputs.to_vec(),
        outputs: outputs.to_vec(),
        ..StagePlan::plain(name, role)
    };
    let edge = |from, to, port| Edge { from, to, port, token: "Word".into(), capacity: 4, reserved_by: 0 };
    Plan {
        graph: "example".into(),
        file: "example.ron".into(),
        digest: String::new(),
        sku: None,
        pools: vec![Pool { name: "heavy".into(), size: 2, unit: Unit::Count }],
        groups: Vec::new(),
        stages: vec![
            stage("source", Role::Source, 2, false, &[], &[0, 1]),
            stage("left", Role::Inner, 2, true, &[0], &[2]),
            stage("right", Role::Inner, 2, true, &[1], &[3]),
            stage("sink", Role::Sink, 1, false, &[2, 3], &[]),
            stage("dealloc", Role::Dealloc, 1, false, &[], &[]),
        ],
        edges: vec![edge(0, 1, 0), edge(0, 2, 0), edge(1, 3, 0), edge(2, 3, 1)],
        policy: "oldest_first".into(),
        dealloc: crate::plan::Dealloc::default(),
        give_back: crate::plan::GiveBack::default(),
        memory: Vec::new(),
    }
}
