//! The machine that a simulation runs on.

use crate::plan::Sku;
use crate::topology::Machine;

/// A machine in numbers.
#[derive(Clone, PartialEq, Debug)]
pub struct MachineSpec {
    /// Its CCDs.
    pub ccds: Vec<CcdSpec>,
    /// Hardware threads of a core.
    pub threads_per_core: u32,
    /// Memory bandwidth, in bytes a second; infinite where it is not known.
    pub dram_bytes_per_s: f64,
    /// Memory, in bytes.
    pub ram_bytes: u64,
    /// Its devices.
    pub devices: Vec<DeviceSpec>,
}

/// One CCD.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CcdSpec {
    /// Cores.
    pub cores: u32,
    /// L3, in bytes; infinite where it is not known.
    pub l3_bytes: f64,
}

/// One device.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DeviceSpec {
    /// Its memory, in bytes.
    pub vram_bytes: u64,
}

impl MachineSpec {
    /// The machine of a SKU file.
    #[must_use]
    pub fn of_sku(sku: &Sku) -> Self {
        let ccd = CcdSpec { cores: sku.cores_per_ccd, l3_bytes: sku.l3_bytes as f64 };
        Self {
            ccds: vec![ccd; sku.ccds as usize],
            threads_per_core: sku.threads_per_core,
            dram_bytes_per_s: sku.ram_bandwidth as f64,
            ram_bytes: sku.ram_bytes,
            devices: sku.gpus.iter().map(|gpu| DeviceSpec { vram_bytes: gpu.vram_bytes }).collect(),
        }
    }

    /// A machine as hwloc describes it, from a synthetic text or XML say. hwloc knows neither bandwidth nor devices:
    /// the memory never saturates.
    #[must_use]
    pub fn of_topology(machine: &Machine) -> Self {
        let ccd = |ccd: &crate::topology::Ccd| CcdSpec {
            cores: u32::try_from(ccd.cores.len()).unwrap_or(u32::MAX),
            l3_bytes: ccd.l3_bytes.map_or(f64::INFINITY, |bytes| bytes as f64),
        };
        let threads = machine.ccds.iter().flat_map(|ccd| &ccd.cores).map(|core| core.cpus.numbers().len()).max();
        Self {
            ccds: machine.ccds.iter().map(ccd).collect(),
            threads_per_core: threads.and_then(|threads| u32::try_from(threads).ok()).unwrap_or(1).max(1),
            dram_bytes_per_s: f64::INFINITY,
            ram_bytes: machine.ram_bytes,
            devices: Vec::new(),
        }
    }

    /// Cores of the whole machine.
    #[must_use]
    pub fn cores(&self) -> u32 {
        self.ccds.iter().map(|ccd| ccd.cores).sum()
    }
}
