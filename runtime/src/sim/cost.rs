//! What stages cost: plain data, read from a file or written by [`crate::mock`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A cost model.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename = "Costs")]
pub struct Costs {
    /// The version of the format: 1.
    pub version: u32,
    /// What it was measured on; without it, seconds mean nothing.
    #[serde(default)]
    pub calibration: Option<Calibration>,
    /// The constraints of the circuit that it was measured on; other circuits cost in proportion. 0: any circuit costs
    /// the same.
    #[serde(default)]
    pub constraints: u64,
    /// How the host behaves when it is shared.
    #[serde(default)]
    pub host: Host,
    /// Memory of the process beside what the plan knows.
    #[serde(default)]
    pub retained: Retained,
    /// The stages, by name. A stage that is not there costs nothing.
    #[serde(default)]
    pub stages: BTreeMap<String, StageCost>,
}

/// Where a cost model comes from.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Who measured what, when, and where it was written down.
    pub source: String,
    /// The machine's name: a SKU.
    pub sku: String,
    /// Median of |simulated / measured − 1| over the rows that it was fitted to.
    pub median_error: f64,
    /// The largest of them.
    pub worst_error: f64,
    /// How many rows.
    pub rows: u32,
    /// The median of the errors with which each row is predicted by a fit to all others, where that was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out_median: Option<f64>,
    /// The largest of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out_worst: Option<f64>,
}

/// How the host behaves when it is shared.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Host {
    /// What the second hardware thread adds to a core's throughput: 0.25 is a quarter.
    pub smt_gain: f64,
    /// How much slower a core is when all of them are busy than when it is alone, as its clock falls: 0.37 takes 1.37
    /// times as long. In between it is linear in the busy cores.
    pub boost_loss: f64,
    /// The part of the SKU's memory bandwidth that programs reach.
    pub dram_efficiency: f64,
    /// Bytes a second that one device's link moves.
    pub pcie_bytes_per_s: f64,
    /// Seconds for which every running thread stands still for each GiB that is unmapped: page-table locks and
    /// interprocessor interrupts.
    pub shootdown_s_per_gib: f64,
}

impl Default for Host {
    fn default() -> Self {
        Self {
            smt_gain: 0.25,
            boost_loss: 0.0,
            dram_efficiency: 0.85,
            pcie_bytes_per_s: 50e9,
            shootdown_s_per_gib: 0.0,
        }
    }
}

/// Memory of the process beside what the plan knows.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retained {
    /// Bytes whatever happens.
    pub process_bytes: f64,
    /// Bytes for each job in flight: its request and what was parsed from it.
    pub job_bytes: f64,
    /// How often memory is looked at, in seconds: a level that comes and goes in between is not seen, as by whoever
    /// measured. 0: always.
    pub sampled_every_s: f64,
}

/// What a firing of one stage costs.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StageCost {
    /// The pieces. Those without `after` start with the firing; it is over when all are.
    pub work: Vec<Work>,
    /// Every piece takes between 1 − spread and 1 + spread times as long, drawn from the seed for each firing.
    pub spread: f64,
    /// The jobs take so many times as long, in turn; empty: all take as long.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub per_job: Vec<f64>,
    /// Bytes of the device's memory, from the start of a firing to its end; beside the workspace that the plan states.
    #[serde(skip_serializing_if = "is_zero")]
    pub vram_bytes: f64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde wants a reference.
fn is_zero(bytes: &f64) -> bool {
    *bytes == 0.0
}

/// A piece of a firing. It is over when the slowest of its demands is met.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Work {
    /// Its name, for `after`.
    pub name: String,
    /// The pieces that it waits for.
    pub after: Vec<String>,
    /// Seconds that pass whatever else happens.
    pub wait_s: f64,
    /// Work of processors: seconds of one core that runs nothing else.
    pub core_s: f64,
    /// Threads that share `core_s`: at most those of the stage's placement, if the graph states them. 0: all of them.
    pub threads: u32,
    /// Bytes between memory and the caches.
    pub dram_bytes: f64,
    /// The part of its undisturbed time in which it waits for memory: how much of the slowness of a saturated memory
    /// it feels.
    pub stall: f64,
    /// Bytes that stay in the L3 of each of its CCDs while they fit.
    pub l3_bytes: f64,
    /// Traffic that the L3 serves while its working set fits, and the memory does not.
    pub l3_traffic_bytes: f64,
    /// Bytes between host and device.
    pub pcie_bytes: f64,
    /// Seconds of a device that runs nothing else.
    pub gpu_s: f64,
    /// It holds its device's lock. All such pieces of a firing take it together, first come first served, and it is
    /// free when the last of them is over.
    pub lock: bool,
    /// Bytes that it gives back to the kernel; for `dealloc`, beside those of the slot.
    pub unmap_bytes: f64,
    /// The part of the dead slot that `dealloc` really unmaps: 0 for slots that are recycled, 1 for naive frees.
    pub unmaps_slot: f64,
    /// The part of the output's memory that is taken when this piece starts. What no piece states is taken when the
    /// firing starts.
    #[serde(skip_serializing_if = "is_zero")]
    pub output_part: f64,
}

/// How a firing ends, for mocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Fate {
    /// With a token.
    #[default]
    Succeeds,
    /// With an error.
    Fails,
    /// With a panic. To the scheduler it is the same as an error.
    Panics,
}
