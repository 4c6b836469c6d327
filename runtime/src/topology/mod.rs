//! What a machine looks like, as plain data.
//!
//! A CCD is a set of cores that share one L3. The plan speaks of CCDs by number; [`hwloc`] finds them.

pub mod devices;
pub mod hwloc;
mod notation;

use std::fmt;

use crate::plan::{Gpu, Sku};

/// Hardware threads (PUs) by their operating-system numbers, ascending.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cpus(Vec<u32>);

impl Cpus {
    /// The set of these numbers.
    #[must_use]
    pub fn new(mut cpus: Vec<u32>) -> Self {
        cpus.sort_unstable();
        cpus.dedup();
        Self(cpus)
    }

    /// The numbers, ascending.
    #[must_use]
    pub fn numbers(&self) -> &[u32] {
        &self.0
    }

    /// Whether every one of these is in `other`.
    #[must_use]
    pub fn inside(&self, other: &Cpus) -> bool {
        self.0.iter().all(|cpu| other.0.binary_search(cpu).is_ok())
    }
}

/// As Linux writes cpusets: `0-7,96-103`.
impl fmt::Display for Cpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_slice();
        let mut separator = "";
        while let Some(&first) = rest.first() {
            let run = (first..).zip(rest).take_while(|(expected, cpu)| expected == *cpu).count();
            match run {
                1 => write!(f, "{separator}{first}")?,
                _ => write!(f, "{separator}{first}-{}", rest[run - 1])?,
            }
            rest = &rest[run..];
            separator = ",";
        }
        Ok(())
    }
}

/// A core and its hardware threads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Core {
    /// Its hardware threads.
    pub cpus: Cpus,
}

/// Cores that share one L3.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ccd {
    /// The cores.
    pub cores: Vec<Core>,
    /// The L3, in bytes; `None` where the machine does not tell.
    pub l3_bytes: Option<u64>,
    /// The NUMA node, by its operating-system number.
    pub numa_node: u32,
}

impl Ccd {
    /// All hardware threads of all its cores.
    #[must_use]
    pub fn cpus(&self) -> Cpus {
        Cpus::new(self.cores.iter().flat_map(|core| core.cpus.numbers().iter().copied()).collect())
    }
}

/// A device with memory of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Device {
    /// The vendor's name of it.
    pub name: String,
    /// Its memory, in bytes; `None` where nobody tells: the PCI bus does not.
    pub memory_bytes: Option<u64>,
    /// Its architecture, `sm_90` say; `None` where nobody tells.
    pub arch: Option<String>,
}

/// A machine, or the part of it that this process may use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machine {
    /// The CCDs, in the order of their numbers.
    pub ccds: Vec<Ccd>,
    /// NUMA nodes.
    pub numa_nodes: u32,
    /// Memory, in bytes: what the process may use of it.
    pub ram_bytes: u64,
    /// The memory of each NUMA node: its operating-system number, and bytes.
    pub node_bytes: Vec<(u32, u64)>,
    /// Its devices, by their numbers; `None` where nobody has looked.
    pub devices: Option<Vec<Device>>,
    /// Whether it is the machine that this process runs on; threads can be bound on no other.
    pub is_this_system: bool,
}

impl Machine {
    /// A machine as its SKU says it is, numbered as Linux does: core `i` has the hardware threads `i`, `i` + cores, and so
    /// on. It is not there, so nothing can be bound on it.
    #[must_use]
    pub fn of_sku(sku: &Sku) -> Self {
        let all = sku.ccds * sku.cores_per_ccd;
        let core =
            |core: u32| Core { cpus: Cpus::new((0..sku.threads_per_core).map(|nth| core + nth * all).collect()) };
        let ccd = |ccd: u32| Ccd {
            cores: (ccd * sku.cores_per_ccd..(ccd + 1) * sku.cores_per_ccd).map(core).collect(),
            l3_bytes: Some(sku.l3_bytes),
            numa_node: ccd * sku.numa_nodes / sku.ccds.max(1),
        };
        let ccds = (0..sku.ccds).map(ccd).collect();
        let of_node = |node| (node, sku.ram_bytes / u64::from(sku.numa_nodes.max(1)));
        let device = |gpu: &Gpu| Device {
            name: gpu.name.clone(),
            memory_bytes: Some(gpu.vram_bytes),
            arch: Some(gpu.arch.clone()),
        };
        Self {
            ccds,
            numa_nodes: sku.numa_nodes,
            ram_bytes: sku.ram_bytes,
            node_bytes: (0..sku.numa_nodes).map(of_node).collect(),
            devices: Some(sku.gpus.iter().map(device).collect()),
            is_this_system: false,
        }
    }

    /// With the devices that the driver tells, if it is this machine: to ask takes a second or two.
    #[must_use]
    pub fn with_devices(self) -> Self {
        let devices = if self.is_this_system { Some(devices::this_system()) } else { self.devices };
        Self { devices, ..self }
    }

    /// Cores of the whole machine.
    #[must_use]
    pub fn cores(&self) -> usize {
        self.ccds.iter().map(|ccd| ccd.cores.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_written_as_linux_writes_them() {
        let text = |cpus: &[u32]| Cpus::new(cpus.to_vec()).to_string();
        assert_eq!(text(&[]), "");
        assert_eq!(text(&[3]), "3");
        assert_eq!(text(&[97, 0, 1, 2, 96, 5]), "0-2,5,96-97");
    }

    #[test]
    fn inside_means_every_cpu() {
        let set = |cpus: &[u32]| Cpus::new(cpus.to_vec());
        assert!(set(&[1, 3]).inside(&set(&[1, 2, 3])));
        assert!(!set(&[1, 4]).inside(&set(&[1, 2, 3])));
        assert!(set(&[]).inside(&set(&[])));
    }
}
