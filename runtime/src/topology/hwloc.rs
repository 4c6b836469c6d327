//! Finds CCDs with hwloc, on this machine or in a description of another one.

use std::fmt;
use std::sync::Arc;

use hwlocality::Topology;
use hwlocality::object::TopologyObject;
use hwlocality::object::attributes::ObjectAttributes;
use hwlocality::object::types::ObjectType;
use hwlocality::topology::builder::TypeFilter;

use super::devices::{self, NVIDIA, computes};
use super::{Ccd, Core, Cpus, Device, Machine, notation};

/// A machine as hwloc sees it.
#[derive(Clone)]
pub struct Hwloc {
    pub(crate) topology: Arc<Topology>,
}

/// What Linux numbers at most on this architecture (`CONFIG_NR_CPUS`); a description of more is a slip of the pen.
pub const MOST_HARDWARE_THREADS: usize = 8192;

/// hwloc could not tell what the machine looks like.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("hwloc cannot read {what}: {why}")]
pub struct TopologyError {
    what: String,
    why: String,
}

impl TopologyError {
    fn new(what: impl Into<String>, why: impl fmt::Display) -> Self {
        Self { what: what.into(), why: why.to_string() }
    }
}

impl Hwloc {
    /// This machine, without what the process may not use.
    ///
    /// # Errors
    /// hwloc does not work here.
    pub fn this_system() -> Result<Self, TopologyError> {
        let topology = Topology::new().map_err(|error| TopologyError::new("this machine", error))?;
        Ok(Self { topology: Arc::new(topology) })
    }

    /// A machine in hwloc's synthetic notation, `pack:1 l3:12 core:8 pu:2` say. Sizes are in bytes.
    ///
    /// # Errors
    /// The notation is wrong, which the error shows where it can, or the machine has more than
    /// [`MOST_HARDWARE_THREADS`].
    pub fn synthetic(description: &str) -> Result<Self, TopologyError> {
        let fail = |why: String| TopologyError::new(format!("the synthetic machine `{description}`"), why);
        let said = |error: String| fail(notation::fault(description).unwrap_or(error));
        // Before hwloc makes it: that takes the square of its size.
        if let Some(why) = notation::too_large(description) {
            return Err(fail(why));
        }
        let builder = Topology::builder().from_synthetic(description).map_err(|error| said(error.to_string()))?;
        let topology = builder.build().map_err(|error| said(error.to_string()))?;
        Self::of(topology).map_err(fail)
    }

    /// A machine in the XML that `lstopo` writes; errors call it `shown`. The text is the caller's to read: hwloc's binding
    /// panics on a file that is not there.
    ///
    /// # Errors
    /// The text is no topology, or one of more than [`MOST_HARDWARE_THREADS`].
    pub fn xml(shown: &str, text: &str) -> Result<Self, TopologyError> {
        let fail = |why: &dyn fmt::Display| TopologyError::new(shown, why);
        let mut builder = Topology::builder().from_xml(text).map_err(|error| fail(&error))?;
        // What the driver told `lstopo` of the devices is in the file.
        for kind in [ObjectType::PCIDevice, ObjectType::OSDevice] {
            builder = builder.with_type_filter(kind, TypeFilter::KeepImportant).map_err(|error| fail(&error))?;
        }
        let topology = builder.build().map_err(|error| fail(&error))?;
        Self::of(topology).map_err(|why| fail(&why))
    }

    fn of(topology: Topology) -> Result<Self, String> {
        let all = topology.objects_with_type(ObjectType::PU).count();
        if all > MOST_HARDWARE_THREADS {
            return Err(format!(
                "it has {all} hardware threads, more than the {MOST_HARDWARE_THREADS} that Linux can number"
            ));
        }
        Ok(Self { topology: Arc::new(topology) })
    }

    /// The machine as plain data.
    ///
    /// Where no L3 is reported (some virtual machines), each package counts as one CCD, and where no package is
    /// reported either, the whole machine does.
    #[must_use]
    pub fn machine(&self) -> Machine {
        let of = |kind| self.topology.objects_with_type(kind).filter(|object| cores_of(object) > 0).collect::<Vec<_>>();
        let domains = [ObjectType::L3Cache, ObjectType::Package, ObjectType::Machine]
            .into_iter()
            .map(of)
            .find(|found| !found.is_empty())
            .unwrap_or_default();
        let ram_bytes = self.topology.root_object().total_memory();
        // A container may use less than there is.
        let limit = crate::limits::memory_bytes().filter(|_| self.topology.is_this_system());
        let total = crate::limits::total_bytes().filter(|_| self.topology.is_this_system());
        let machine = Machine {
            ccds: domains.into_iter().map(Self::ccd).collect(),
            numa_nodes: u32::try_from(self.topology.objects_with_type(ObjectType::NUMANode).count())
                .unwrap_or(u32::MAX),
            ram_bytes,
            node_bytes: self.topology.objects_with_type(ObjectType::NUMANode).filter_map(node_of).collect(),
            devices: self.devices(),
            is_this_system: self.topology.is_this_system(),
        };
        with_memory(machine, total, limit)
    }

