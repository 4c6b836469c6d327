//! How much memory a plan takes, and what takes it.
//!
//! A token lives from the firing that makes it to the last firing that reads it. While it waits it has a place on an edge,
//! and places are finite; while it is read it is in one of the firings of a reader, and those are finite too. So the
//! tokens of a stage are at most the places of its edges and the firings behind them. Where a fork reserves the places of
//! a join beyond all readers, the tokens are also no more than those places: no other key is let in.
//!
//! What a pool of bytes bounds (`holds`, `workspace`) is at most the pool, whatever the edges allow.

use super::{Plan, Role, StagePlan};
use crate::model::{Ccds, Linear, Sku, Unit};

/// A memory of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Memory {
    /// All of it.
    Ram,
    /// That of one NUMA node.
    Node(u32),
    /// That of a device.
    Device(u32),
}

/// What takes how much of a memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    /// The memory.
    pub memory: Memory,
    /// The circuit, if the plan has sizes.
    pub circuit: Option<String>,
    /// Bytes that there are; `None` where the machine is not known.
    pub has: Option<u64>,
    /// The takers.
    pub rows: Vec<Row>,
}

/// One of the takers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// The stage, if it is one.
    pub stage: Option<usize>,
    /// What it is.
    pub what: String,
    /// How many.
    pub count: u64,
    /// Bytes of one.
    pub each: u64,
    /// Bytes of all, which may be fewer than the product where a pool caps them.
    pub bytes: u64,
    /// The formula of one, if it is a stage's token.
    pub token: Option<Linear>,
    /// Where it lies.
    pub on: On,
}

/// Where a taker lies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum On {
    /// Evenly on all NUMA nodes.
    Everywhere,
    /// On this node.
    Node(u32),
    /// Evenly on the nodes of these groups' CCDs.
    Groups(Vec<usize>),
}

impl On {
    /// Where what these stages make lies.
    fn of<'a>(stages: impl Iterator<Item = &'a StagePlan>) -> Self {
        let groups: Option<Vec<usize>> = stages.map(|stage| stage.group).collect();
        match groups {
            Some(mut groups) if !groups.is_empty() => {
                groups.sort_unstable();
                groups.dedup();
                On::Groups(groups)
            }
            _ => On::Everywhere,
        }
    }
}

impl Table {
    /// Bytes of all rows; saturates.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.rows.iter().fold(0, |sum, row| sum.saturating_add(row.bytes))
    }

    /// Whether it takes more than there is.
    #[must_use]
    pub fn exceeds(&self) -> bool {
        self.has.is_some_and(|has| self.sum() > has)
    }
}

/// The memory that a pool of bytes stands for: `vram:N` is device N's, `ram:N` is NUMA node N's, all others are RAM.
#[must_use]
pub fn of_pool(name: &str) -> Memory {
    let number = |prefix| name.strip_prefix(prefix).and_then(|number: &str| number.parse().ok());
    match (number("vram:"), number("ram:")) {
        (Some(device), _) => Memory::Device(device),
        (_, Some(node)) => Memory::Node(node),
        _ => Memory::Ram,
    }
}

/// A table for each memory and each circuit; without sizes, one for what does not depend on them.
#[must_use]
pub fn tables(plan: &Plan) -> Vec<Table> {
    let nodes = plan.sku.as_ref().map_or(1, |sku| sku.numa_nodes.value);
    let devices = plan.sku.as_ref().map_or(0, |sku| u32::try_from(sku.gpus.len()).unwrap_or(u32::MAX));
    let mut memories = vec![Memory::Ram];
    memories.extend((0..nodes).filter(|_| nodes > 1).map(Memory::Node));
    memories.extend((0..devices).map(Memory::Device));
    let circuits: Vec<(Option<&str>, [u64; 6])> = match plan.sizes.as_slice() {
        [] => vec![(None, [0; 6])],
        sizes => sizes.iter().map(|(name, counts)| (Some(name.as_str()), *counts)).collect(),
    };
    let live = live_tokens(plan);
    let of = |(memory, (circuit, counts)): (&Memory, &(Option<&str>, [u64; 6]))| Table {
        memory: *memory,
        circuit: circuit.map(str::to_owned),
        has: plan.sku.as_ref().map(|sku| has(sku, *memory)),
        rows: match memory {
            Memory::Device(device) => device_rows(plan, *device, counts),
            _ => ram_rows(plan, *memory, counts, &live),
        },
    };
    let circuits = &circuits;
    memories.iter().flat_map(|memory| circuits.iter().map(move |circuit| (memory, circuit))).map(of).collect()
}

