//! The compiled plan: what `pipeline!` decided, as plain data.

pub use proofline_memory::GiveBack;

use crate::slot::Token;
use crate::stage::Sizes;
use crate::tags::Tags;

/// A compiled graph. Indices of one list into another are positions.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// The graph's name: its file's stem.
    pub graph: String,
    /// The path of the graph file, as the source had it.
    pub file: String,
    /// SHA-256 over graph, SKU and catalogue, as lower-case hexadecimal digits.
    pub digest: String,
    /// The machine that it was planned for; `None` for `sku: any`.
    pub sku: Option<Sku>,
    /// The permit pools.
    pub pools: Vec<Pool>,
    /// The placement groups.
    pub groups: Vec<Group>,
    /// The stages, in topological order, `dealloc` last.
    pub stages: Vec<StagePlan>,
    /// The edges.
    pub edges: Vec<Edge>,
    /// The policy's name.
    pub policy: String,
    /// What becomes of slots that nobody reads any more.
    pub dealloc: Dealloc,
    /// How the memory of slots goes back to the kernel, where it does.
    pub give_back: GiveBack,
    /// What it takes of the machine's memory: a table for each circuit that the graph declares, or one for what does not
    /// depend on the circuit.
    pub memory: Vec<MemoryTable>,
}

/// What becomes of a slot that nobody reads any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Dealloc {
    /// It goes home, and the next firing of its stage finds it there: nothing is mapped, unmapped or touched anew.
    #[default]
    Recycle,
    /// Its memory is given back to the kernel, behind the permits of `dealloc`.
    BoundedFree,
    /// Its memory is given back to the kernel at once, by as many threads as there are such slots: what cuzk did before it
    /// bounded them. For comparison.
    UnboundedFree,
}

impl Dealloc {
    /// All of them, with their words in graph files.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Recycle, "recycle"), (Self::BoundedFree, "bounded_free"), (Self::UnboundedFree, "unbounded_free")];

    /// Its word in graph files.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(one, _)| *one == self).map_or("", |(_, word)| word)
    }
}

/// What a plan takes of the machine's memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryTable {
    /// The circuit, by its name in the graph file.
    pub circuit: Option<String>,
    /// The takers.
    pub rows: Vec<MemoryRow>,
}

/// One of the takers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryRow {
    /// What it is, as a table has it.
    pub what: String,
    /// How many.
    pub count: u64,
    /// Bytes of one.
    pub each: u64,
    /// Bytes of all, fewer than the product where a pool caps them.
    pub bytes: u64,
    /// Where it lies.
    pub on: MemoryPlace,
}

/// Where memory lies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MemoryPlace {
    /// Evenly on all NUMA nodes.
    Everywhere,
    /// On this node.
    Node(u32),
    /// Evenly on the nodes of these groups' CCDs.
    Groups(Vec<usize>),
}

impl MemoryTable {
    /// Bytes of all rows; saturates.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.rows.iter().fold(0, |sum, row| sum.saturating_add(row.bytes))
    }
}

/// A machine, as a SKU file states it.
#[derive(Clone, PartialEq, Debug)]
pub struct Sku {
    /// Its name: the file's stem.
    pub name: String,
    /// NUMA nodes.
    pub numa_nodes: u32,
    /// CCDs (processors that share one L3) of the whole machine.
    pub ccds: u32,
    /// Cores of a CCD.
    pub cores_per_ccd: u32,
    /// Hardware threads of a core.
    pub threads_per_core: u32,
    /// L3 of a CCD, in bytes.
    pub l3_bytes: u64,
    /// Memory of the whole machine, in bytes.
    pub ram_bytes: u64,
    /// Memory bandwidth of the whole machine, in bytes a second.
    pub ram_bandwidth: u64,
    /// The devices.
    pub gpus: Vec<Gpu>,
}

/// A device of a SKU.
#[derive(Clone, PartialEq, Debug)]
pub struct Gpu {
    /// The vendor's name of it.
    pub name: String,
    /// Its memory, in bytes.
    pub vram_bytes: u64,
    /// Its architecture, `sm_90` say.
    pub arch: String,
}

/// A pool of permits.
#[derive(Clone, PartialEq, Debug)]
pub struct Pool {
    /// Its name in the graph file.
    pub name: String,
    /// How much it has.
    pub size: u64,
    /// What it counts.
    pub unit: Unit,
}

/// What a pool counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Permits.
    Count,
    /// Bytes.
    Bytes,
}

/// A placement group.
#[derive(Clone, PartialEq, Debug)]
pub struct Group {
    /// Its name in the graph file.
    pub name: String,
    /// The CCDs that it may use.
    pub ccds: Ccds,
    /// How its workers share them.
    pub share: Share,
    /// Whether no other group may overlap it.
    pub exclusive: bool,
    /// What to do where the machine does not have them or will not bind.
    pub insist: Insist,
    /// Whether its threads may be as many as the hardware threads, not the cores.
    pub smt: bool,
}

/// A choice of CCDs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ccds {
    /// All that the machine has.
    All,
    /// These, ascending, counted from 0.
    List(Vec<u32>),
}

/// How the workers of a group share its CCDs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Share {
    /// One pool of threads per CCD; a firing stays on one CCD.
    Spread,
    /// One pool of threads over all CCDs of the group.
    Pack,
}

/// What becomes of a placement that cannot be had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Insist {
    /// The start fails.
    Demand,
    /// The start goes on and says so.
    Prefer,
}