    /// What a description tells of NVIDIA's devices, by their addresses; `None` where it tells of no device at all, as
    /// `lstopo --no-io` does.
    fn devices(&self) -> Option<Vec<Device>> {
        let all: Vec<&TopologyObject> = self.topology.pci_devices().collect();
        let mut found: Vec<(_, Device)> = all.iter().filter_map(|object| device_of(object)).collect();
        found.sort_by_key(|(address, _)| *address);
        (!all.is_empty()).then(|| found.into_iter().map(|(_, device)| device).collect())
    }

    fn ccd(domain: &TopologyObject) -> Ccd {
        let mut cores = Vec::new();
        cores_below(domain, ObjectType::Core, &mut cores);
        if cores.is_empty() {
            // Some virtual machines report processors but no cores.
            cores_below(domain, ObjectType::PU, &mut cores);
        }
        let l3_bytes = match domain.attributes() {
            Some(ObjectAttributes::Cache(cache)) => cache.size().map(std::num::NonZeroU64::get),
            _ => None,
        };
        let node = domain.nodeset().and_then(|nodes| nodes.first_set());
        let numa_node = node.map_or(0, |node| u32::try_from(usize::from(node)).unwrap_or(0));
        Ccd { cores, l3_bytes, numa_node }
    }
}

/// The cores below `object`, or what else stands for them; each object is visited once.
fn cores_below(object: &TopologyObject, kind: ObjectType, cores: &mut Vec<Core>) {
    if object.object_type() == kind {
        cores.push(Core { cpus: cpus_of(object) });
        return;
    }
    object.normal_children().for_each(|child| cores_below(child, kind, cores));
}

/// One of NVIDIA's devices, with its address on the bus. Memory and name are known where the driver told hwloc: its
/// CUDA part in KiB, as OpenCL's does.
fn device_of(object: &TopologyObject) -> Option<((u16, u8, u8, u8), Device)> {
    let Some(ObjectAttributes::PCIDevice(pci)) = object.attributes() else { return None };
    if pci.vendor_id() != NVIDIA || !computes(pci.class_id()) {
        return None;
    }
    let told = |names: &[&str]| {
        let infos = object.io_children().flat_map(TopologyObject::infos);
        let found = infos.filter(|info| names.iter().any(|name| info.name().to_bytes() == name.as_bytes()));
        found.map(|info| info.value().to_string_lossy().into_owned()).next()
    };
    let mut device = devices::unknown(pci.device_id());
    device.name = told(&["GPUModel"]).unwrap_or(device.name);
    let kib = told(&["CUDAGlobalMemorySize", "OpenCLGlobalMemorySize"]);
    device.memory_bytes = kib.and_then(|kib| kib.parse::<u64>().ok()?.checked_mul(1 << 10));
    Some(((pci.domain(), pci.bus_id(), pci.bus_device(), pci.function()), device))
}

fn node_of(object: &TopologyObject) -> Option<(u32, u64)> {
    let bytes = match object.attributes() {
        Some(ObjectAttributes::NUMANode(node)) => node.local_memory().map_or(0, std::num::NonZeroU64::get),
        _ => 0,
    };
    Some((u32::try_from(object.os_index()?).ok()?, bytes))
}

fn cores_of(object: &TopologyObject) -> usize {
    object.cpuset().and_then(|cpus| cpus.weight()).unwrap_or(0)
}

fn cpus_of(object: &TopologyObject) -> Cpus {
    let numbers = object.cpuset().map(|cpus| cpus.iter_set().map(|cpu| u32::try_from(usize::from(cpu))).collect());
    match numbers {
        Some(Ok(numbers)) => Cpus::new(numbers),
        _ => Cpus::default(),
    }
}

