//! The rows of the tables: what takes memory, and how much.

use super::{Memory, On, Row, of_pool};
use crate::model::{Ccds, Linear, Sku, Unit};
use crate::plan::{Plan, StagePlan};

/// The NUMA nodes of a stage's memory: those of its group's CCDs, and all of them without a group.
fn nodes(plan: &Plan, stage: &StagePlan, sku: &Sku) -> Vec<u32> {
    let all = sku.numa_nodes.value;
    let list = match stage.group.map(|group| &plan.groups[group].ccds) {
        Some(Ccds::List(list)) => list,
        _ => return (0..all).collect(),
    };
    let node = |ccd: &u32| u32::try_from(u64::from(*ccd) * u64::from(all) / u64::from(sku.ccds.value)).unwrap_or(0);
    let mut nodes: Vec<u32> = list.iter().map(node).filter(|node| *node < all).collect();
    nodes.sort_unstable();
    nodes.dedup();
    if nodes.is_empty() { (0..all).collect() } else { nodes }
}

/// Over how many nodes what a stage makes is spread, `None` if none of it is in this memory. A group over several nodes
/// is taken to fill them evenly.
fn spread(plan: &Plan, stage: &StagePlan, memory: Memory) -> Option<u64> {
    match (memory, &plan.sku) {
        (Memory::Node(node), Some(sku)) => {
            let nodes = nodes(plan, stage, sku);
            nodes.contains(&node).then_some(nodes.len() as u64)
        }
        _ => Some(1),
    }
}

/// What takes memory of the machine.
pub(super) fn ram_rows(plan: &Plan, memory: Memory, counts: &[u64; 6], live: &[u64]) -> Vec<Row> {
    let row = |stage: Option<usize>, what: String, count: u64, each: u64| Row {
        stage,
        what,
        count,
        each,
        bytes: count.saturating_mul(each),
        token: None,
        on: On::of(stage.iter().map(|stage| &plan.stages[*stage])),
    };
    let all_nodes = match memory {
        Memory::Node(_) => plan.sku.as_ref().map_or(1, |sku| u64::from(sku.numa_nodes.value)),
        _ => 1,
    };
    let resident = plan
        .resident
        .iter()
        .map(|(name, bytes)| row(None, format!("{name}, resident"), 1, bytes.of(counts).div_ceil(all_nodes)));
    let mut rows: Vec<Row> = resident.collect();
    let in_ram = |pool: usize| plan.pools[pool].unit == Unit::Bytes && in_memory(&plan.pools[pool].name, memory);
    let in_machine = |pool: usize| !matches!(of_pool(&plan.pools[pool].name), Memory::Device(_));
    for (position, stage) in plan.stages.iter().enumerate() {
        let Some(parts) = spread(plan, stage, memory) else { continue };
        if let Some((token, bytes)) = &stage.output {
            // What a pool counts of a token is in the pool's row; the rest of it is here.
            let held = stage.holds.iter().filter(|(pool, _)| in_machine(*pool)).map(|(_, held)| held.of(counts));
            let held = held.fold(0, u64::saturating_add);
            let rest = if held == 0 { "" } else { ", beside what it holds" };
            let what = format!("`{token}` of `{}`{rest}", stage.name);
            let each = bytes.of(counts).saturating_sub(held);
            let of_tokens = row(Some(position), what, live[position].div_ceil(parts), each);
            rows.push(Row { token: Some(*bytes).filter(|_| held == 0), ..of_tokens });
        }
        let scratch = stage.scratch.of(counts);
        rows.push(row(
            Some(position),
            format!("scratch of `{}`", stage.name),
            stage.firings().div_ceil(parts),
            scratch,
        ));
    }
    for (pool, stated) in plan.pools.iter().enumerate().filter(|(pool, _)| in_ram(*pool)) {
        let (mut fixed, mut all) = (0_u64, 0_u64);
        for (position, stage) in plan.stages.iter().enumerate() {
            // A pool of a node is that node's memory, whoever takes from it.
            let parts = match of_pool(&stated.name) {
                Memory::Node(_) => 1,
                _ => match spread(plan, stage, memory) {
                    Some(parts) => parts,
                    None => continue,
                },
            };
            let of = |list: &[(usize, Linear)], count: u64| -> u64 {
                let own = list.iter().filter(|(of, _)| *of == pool);
                own.map(|(_, bytes)| bytes.of(counts).saturating_mul(count.div_ceil(parts)))
                    .fold(0, u64::saturating_add)
            };
            all = all
                .saturating_add(of(&stage.holds, live[position]))
                .saturating_add(of(&stage.workspace, stage.firings()));
            let workers = u64::from(stage.workers).div_ceil(parts);
            let own = stage.workspace.iter().filter(|(of, _)| *of == pool);
            fixed = fixed.saturating_add(own.map(|(_, bytes)| bytes.fixed.saturating_mul(workers)).sum());
        }
        let bytes = all.min(stated.size.max(fixed));
        let what =
            if all > bytes { format!("pool `{}`, full", stated.name) } else { format!("pool `{}`", stated.name) };
        let takes = |list: &[(usize, Linear)]| list.iter().any(|(of, _)| *of == pool);
        let on = match of_pool(&stated.name) {
            Memory::Node(node) => On::Node(node),
            _ => On::of(plan.stages.iter().filter(|stage| takes(&stage.holds) || takes(&stage.workspace))),
        };
        rows.push(Row { stage: None, what, count: 1, each: bytes, bytes, token: None, on });
    }
    rows.retain(|row| row.bytes > 0);
    rows
}

fn in_memory(pool: &str, memory: Memory) -> bool {
    match (of_pool(pool), memory) {
        (Memory::Device(_), _) => false,
        (Memory::Node(of), Memory::Node(node)) => of == node,
        _ => true,
    }
}

/// What takes memory of a device.
pub(super) fn device_rows(plan: &Plan, device: u32, counts: &[u64; 6]) -> Vec<Row> {
    let mut rows = Vec::new();
    for (pool, stated) in
        plan.pools.iter().enumerate().filter(|(_, pool)| of_pool(&pool.name) == Memory::Device(device))
    {
        let mut left = stated.size;
        for (position, stage) in plan.stages.iter().enumerate() {
            for (_, bytes) in stage.workspace.iter().filter(|(of, _)| *of == pool) {
                let (fixed, count) = (bytes.fixed, u64::from(stage.workers));
                let varies = Linear { fixed: 0, ..*bytes }.of(counts);
                let row = |what: &str, count: u64, each: u64, cap: u64| Row {
                    stage: Some(position),
                    what: format!("{what} of `{}`", stage.name),
                    count,
                    each,
                    bytes: count.saturating_mul(each).min(cap),
                    token: None,
                    on: On::Everywhere,
                };
                // What a worker keeps is taken at the start, all of it; what a firing takes waits for the pool.
                rows.push(row("workspace", count, fixed, u64::MAX));
                left = left.saturating_sub(count.saturating_mul(fixed));
                rows.push(row("workspace of a firing", stage.firings(), varies, left));
                left = left.saturating_sub(stage.firings().saturating_mul(varies));
            }
        }
        let held = plan.stages.iter().flat_map(|stage| &stage.holds).filter(|(of, _)| *of == pool);
        if held.map(|(_, bytes)| bytes.of(counts)).any(|bytes| bytes > 0) {
            rows.push(Row {
                stage: None,
                what: format!("tokens in pool `{}`", stated.name),
                count: 1,
                each: left,
                bytes: left,
                token: None,
                on: On::Everywhere,
            });
        }
    }
    rows.retain(|row| row.bytes > 0);
    rows
}
