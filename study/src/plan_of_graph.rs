//! A graph that was read at run time → the plan that the runtime runs: what `pipeline!` does when a program is built.

use pipeline_graph::model;
use pipeline_graph::plan as graph;
use pipeline_graph::plan::memory::{Memory, On, Row, Table, live_tokens, tables};
use pipeline_runtime::plan::{
    Bytes, Ccds, Dealloc, Edge, GiveBack, Gpu, Group, Insist, MemoryPlace, MemoryRow, MemoryTable, Plan, Pool, Role,
    Share, Sku, StagePlan, Unit,
};
use pipeline_runtime::stage::Sizes;
use pipeline_runtime::tags::Tags;

/// The plan of a checked graph.
///
/// The runtime's firings take the places of their output when they start. A stage that departs from that is planned as
/// the one that behaves alike: `send: Blocking` has a place more for each of its firings, in which the token waits
/// while the worker waits with it; `release: BeforeSend` has as many as there can be tokens.
#[must_use]
pub fn plan_of_graph(plan: &graph::Plan) -> Plan {
    let live = live_tokens(plan);
    // What a stage sends before it has a place for it nothing bounds; all others have the tokens that the table counts.
    let slots = |stage: &graph::StagePlan, live: u64| u32::try_from(live).ok().filter(|_| !stage.opt_outs.before_send);
    Plan {
        graph: plan.graph.clone(),
        file: plan.file.clone(),
        digest: plan.digest.clone(),
        sku: plan.sku.as_ref().map(sku_of),
        pools: plan.pools.iter().map(pool_of).collect(),
        groups: plan.groups.iter().map(group_of).collect(),
        stages: plan
            .stages
            .iter()
            .zip(live)
            .map(|(stage, live)| StagePlan { slots: slots(stage, live), ..stage_of(stage) })
            .collect(),
        edges: plan.edges.iter().map(|edge| edge_of(plan, edge)).collect(),
        policy: plan.policy.clone(),
        dealloc: match plan.dealloc {
            model::Dealloc::Recycle => Dealloc::Recycle,
            model::Dealloc::BoundedFree => Dealloc::BoundedFree,
            model::Dealloc::UnboundedFree => Dealloc::UnboundedFree,
        },
        give_back: match plan.give_back {
            model::GiveBack::Unmap => GiveBack::Unmap,
            model::GiveBack::DontNeed => GiveBack::DontNeed,
            model::GiveBack::Free => GiveBack::Free,
        },
        memory: tables(plan).iter().filter(|table| table.memory == Memory::Ram).map(table_of).collect(),
    }
}

fn table_of(table: &Table) -> MemoryTable {
    let place = |on: &On| match on {
        On::Everywhere => MemoryPlace::Everywhere,
        On::Node(node) => MemoryPlace::Node(*node),
        On::Groups(groups) => MemoryPlace::Groups(groups.clone()),
    };
    let row = |row: &Row| MemoryRow {
        what: row.what.clone(),
        count: row.count,
        each: row.each,
        bytes: row.bytes,
        on: place(&row.on),
    };
    MemoryTable { circuit: table.circuit.clone(), rows: table.rows.iter().map(row).collect() }
}

/// The sizes of a circuit.
#[must_use]
pub fn sizes_of(counts: &[u64; 6]) -> Sizes {
    let [constraints, aux, inputs, domain, a_density, b_density] = *counts;
    Sizes { constraints, aux, inputs, domain, a_density, b_density }
}

/// A machine.
#[must_use]
pub fn sku_of(sku: &model::Sku) -> Sku {
    let gpu = |gpu: &model::Gpu| Gpu {
        name: gpu.name.value.clone(),
        vram_bytes: gpu.vram.value,
        arch: gpu.arch.value.clone(),
    };
    Sku {
        name: sku.name.clone(),
        numa_nodes: sku.numa_nodes.value,
        ccds: sku.ccds.value,
        cores_per_ccd: sku.cores_per_ccd.value,
        threads_per_core: sku.threads_per_core.value,
        l3_bytes: sku.l3_per_ccd.value,
        ram_bytes: sku.ram.value,
        ram_bandwidth: sku.ram_bandwidth.value,
        gpus: sku.gpus.iter().map(gpu).collect(),
    }
}

fn pool_of(pool: &graph::Pool) -> Pool {
    let unit = match pool.unit {
        model::Unit::Count => Unit::Count,
        model::Unit::Bytes => Unit::Bytes,
    };
    Pool { name: pool.name.clone(), size: pool.size, unit }
}

fn group_of(group: &graph::Group) -> Group {
    let ccds = match &group.ccds {
        model::Ccds::All => Ccds::All,
        model::Ccds::List(list) => Ccds::List(list.clone()),
    };
    let share = match group.share {
        model::Share::Spread => Share::Spread,
        model::Share::Pack => Share::Pack,
    };
    let insist = match group.insist {
        model::Insist::Demand => Insist::Demand,
        model::Insist::Prefer => Insist::Prefer,
    };
    Group { name: group.name.clone(), ccds, share, exclusive: group.exclusive, insist, smt: group.smt }
}

fn bytes_of(linear: &model::Linear) -> Bytes {
    Bytes { fixed: linear.fixed, per: sizes_of(&linear.per) }
}

fn stage_of(stage: &graph::StagePlan) -> StagePlan {
    let formulas =
        |list: &[(usize, model::Linear)]| list.iter().map(|(pool, bytes)| (*pool, bytes_of(bytes))).collect();
    let tags = Tags::ALL.into_iter().filter(|(_, word)| stage.tags.has(word));
    StagePlan {
        name: stage.name.clone(),
        backend: stage.backend.clone(),
        tags: tags.fold(Tags::NONE, |all, (tag, _)| all.with(tag)),
        role: match stage.role {
            graph::Role::Source => Role::Source,
            graph::Role::Inner => Role::Inner,
            graph::Role::Sink => Role::Sink,
            graph::Role::Dealloc => Role::Dealloc,
        },
        group: stage.group,
        device: stage.device,
        workers: stage.workers,
        threads: stage.threads,
        in_flight: stage.in_flight,
        needs: stage.needs.clone(),
        holds: formulas(&stage.holds),
        workspace: formulas(&stage.workspace),
        bytes: stage.output.as_ref().map(|(_, bytes)| bytes_of(bytes)).unwrap_or_default(),
        slots: None,
        inputs: stage.inputs.clone(),
        outputs: stage.outputs.clone(),
    }
}

fn edge_of(plan: &graph::Plan, edge: &graph::Edge) -> Edge {
    let from = &plan.stages[edge.from];
    let firings = from.workers.saturating_mul(from.in_flight.max(1));
    let (capacity, reserved_by) = if from.opt_outs.before_send {
        (u32::MAX, edge.from)
    } else if from.opt_outs.blocking {
        (edge.capacity.saturating_add(firings), edge.from)
    } else {
        (edge.capacity, edge.reserved_by)
    };
    Edge { from: edge.from, to: edge.to, port: edge.port, token: edge.token.clone(), capacity, reserved_by }
}