/// A machine with the kernel's total where hwloc found less (virtual machines whose memory grows have nodes of less), and
/// no more than a limit.
fn with_memory(mut machine: Machine, total: Option<u64>, limit: Option<u64>) -> Machine {
    if let Some(total) = total.filter(|total| *total > machine.ram_bytes) {
        machine.ram_bytes = total;
        if let [(_, bytes)] = machine.node_bytes.as_mut_slice() {
            *bytes = total;
        }
    }
    machine.ram_bytes = limit.map_or(machine.ram_bytes, |limit| limit.min(machine.ram_bytes));
    machine
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_knows_of_memory_that_its_nodes_do_not_show() {
        let machine = || Hwloc::synthetic("[numa(memory=1073741824)] core:2 pu:1").unwrap().machine();
        let node = machine().node_bytes[0].0;
        let grown = with_memory(machine(), Some(5 << 30), None);
        assert_eq!((grown.ram_bytes, grown.node_bytes), (5 << 30, vec![(node, 5 << 30)]));
        let limited = with_memory(machine(), Some(5 << 30), Some(2 << 30));
        assert_eq!((limited.ram_bytes, limited.node_bytes), (2 << 30, vec![(node, 5 << 30)]));
        // The kernel's total lacks what the kernel itself takes.
        assert_eq!(with_memory(machine(), Some(1_000_000_000), None), machine());
    }

    #[test]
    fn a_threadripper_has_twelve_ccds_of_eight_cores() {
        let machine =
            Hwloc::synthetic("pack:1 [numa(memory=549755813888)] l3:12(size=33554432) core:8 pu:2(indexes=2*96:1*2)")
                .unwrap()
                .machine();
        assert_eq!((machine.ccds.len(), machine.cores(), machine.numa_nodes), (12, 96, 1));
        assert_eq!(machine.ram_bytes, 549_755_813_888);
        assert_eq!(machine.ccds[0].cpus().to_string(), "0-7,96-103");
        assert_eq!(machine.ccds[11].cpus().to_string(), "88-95,184-191");
        assert_eq!(machine.ccds[3].l3_bytes, Some(33_554_432));
        assert_eq!(machine.ccds[0].cores[1].cpus.to_string(), "1,97");
        assert!(!machine.is_this_system);
    }

    #[test]
    fn without_an_l3_a_package_is_a_ccd() {
        let machine = Hwloc::synthetic("pack:2 core:4 pu:1").unwrap().machine();
        assert_eq!(machine.ccds.len(), 2);
        assert_eq!(machine.ccds[1].cpus().to_string(), "4-7");
        assert_eq!(machine.ccds[1].l3_bytes, None);
    }

    #[test]
    fn numa_nodes_are_told() {
        let machine = Hwloc::synthetic("pack:2 [numa(memory=1073741824)] l3:2 core:2 pu:1").unwrap().machine();
        assert_eq!(machine.node_bytes, [(0, 1 << 30), (1, 1 << 30)]);
        let nodes: Vec<u32> = machine.ccds.iter().map(|ccd| ccd.numa_node).collect();
        assert_eq!(nodes, [0, 0, 1, 1]);
    }

    #[test]
    fn this_machine_has_a_ccd_with_a_core() {
        let machine = Hwloc::this_system().unwrap().machine();
        assert!(machine.is_this_system);
        assert!(machine.ccds.iter().all(|ccd| !ccd.cores.is_empty()) && machine.cores() > 0);
    }

    #[test]
    fn a_wrong_description_is_refused_and_quoted() {
        let error = Hwloc::synthetic("pack:x").err().unwrap();
        assert!(error.to_string().starts_with("hwloc cannot read the synthetic machine `pack:x`: "), "{error}");
        for text in ["", "no XML", "<topology version=\"2.0\"></topology>", "a\0b"] {
            let error = Hwloc::xml("m.xml", text).err().unwrap();
            assert!(error.to_string().starts_with("hwloc cannot read m.xml: "), "{error}");
        }
    }

    /// A machine with a device, one with a sound card of the same maker, and one that hwloc's CUDA part described.
    #[test]
    fn devices_are_those_of_the_description() {
        let pci = |bus: u8, class: &str, vendor: &str, inside: &str| {
            format!(
                "<object type=\"PCIDev\" gp_index=\"1{bus}\" pci_busid=\"0000:0{bus}:00.0\" \
                 pci_type=\"{class} [{vendor}:2335] [{vendor}:18bf] a1\" pci_link_speed=\"63.0\">{inside}</object>"
            )
        };
        let told = "<object type=\"OSDev\" gp_index=\"50\" name=\"cuda0\" subtype=\"CUDA\" osdev_type=\"5\">\
                    <info name=\"GPUModel\" value=\"NVIDIA H200\"/><info name=\"CUDAGlobalMemorySize\" value=\"146590720\"/>\
                    </object>";
        let of = |devices: &[String]| {
            let sets = "cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\"";
            let text = format!(
                "<?xml version=\"1.0\"?><!DOCTYPE topology SYSTEM \"hwloc2.dtd\"><topology version=\"2.0\">\
                 <object type=\"Machine\" os_index=\"0\" {sets} allowed_cpuset=\"0x1\" allowed_nodeset=\"0x1\" gp_index=\"1\">\
                 <object type=\"NUMANode\" os_index=\"0\" {sets} gp_index=\"2\" local_memory=\"1073741824\"/>\
                 <object type=\"PU\" os_index=\"0\" {sets} gp_index=\"3\"/>{}</object></topology>",
                devices.concat()
            );
            Hwloc::xml("m.xml", &text).unwrap().machine().devices
        };
        assert_eq!(of(&[]), None, "nobody has looked");
        assert_eq!(of(&[pci(1, "0200", "1af4", "")]), Some(Vec::new()));
        assert_eq!(of(&[pci(1, "0403", "10de", ""), pci(2, "0302", "10de", "")]), Some(vec![devices::unknown(0x2335)]));
        let h200 = Device { name: "NVIDIA H200".into(), memory_bytes: Some(146_590_720 << 10), arch: None };
        assert_eq!(
            of(&[pci(3, "0302", "10de", told), pci(2, "0302", "10de", "")]),
            Some(vec![devices::unknown(0x2335), h200])
        );
    }
}