fn has(sku: &Sku, memory: Memory) -> u64 {
    match memory {
        Memory::Ram => sku.ram.value,
        Memory::Node(_) => sku.ram.value / u64::from(sku.numa_nodes.value),
        Memory::Device(device) => sku.gpus.get(device as usize).map_or(0, |gpu| gpu.vram.value),
    }
}

/// The most tokens of each stage that can be alive at once.
#[must_use]
pub fn live_tokens(plan: &Plan) -> Vec<u64> {
    let reach = Reach::of(plan);
    let joins: Vec<(usize, usize, u64)> = plan
        .edges
        .iter()
        .enumerate()
        .filter(|(_, edge)| edge.reserved_by != edge.from || plan.stages[edge.to].inputs.len() > 1)
        .filter_map(|(number, edge)| Some((plan.reserver(number)?, edge.to, u64::from(edge.capacity))))
        .collect();
    let live = |(position, stage): (usize, &StagePlan)| {
        if stage.role == Role::Sink || stage.outputs.is_empty() {
            return stage.firings();
        }
        let readers = || stage.outputs.iter().map(|edge| plan.edges[*edge].to);
        let places: u64 = stage.outputs.iter().map(|edge| u64::from(plan.edges[*edge].capacity)).sum();
        let firings: u64 = readers().map(|reader| plan.stages[reader].firings()).sum();
        let waiting = if stage.opt_outs.reserves() { 0 } else { stage.firings() };
        let by_edges = places + firings + waiting;
        let inside = |join: usize| readers().all(|reader| reader == join || reach.leads(reader, join));
        let by_joins = joins.iter().filter(|(fork, join, _)| {
            (*fork == position || reach.leads(*fork, position)) && reach.leads(position, *join) && inside(*join)
        });
        let by_joins = by_joins.map(|(_, join, capacity)| {
            capacity + if readers().any(|reader| reader == *join) { plan.stages[*join].firings() } else { 0 }
        });
        by_joins.min().map_or(by_edges, |least| least.min(by_edges))
    };
    plan.stages.iter().enumerate().map(live).collect()
}

/// Which stage lies behind which.
struct Reach {
    words: usize,
    bits: Vec<u64>,
}

impl Reach {
    /// Stages are in topological order, so one pass from the back sees every stage behind all that follow it.
    fn of(plan: &Plan) -> Self {
        let words = plan.stages.len().div_ceil(64);
        let mut bits = vec![0; words * plan.stages.len()];
        for stage in (0..plan.stages.len()).rev() {
            for edge in &plan.stages[stage].outputs {
                let next = plan.edges[*edge].to;
                bits[stage * words + next / 64] |= 1 << (next % 64);
                for word in 0..words {
                    bits[stage * words + word] |= bits[next * words + word];
                }
            }
        }
        Self { words, bits }
    }

    fn leads(&self, from: usize, to: usize) -> bool {
        self.bits[from * self.words + to / 64] & (1 << (to % 64)) != 0
    }
}

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

