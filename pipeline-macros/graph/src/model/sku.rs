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

impl Sku {
    /// The machine in hwloc's synthetic notation, numbered as Linux does: core i has the hardware threads i, i + cores, and
    /// so on.
    #[must_use]
    pub fn synthetic(&self) -> String {
        let (nodes, ccds, cores) = (self.numa_nodes.value, self.ccds.value, self.cores_per_ccd.value);
        let (threads, l3, ram) = (self.threads_per_core.value, self.l3_per_ccd.value, self.ram.value);
        let all = u64::from(ccds) * u64::from(cores);
        let numbers = if threads > 1 { format!("(indexes={threads}*{all}:1*{threads})") } else { String::new() };
        let (memory, per_node) = (ram / u64::from(nodes), ccds / nodes);
        format!("pack:{nodes} [numa(memory={memory})] l3:{per_node}(size={l3}) core:{cores} pu:{threads}{numbers}")
    }
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
