//! How much memory a plan takes, and what takes it.
//!
//! A token lives from the firing that makes it to the last firing that reads it. While it waits it has a place on an edge,
//! and places are finite; while it is read it is in one of the firings of a reader, and those are finite too. So the
//! tokens of a stage are at most the places of its edges and the firings behind them. Where a fork reserves the places of
//! a join beyond all readers, the tokens are also no more than those places: no other key is let in.
//!
//! What a pool of bytes bounds (`holds`, `workspace`) is at most the pool, whatever the edges allow.

mod live;
mod rows;

pub(crate) use live::Reach;
pub use live::live_tokens;

use self::rows::{device_rows, ram_rows};
use super::{Plan, StagePlan};
use crate::model::{Linear, Sku};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::examples;

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
    fn what_a_stage_elsewhere_puts_in_a_pool_of_a_node_is_on_that_node() {
        let outcome = on_two_nodes("2-3", ", \"ram:1\": \"9 GiB\"");
        let text = outcome.sources.iter().next().expect("the graph is the first").text.clone();
        let sums_of = |workspace: &str| {
            let text = text.replace("on: \"first\"", &format!("on: \"first\", {workspace}"));
            let graph = crate::Source::inline("graph.ron", text);
            sums(&crate::load(graph, examples::catalogue(), crate::SkuFiles::Known(&[("two-nodes", TWO_NODES)])))
        };
        // 4 GiB of the stage on the first node.
        let expected = [(Memory::Ram, 44_808), (Memory::Node(0), 18_184), (Memory::Node(1), 26_624)];
        assert_eq!(sums_of("workspace: { \"ram:1\": \"4 GiB\" }"), expected);
        // The two witnesses: 7945 MiB from the first node to the second.
        let held = sums_of("holds: { \"ram:1\": \"Witness\" }");
        let expected = [(Memory::Ram, 40_712), (Memory::Node(0), 10_240), (Memory::Node(1), 30_472)];
        assert_eq!(held, expected);
    }

    #[test]
    fn what_holds_leaves_of_a_token_counts_beside_the_pool() {
        let outcome = on_two_nodes("2-3", ", \"ram\": \"9 GiB\"");
        let text = outcome.sources.iter().next().expect("the graph is the first").text.clone();
        let all = |held: &str| {
            let text = text.replace("on: \"first\"", &format!("on: \"first\", holds: {{ \"ram\": \"{held}\" }}"));
            let graph = crate::Source::inline("graph.ron", text);
            sums(&crate::load(graph, examples::catalogue(), crate::SkuFiles::Known(&[("two-nodes", TWO_NODES)])))
        };
        assert_eq!(all("1 B"), all("Witness"));
        assert_eq!(all("1 GiB")[0], (Memory::Ram, 40_712));
    }

    #[test]
    fn a_pool_of_a_node_is_that_nodes() {
        let outcome = on_two_nodes("2-3", ", \"ram:3\": \"1 GiB\"");
        assert!(outcome.diagnostics[0].title.contains("NUMA node that the SKU"), "{:?}", outcome.diagnostics);
    }
}