fn ram_rows(plan: &Plan, memory: Memory, counts: &[u64; 6], live: &[u64]) -> Vec<Row> {
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
    for (position, stage) in plan.stages.iter().enumerate() {
        let Some(parts) = spread(plan, stage, memory) else { continue };
        if let Some((token, bytes)) = &stage.output
            && !stage.holds.iter().any(|(pool, _)| in_ram(*pool))
        {
            let what = format!("`{token}` of `{}`", stage.name);
            let of_tokens = row(Some(position), what, live[position].div_ceil(parts), bytes.of(counts));
            rows.push(Row { token: Some(*bytes), ..of_tokens });
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
            let Some(parts) = spread(plan, stage, memory) else { continue };
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

fn device_rows(plan: &Plan, device: u32, counts: &[u64; 6]) -> Vec<Row> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::examples;
    use crate::checks::testing::{outcome, with};

    fn live(text: &str) -> Vec<(String, u64)> {
        let plan = outcome(text).plan.expect("the graph is good");
        let live = live_tokens(&plan);
        plan.stages.iter().map(|stage| stage.name.clone()).zip(live).filter(|(name, _)| name != "dealloc").collect()
    }

    #[test]
    fn a_token_has_a_place_or_a_reader() {
        // One place on the edge, one firing of `spmv` behind it; the sink's own token.
        assert_eq!(live(examples::SMALL.text()), [("synthesize".to_owned(), 2), ("spmv".to_owned(), 1)]);
    }

    #[test]
    fn the_join_lets_no_more_in_than_it_has_places() {
        // Two witnesses have places at the join; the other edges would allow four.
        let expected = [("synthesize", 2), ("spmv", 3), ("prep_msm", 3), ("gpu_ntt_msm", 1)];
        let expected = expected.map(|(name, count)| (name.to_owned(), count));
        assert_eq!(live(examples::FORK_AND_JOIN.text()), expected);
        let wide = with(
            examples::FORK_AND_JOIN,
            "Edge(\"spmv\", \"gpu_ntt_msm\")",
            "Edge(\"spmv\", \"gpu_ntt_msm\", capacity: 9)",
        );
        // The narrower of the join's edges counts.
        assert_eq!(live(&wide)[0].1, 2);
    }

    #[test]
    fn pools_name_their_memory() {
        assert_eq!(of_pool("vram:1"), Memory::Device(1));
        assert_eq!(of_pool("ram:0"), Memory::Node(0));
        assert_eq!(of_pool("ram"), Memory::Ram);
        assert_eq!(of_pool("scratch"), Memory::Ram);
    }

    const TWO_NODES: &str = r#"Sku(
    version: 1,
    numa_nodes: 2,
    ccds: 4,
    cores_per_ccd: 8,
    threads_per_core: 2,
    l3_per_ccd: "32 MiB",
    ram: "64 GiB",
    ram_bandwidth: "80 GB/s",
)"#;

    fn on_two_nodes(second: &str, more: &str) -> crate::load::Outcome {
        let text = format!(
            r#"Graph(
    version: 1,
    sku: "two-nodes",
    sizes: {{ "porep_32g": (aux: 130169893, inputs: 328, domain: 134217728) }},
    resident: {{ "key": "20 GiB" }},
    pools: {{ "mem_heavy": 1, "dealloc": 1{more} }},
    groups: {{ "first": Ccds("0-1", share: Pack), "second": Ccds("{second}", share: Pack) }},
    stages: [
        Stage("synthesize", on: "first"),
        Stage("spmv", on: "second", needs: {{ "mem_heavy": 1 }}),
        Stage("dealloc", needs: {{ "dealloc": 1 }}),
    ],
    edges: [Edge("synthesize", "spmv")],
)"#
        );
        let graph = crate::Source::inline("graph.ron", text);
        crate::load(graph, examples::catalogue(), crate::SkuFiles::Known(&[("two-nodes", TWO_NODES)]))
    }

    fn sums(outcome: &crate::load::Outcome) -> Vec<(Memory, u64)> {
        let plan = outcome.plan.as_ref().expect("the graph is good");
        tables(plan).iter().map(|table| (table.memory, table.sum() >> 20)).collect()
    }

    #[test]
    fn each_numa_node_has_what_its_ccds_make() {
        // In MiB: half of the key on each node, two witnesses of 3972 on the first, 12288 on the second.
        let expected = [(Memory::Ram, 40_712), (Memory::Node(0), 18_184), (Memory::Node(1), 22_528)];
        assert_eq!(sums(&on_two_nodes("2-3", "")), expected);
        // A group over both nodes fills them evenly; of one token that is not half, which node has it is open.
        let expected = [(Memory::Ram, 40_712), (Memory::Node(0), 30_472), (Memory::Node(1), 22_528)];
        assert_eq!(sums(&on_two_nodes("1-2", "")), expected);
    }

    #[test]
    fn a_numa_node_that_is_full_is_an_error_with_its_table() {
        let key = |gib: &str| {
            let outcome = on_two_nodes("2-3", "");
            let text = outcome.sources.iter().next().expect("the graph is the first").text.clone();
            let graph = crate::Source::inline("graph.ron", text.replace("20 GiB", gib));
            crate::load(graph, examples::catalogue(), crate::SkuFiles::Known(&[("two-nodes", TWO_NODES)]))
        };
        assert!(key("40 GiB").plan.is_some(), "the machine has room, and each node");
        let outcome = key("42 GiB");
        let titles: Vec<&str> = outcome.diagnostics.iter().map(|found| found.title.as_str()).collect();
        assert_eq!(
            titles,
            ["this graph takes 33 GiB of memory on NUMA node 1, the SKU \"two-nodes\" has 32 GiB"],
            "61.76 GiB of 64 are taken"
        );
        assert!(
            outcome.diagnostics[0].notes[0].contains("`Evaluated` of `spmv`"),
            "{:?}",
            outcome.diagnostics[0].notes
        );
    }

    #[test]
    fn a_pool_of_a_node_is_that_nodes() {
        let outcome = on_two_nodes("2-3", ", \"ram:3\": \"1 GiB\"");
        assert!(outcome.diagnostics[0].title.contains("NUMA node that the SKU"), "{:?}", outcome.diagnostics);
    }
}