/// A stage as the graph has it.
#[derive(Clone, PartialEq, Debug)]
pub struct StagePlan {
    /// Its name.
    pub name: String,
    /// The backend that was chosen.
    pub backend: String,
    /// The tags of that implementation.
    pub tags: Tags,
    /// What part it plays.
    pub role: Role,
    /// The group that it runs on.
    pub group: Option<usize>,
    /// The device that it runs on.
    pub device: Option<u32>,
    /// Firings at once.
    pub workers: u32,
    /// Threads of one worker's pool; `None`: the cores of its placement.
    pub threads: Option<u32>,
    /// Firings that one worker may have between `start` and `finish`; 1 for a stage of one function.
    pub in_flight: u32,
    /// Permits for the time of the firing: pool and weight.
    pub needs: Vec<(usize, u64)>,
    /// Bytes kept until the output token is home: pool and formula.
    pub holds: Vec<(usize, Bytes)>,
    /// Scratch memory of each worker: pool and formula. The fixed part is taken for as long as the pipeline runs, the
    /// part that depends on the circuit for the time of the firing.
    pub workspace: Vec<(usize, Bytes)>,
    /// The bytes of its output token.
    pub bytes: Bytes,
    /// Tokens of it that can be alive at once, and so the slots that there are: a firing waits until one is home. `None`:
    /// as many as there come to be.
    pub slots: Option<u32>,
    /// The edges into its ports, in the order of the ports.
    pub inputs: Vec<usize>,
    /// The edges that its output goes to.
    pub outputs: Vec<usize>,
}

impl StagePlan {
    /// A stage of one worker that needs, holds and is connected to nothing: what made-up plans start from.
    #[must_use]
    pub fn plain(name: &str, role: Role) -> Self {
        Self {
            name: name.to_owned(),
            backend: "host".to_owned(),
            tags: Tags::NONE,
            role,
            group: None,
            device: None,
            workers: 1,
            threads: None,
            in_flight: 1,
            needs: Vec::new(),
            holds: Vec::new(),
            workspace: Vec::new(),
            bytes: Bytes::default(),
            slots: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
        }
    }
}

/// What part a stage plays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// It has no ports: the job's partitions fire it.
    Source,
    /// It has ports and readers.
    Inner,
    /// Its output leaves the graph.
    Sink,
    /// It takes every dead slot.
    Dealloc,
}

/// A bounded edge.
#[derive(Clone, PartialEq, Debug)]
pub struct Edge {
    /// The stage that puts tokens in.
    pub from: usize,
    /// The stage that takes them out.
    pub to: usize,
    /// The port of `to`, counted from 0.
    pub port: usize,
    /// The token's name.
    pub token: String,
    /// Tokens that have a place at once.
    pub capacity: u32,
    /// The stage whose firing reserves the place: `from`, or the fork before a join.
    pub reserved_by: usize,
}

/// A number of bytes that is linear in the sizes of the circuit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bytes {
    /// Bytes whatever the circuit.
    pub fixed: u64,
    /// Bytes for each element of each size.
    pub per: Sizes,
}

impl Bytes {
    /// The bytes for a circuit of these sizes; saturates at the largest number.
    #[must_use]
    pub const fn of(&self, sizes: &Sizes) -> u64 {
        let (factors, counts) = (self.per.each(), sizes.each());
        let (mut sum, mut size) = (self.fixed, 0);
        while size < factors.len() {
            sum = sum.saturating_add(factors[size].saturating_mul(counts[size]));
            size += 1;
        }
        sum
    }

    /// The formula that a token's type states, else `otherwise`; a constant can ask.
    #[must_use]
    pub const fn stated_by<T: Token>(otherwise: Bytes) -> Bytes {
        match T::FORMULA {
            Some(formula) => formula,
            None => otherwise,
        }
    }

    /// So many of each, for a circuit of these sizes, and `others`; saturates. A constant can ask.
    #[must_use]
    pub const fn sum(tokens: &[(u64, Bytes)], sizes: &Sizes, others: u64) -> u64 {
        let (mut sum, mut token) = (others, 0);
        while token < tokens.len() {
            sum = sum.saturating_add(tokens[token].0.saturating_mul(tokens[token].1.of(sizes)));
            token += 1;
        }
        sum
    }

    /// Whether both are the same formula; a constant can ask.
    #[must_use]
    pub const fn is(&self, other: &Bytes) -> bool {
        let (one, other_factors) = (self.per.each(), other.per.each());
        let (mut same, mut size) = (self.fixed == other.fixed, 0);
        while size < one.len() {
            same = same && one[size] == other_factors[size];
            size += 1;
        }
        same
    }
}

impl StagePlan {
    /// How often it fires in one period: a stage takes and puts one token a firing, so each does once. `dealloc` counts
    /// for none: it fires for every dead slot.
    #[must_use]
    pub fn fires(&self) -> u64 {
        u64::from(self.role != Role::Dealloc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_linear_and_saturate() {
        let sizes = Sizes { constraints: 1, aux: 10, inputs: 100, domain: 1000, a_density: 10_000, b_density: 100_000 };
        let per = Sizes { constraints: 1, aux: 2, inputs: 3, domain: 4, a_density: 5, b_density: 6 };
        let bytes = Bytes { fixed: 7_000_000, per };
        assert_eq!(bytes.of(&sizes), 7_654_321);
        assert_eq!(Bytes { fixed: u64::MAX, per }.of(&sizes), u64::MAX);
        assert!(bytes.is(&bytes) && !bytes.is(&Bytes { fixed: 0, per }));
        assert!(!bytes.is(&Bytes { per: Sizes { b_density: 0, ..per }, ..bytes }));
        assert_eq!(Bytes::sum(&[(2, bytes), (3, Bytes { fixed: 5, per: Sizes::NONE })], &sizes, 1), 2 * 7_654_321 + 16);
    }
}
