//! The compiled plan: what `pipeline!` decided, as plain data.

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
    /// The edges into its ports, in the order of the ports.
    pub inputs: Vec<usize>,
    /// The edges that its output goes to.
    pub outputs: Vec<usize>,
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
    pub fn of(&self, sizes: &Sizes) -> u64 {
        let terms = [
            (self.per.constraints, sizes.constraints),
            (self.per.aux, sizes.aux),
            (self.per.inputs, sizes.inputs),
            (self.per.domain, sizes.domain),
            (self.per.a_density, sizes.a_density),
            (self.per.b_density, sizes.b_density),
        ];
        terms.into_iter().fold(self.fixed, |sum, (bytes, count)| sum.saturating_add(bytes.saturating_mul(count)))
    }
}
