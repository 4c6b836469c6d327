//! Binds threads to processors, and reads back whether it holds.

use crate::topology::Cpus;
use crate::topology::hwloc::Hwloc;
use hwlocality::cpu::binding::CpuBindingFlags;
use hwlocality::cpu::cpuset::CpuSet;
use hwlocality::object::types::ObjectType;
use hwlocality::topology::support::{CpuBindingSupport, FeatureSupport};

/// How threads are bound on this machine.
#[derive(Clone)]
pub enum Binder {
    /// hwloc: to any set of processors.
    Hwloc(Hwloc),
    /// `core_affinity`, where hwloc has no binding support: to one processor of the set.
    CoreAffinity,
    /// Nothing: the machine is only described, so threads float.
    Floating,
}

/// What became of one thread's binding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Bound {
    /// Read back from the system: the thread runs inside the set.
    Holds(Cpus),
    /// The thread floats, and why.
    Floats(String),
}

impl Binder {
    /// The best way there is on the machine that `hwloc` describes.
    #[must_use]
    pub fn of(hwloc: &Hwloc) -> Self {
        if !hwloc.topology.is_this_system() {
            return Self::Floating;
        }
        let binds = hwloc.topology.supports(FeatureSupport::cpu_binding, CpuBindingSupport::set_current_thread);
        let reads = hwloc.topology.supports(FeatureSupport::cpu_binding, CpuBindingSupport::get_current_thread);
        if binds && reads { Self::Hwloc(hwloc.clone()) } else { Self::CoreAffinity }
    }

    /// Binds the calling thread to `cpus`. `nth` picks the processor where only one can be had.
    #[must_use]
    pub fn bind_this_thread(&self, cpus: &Cpus, nth: usize) -> Bound {
        match self {
            Self::Hwloc(hwloc) => bind_by_hwloc(hwloc, cpus),
            Self::CoreAffinity => bind_by_core_affinity(cpus, nth),
            Self::Floating => Bound::Floats("this machine is only described, its threads cannot be bound".into()),
        }
    }
}

fn bind_by_hwloc(hwloc: &Hwloc, cpus: &Cpus) -> Bound {
    let set: CpuSet = hwloc
        .topology
        .objects_with_type(ObjectType::PU)
        .filter(|pu| pu.os_index().is_some_and(|number| cpus.numbers().iter().any(|cpu| *cpu as usize == number)))
        .filter_map(|pu| pu.cpuset())
        .fold(CpuSet::new(), |all, pu| all | pu);
    if let Err(error) = hwloc.topology.bind_cpu(&set, CpuBindingFlags::THREAD) {
        return Bound::Floats(format!("hwloc cannot bind to {cpus}: {error}"));
    }
    match hwloc.topology.cpu_binding(CpuBindingFlags::THREAD) {
        Err(error) => Bound::Floats(format!("hwloc cannot read the binding to {cpus} back: {error}")),
        Ok(read) => {
            let numbers = read.iter_set().filter_map(|cpu| u32::try_from(usize::from(cpu)).ok()).collect();
            held(cpus, Cpus::new(numbers))
        }
    }
}

fn bind_by_core_affinity(cpus: &Cpus, nth: usize) -> Bound {
    let count = cpus.numbers().len().max(1);
    let Some(&cpu) = cpus.numbers().get(nth % count) else {
        return Bound::Floats("there is no processor to bind to".into());
    };
    if !core_affinity::set_for_current(core_affinity::CoreId { id: cpu as usize }) {
        return Bound::Floats(format!("the system refused to bind to processor {cpu}"));
    }
    let ids = core_affinity::get_core_ids().unwrap_or_default();
    held(cpus, Cpus::new(ids.iter().filter_map(|core| u32::try_from(core.id).ok()).collect()))
}

fn held(wanted: &Cpus, read: Cpus) -> Bound {
    if !read.numbers().is_empty() && read.inside(wanted) {
        Bound::Holds(read)
    } else {
        Bound::Floats(format!("bound to {wanted}, but the system says {read}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a thread of its own, so that the test's thread stays free.
    fn bind(binder: Binder, cpus: Cpus, nth: usize) -> Bound {
        std::thread::spawn(move || binder.bind_this_thread(&cpus, nth)).join().unwrap()
    }

    fn one_cpu() -> (Hwloc, Cpus) {
        let hwloc = Hwloc::this_system().unwrap();
        let cpu = hwloc.machine().ccds[0].cpus().numbers()[0];
        (hwloc, Cpus::new(vec![cpu]))
    }

    #[test]
    fn hwloc_binds_and_the_binding_is_read_back() {
        let (hwloc, cpus) = one_cpu();
        assert_eq!(bind(Binder::of(&hwloc), cpus.clone(), 0), Bound::Holds(cpus));
    }

    #[test]
    fn core_affinity_binds_to_one_processor_of_the_set() {
        let (hwloc, _) = one_cpu();
        let all = hwloc.machine().ccds[0].cpus();
        let second = all.numbers()[1 % all.numbers().len()];
        assert_eq!(bind(Binder::CoreAffinity, all, 1), Bound::Holds(Cpus::new(vec![second])));
    }

    #[test]
    fn a_described_machine_binds_nothing_and_says_so() {
        let hwloc = Hwloc::synthetic("l3:2 core:2 pu:1").unwrap();
        let bound = bind(Binder::of(&hwloc), Cpus::new(vec![0]), 0);
        assert_eq!(bound, Bound::Floats("this machine is only described, its threads cannot be bound".into()));
    }

    #[test]
    fn a_processor_that_is_not_there_floats() {
        let (hwloc, _) = one_cpu();
        assert!(matches!(bind(Binder::of(&hwloc), Cpus::new(vec![100_000]), 0), Bound::Floats(_)));
    }
}
