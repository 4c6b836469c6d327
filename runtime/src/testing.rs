//! Small plans for this crate's tests.

use crate::plan::{Bytes, Dealloc, Edge, GiveBack, Plan, Pool, Role, StagePlan, Unit};
use crate::stage::Sizes;

/// A plan without stages: `ram` (bytes) is pool 0, `heavy` (permits) pool 1.
pub(crate) fn empty_plan(ram: u64, heavy: u64) -> Plan {
    Plan {
        graph: "test".into(),
        file: "test.ron".into(),
        digest: String::new(),
        sku: None,
        pools: vec![
            Pool { name: "ram".into(), size: ram, unit: Unit::Bytes },
            Pool { name: "heavy".into(), size: heavy, unit: Unit::Count },
        ],
        groups: Vec::new(),
        stages: Vec::new(),
        edges: Vec::new(),
        policy: "oldest_first".into(),
        dealloc: Dealloc::default(),
        give_back: GiveBack::default(),
        memory: Vec::new(),
    }
}

/// A stage that needs `heavy` permits and holds one byte of `ram` per aux variable if `holds`.
pub(crate) fn stage(name: &str, role: Role, workers: u32, heavy: u64, holds: bool) -> StagePlan {
    let bytes = Bytes { fixed: 0, per: Sizes { aux: 1, ..Sizes::default() } };
    StagePlan {
        workers,
        needs: if heavy > 0 { vec![(1, heavy)] } else { Vec::new() },
        holds: if holds { vec![(0, bytes)] } else { Vec::new() },
        ..StagePlan::plain(name, role)
    }
}

/// Adds an edge, whose places `reserved_by` reserves.
pub(crate) fn connect(plan: &mut Plan, from: usize, to: usize, capacity: u32, reserved_by: usize, token: &str) {
    let (edge, port) = (plan.edges.len(), plan.stages[to].inputs.len());
    plan.edges.push(Edge { from, to, port, token: token.into(), capacity, reserved_by });
    plan.stages[from].outputs.push(edge);
    plan.stages[to].inputs.push(edge);
}

/// source → {left, right} → sink, and `dealloc`: the smallest graph with a fork and a join.
pub(crate) fn diamond(capacity: u32, workers: u32, heavy: u64) -> Plan {
    let mut plan = empty_plan(1 << 20, heavy);
    plan.stages = vec![
        stage("source", Role::Source, workers, 0, true),
        stage("left", Role::Inner, workers, 1, true),
        stage("right", Role::Inner, workers, 1, false),
        stage("sink", Role::Sink, workers, 0, false),
        stage("dealloc", Role::Dealloc, 1, 0, false),
    ];
    connect(&mut plan, 0, 1, capacity, 0, "Word");
    connect(&mut plan, 0, 2, capacity, 0, "Word");
    connect(&mut plan, 1, 3, capacity, 0, "Word");
    connect(&mut plan, 2, 3, capacity, 0, "Word");
    plan
}

/// A chain of stages, each with `workers` workers and, but for the source, one `heavy` permit, over edges of `capacity`
/// places; the first edge has room for tokens to overtake one another.
pub(crate) fn chain(stages: usize, capacity: u32, workers: u32, heavy: u64) -> Plan {
    let mut plan = empty_plan(1 << 20, heavy);
    let role = |position| match position {
        0 => Role::Source,
        _ if position + 1 == stages => Role::Sink,
        _ => Role::Inner,
    };
    plan.stages = (0..stages).map(|at| stage(&format!("s{at}"), role(at), workers, u64::from(at > 0), true)).collect();
    plan.stages.push(stage("dealloc", Role::Dealloc, 1, 0, false));
    let places = |to| if to == 1 { 2 * workers } else { capacity };
    (1..stages).for_each(|to| connect(&mut plan, to - 1, to, places(to), to - 1, "Word"));
    plan
}
