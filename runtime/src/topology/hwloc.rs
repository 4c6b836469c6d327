//! Finds CCDs with hwloc, on this machine or in a description of another one.

use std::path::Path;
use std::sync::Arc;

use hwlocality::Topology;
use hwlocality::object::TopologyObject;
use hwlocality::object::attributes::ObjectAttributes;
use hwlocality::object::types::ObjectType;

use super::{Ccd, Core, Cpus, Machine};

/// A machine as hwloc sees it.
#[derive(Clone)]
pub struct Hwloc {
    pub(crate) topology: Arc<Topology>,
}

/// hwloc could not tell what the machine looks like.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("hwloc cannot read {what}: {why}")]
pub struct TopologyError {
    what: String,
    why: String,
}

impl TopologyError {
    fn new(what: impl Into<String>, why: impl ToString) -> Self {
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
    /// The notation is wrong.
    pub fn synthetic(description: &str) -> Result<Self, TopologyError> {
        let fail = |why: String| TopologyError::new(format!("the synthetic machine `{description}`"), why);
        let builder = Topology::builder().from_synthetic(description).map_err(|error| fail(error.to_string()))?;
        let topology = builder.build().map_err(|error| fail(error.to_string()))?;
        Ok(Self { topology: Arc::new(topology) })
    }

    /// A machine in an XML file that `lstopo` wrote.
    ///
    /// # Errors
    /// The file is not there or is no topology.
    pub fn xml_file(path: &Path) -> Result<Self, TopologyError> {
        // Read here and not by hwloc: its binding panics on a file that is not there.
        let fail = |why: String| TopologyError::new(path.display().to_string(), why);
        let xml = std::fs::read_to_string(path).map_err(|error| fail(error.to_string()))?;
        let builder = Topology::builder().from_xml(&xml).map_err(|error| fail(error.to_string()))?;
        let topology = builder.build().map_err(|error| fail(error.to_string()))?;
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
        Machine {
            ccds: domains.into_iter().map(|domain| self.ccd(domain)).collect(),
            numa_nodes: u32::try_from(self.topology.objects_with_type(ObjectType::NUMANode).count())
                .unwrap_or(u32::MAX),
            ram_bytes: limit.map_or(ram_bytes, |limit| limit.min(ram_bytes)),
            node_bytes: self.topology.objects_with_type(ObjectType::NUMANode).filter_map(node_of).collect(),
            devices: None,
            is_this_system: self.topology.is_this_system(),
        }
    }

    fn ccd(&self, domain: &TopologyObject) -> Ccd {
        let inside = |object: &&TopologyObject| match (object.cpuset(), domain.cpuset()) {
            (Some(part), Some(whole)) => whole.includes(part),
            _ => false,
        };
        let core = |object: &TopologyObject| Core { cpus: cpus_of(object) };
        let mut cores: Vec<Core> = self.topology.objects_with_type(ObjectType::Core).filter(inside).map(core).collect();
        if cores.is_empty() {
            // Some virtual machines report processors but no cores.
            cores = self.topology.objects_with_type(ObjectType::PU).filter(inside).map(core).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

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
        let error = Hwloc::xml_file(Path::new("missing.xml")).err().unwrap();
        assert!(error.to_string().contains("missing.xml"), "{error}");
    }
}
