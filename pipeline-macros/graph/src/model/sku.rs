//! The SKU file: a machine in numbers.

use crate::source::{At, Span};

/// A machine.
#[derive(Clone, PartialEq, Debug)]
pub struct Sku {
    /// Its name: the file's stem.
    pub name: String,
    /// The word `Sku`.
    pub span: Span,
    /// NUMA nodes.
    pub numa_nodes: At<u32>,
    /// CCDs of the whole machine.
    pub ccds: At<u32>,
    /// Cores of a CCD.
    pub cores_per_ccd: At<u32>,
    /// Hardware threads of a core.
    pub threads_per_core: At<u32>,
    /// L3 of a CCD, in bytes.
    pub l3_per_ccd: At<u64>,
    /// Memory of the whole machine, in bytes.
    pub ram: At<u64>,
    /// Memory bandwidth of the whole machine, in bytes a second.
    pub ram_bandwidth: At<u64>,
    /// The devices.
    pub gpus: Vec<Gpu>,
}

/// A device.
#[derive(Clone, PartialEq, Debug)]
pub struct Gpu {
    /// The vendor's name of it.
    pub name: At<String>,
    /// Its memory, in bytes.
    pub vram: At<u64>,
    /// Its architecture.
    pub arch: At<String>,
}
