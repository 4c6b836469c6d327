//! Whether the machine is the one that the plan was made for.

use super::PlacementError;
use crate::plan::{Gpu, Plan, Sku};
use crate::topology::{Ccd, Core, Device, Machine};

/// What a machine may report less than it was sold with: firmware, kernel and driver keep some memory for themselves.
const KEPT_FOR_THEMSELVES: u64 = 16;

/// Compares every number that the machine tells.
///
/// # Errors
/// All that differs.
pub fn check(plan: &Plan, machine: &Machine, notes: &mut Vec<String>) -> Result<(), PlacementError> {
    let Some(sku) = &plan.sku else { return Ok(()) };
    let what = differences(sku, machine);
    if what.is_empty() {
        notes.extend(not_compared(sku, machine));
        return Ok(());
    }
    Err(PlacementError::OtherMachine { sku: sku.name.clone(), what: what.join("; ") })
}

/// What a description of another machine does not tell, and was not compared.
fn not_compared(sku: &Sku, machine: &Machine) -> Option<String> {
    if sku.gpus.is_empty() {
        return None;
    }
    let Some(devices) = &machine.devices else {
        return Some(
            "the description of the machine tells nothing of devices: they were not compared with the SKU's".to_owned(),
        );
    };
    let silent = devices
        .iter()
        .take(sku.gpus.len())
        .position(|device| device.memory_bytes.is_none() || device.arch.is_none())?;
    let what = match (&devices[silent].memory_bytes, &devices[silent].arch) {
        (None, None) => "memory and architecture",
        (None, _) => "memory",
        _ => "architecture",
    };
    Some(format!(
        "the description of the machine does not tell the {what} of device {silent}: not compared with the SKU's"
    ))
}

/// All that differs, a sentence each: of CCDs, cores and devices the first that does.
fn differences(sku: &Sku, machine: &Machine) -> Vec<String> {
    let mut found = Vec::new();
    if machine.ccds.len() != sku.ccds as usize {
        found.push(format!("it has {} CCDs instead of {}", machine.ccds.len(), sku.ccds));
    }
    let cores = |ccd: &Ccd| ccd.cores.len() != sku.cores_per_ccd as usize;
    if let Some(position) = machine.ccds.iter().position(cores) {
        let has = machine.ccds[position].cores.len();
        found.push(format!(
            "CCD {position} has {has} cores instead of {} (cores outside the process's cpuset do not count)",
            sku.cores_per_ccd
        ));
    }
    let threads = |core: &Core| core.cpus.numbers().len();
    let mut all = machine.ccds.iter().flat_map(|ccd| &ccd.cores);
    if let Some(core) = all.find(|core| threads(core) != sku.threads_per_core as usize) {
        let (has, wanted) = (threads(core), sku.threads_per_core);
        found.push(format!("core {} has {has} hardware threads instead of {wanted}", core.cpus));
    }
    // Some virtual machines tell no L3.
    let mib = |bytes: u64| bytes >> 20;
    let other = |ccd: &&Ccd| ccd.l3_bytes.is_some_and(|has| mib(has) != mib(sku.l3_bytes));
    if let Some(has) = machine.ccds.iter().find(other).and_then(|ccd| ccd.l3_bytes) {
        found.push(format!("its L3 has {} MiB instead of {} MiB", mib(has), mib(sku.l3_bytes)));
    }
    if machine.numa_nodes != sku.numa_nodes {
        found.push(format!("it has {} NUMA nodes instead of {}", machine.numa_nodes, sku.numa_nodes));
    }
    if is_less(machine.ram_bytes, sku.ram_bytes) {
        let gib = |bytes: u64| bytes >> 30;
        found.push(format!("it has {} GiB of memory instead of {}", gib(machine.ram_bytes), gib(sku.ram_bytes)));
    }
    let devices = machine.devices.as_ref();
    found.extend(devices.and_then(|devices| other_devices(&sku.gpus, devices, machine.is_this_system)));
    found
}

fn is_less(has: u64, sold: u64) -> bool {
    has < sold - sold / KEPT_FOR_THEMSELVES
}

/// Devices are compared in the order of their numbers; more than the SKU has are left alone. Those of this machine tell
/// what they are; of a machine that is described, what is not told is not compared.
fn other_devices(wanted: &[Gpu], has: &[Device], here: bool) -> Option<String> {
    if has.len() < wanted.len() {
        return Some(format!("it has {} devices of NVIDIA's instead of {}", has.len(), wanted.len()));
    }
    wanted.iter().zip(has).enumerate().find_map(|(number, (wanted, has))| {
        let name = &has.name;
        if here && (has.arch.is_none() || has.memory_bytes.is_none()) {
            return Some(format!(
                "device {number}, {name}, does not tell its architecture and memory: `nvidia-smi`, the driver's tool, must \
                 answer (see what it says)"
            ));
        }
        if let Some(arch) = has.arch.as_ref().filter(|arch| **arch != wanted.arch) {
            return Some(format!("device {number}, {name}, is {arch} instead of {}", wanted.arch));
        }
        let mib = |bytes: u64| bytes >> 20;
        let memory = has.memory_bytes.filter(|memory| is_less(*memory, wanted.vram_bytes))?;
        Some(format!(
            "device {number}, {name}, has {} MiB of memory instead of {} MiB",
            mib(memory),
            mib(wanted.vram_bytes)
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::threadripper;
    use super::*;

    fn sku() -> Sku {
        Sku {
            name: "tr".into(),
            numa_nodes: 1,
            ccds: 12,
            cores_per_ccd: 8,
            threads_per_core: 2,
            l3_bytes: 33_554_432,
            ram_bytes: 549_755_813_888,
            ram_bandwidth: 0,
            gpus: vec![Gpu { name: "RTX".into(), vram_bytes: 16 << 30, arch: "sm_120".into() }],
        }
    }

    #[test]
    fn another_machine_than_the_sku_is_refused_with_the_number_that_differs() {
        let of = |sku: &Sku| differences(sku, &threadripper()).join("; ");
        assert_eq!(of(&sku()), "");
        assert_eq!(of(&Sku { ccds: 8, ..sku() }), "it has 12 CCDs instead of 8");
        assert_eq!(
            of(&Sku { cores_per_ccd: 6, ..sku() }),
            "CCD 0 has 8 cores instead of 6 (cores outside the process's cpuset do not count)"
        );
        assert_eq!(of(&Sku { threads_per_core: 1, ..sku() }), "core 0,96 has 2 hardware threads instead of 1");
        assert_eq!(of(&Sku { l3_bytes: 96 << 20, ..sku() }), "its L3 has 32 MiB instead of 96 MiB");
        assert_eq!(of(&Sku { numa_nodes: 2, ..sku() }), "it has 1 NUMA nodes instead of 2");
        assert_eq!(of(&Sku { ram_bytes: 1 << 40, ..sku() }), "it has 512 GiB of memory instead of 1024");
        assert_eq!(of(&Sku { ram_bytes: 540 << 30, ..sku() }), "", "the kernel keeps some for itself");
        let other = Sku { numa_nodes: 2, ram_bytes: 1 << 40, ..sku() };
        assert_eq!(
            of(&other),
            "it has 1 NUMA nodes instead of 2; it has 512 GiB of memory instead of 1024",
            "all at once"
        );
    }

    #[test]
    fn a_machine_that_tells_no_l3_is_not_judged_by_it() {
        let mut machine = threadripper();
        machine.ccds.iter_mut().for_each(|ccd| ccd.l3_bytes = None);
        assert_eq!(differences(&sku(), &machine), [""; 0]);
    }

    #[test]
    fn devices_are_those_of_the_sku() {
        let device = |arch: &str, mib: u64| Device {
            name: "RTX".into(),
            memory_bytes: Some(mib << 20),
            arch: Some(arch.into()),
        };
        let of = |devices: Vec<Device>| {
            let machine = Machine { devices: Some(devices), ..threadripper() };
            differences(&sku(), &machine).join("; ")
        };
        assert_eq!(of(vec![device("sm_120", 16_303)]), "");
        assert_eq!(of(vec![device("sm_120", 16_303), device("sm_75", 16_303)]), "", "another one is left alone");
        assert_eq!(of(Vec::new()), "it has 0 devices of NVIDIA's instead of 1");
        assert_eq!(of(vec![device("sm_90", 143_155)]), "device 0, RTX, is sm_90 instead of sm_120");
        assert_eq!(of(vec![device("sm_120", 8_192)]), "device 0, RTX, has 8192 MiB of memory instead of 16384 MiB");
    }

    #[test]
    fn what_a_device_does_not_tell_is_refused_here_and_noted_elsewhere() {
        let silent = Device { name: "NVIDIA device 10de:2c05".into(), memory_bytes: None, arch: None };
        let mut machine = Machine { devices: Some(vec![silent]), ..threadripper() };
        assert_eq!(differences(&sku(), &machine), [""; 0]);
        let note = not_compared(&sku(), &machine).unwrap();
        assert!(note.contains("does not tell the memory and architecture of device 0"), "{note}");
        machine.is_this_system = true;
        let why = differences(&sku(), &machine).join("; ");
        assert!(
            why.starts_with("device 0, NVIDIA device 10de:2c05, does not tell") && why.contains("nvidia-smi"),
            "{why}"
        );
        machine.devices = None;
        assert!(not_compared(&sku(), &machine).unwrap().contains("nothing of devices"));
        assert_eq!(not_compared(&Sku { gpus: Vec::new(), ..sku() }, &machine), None, "there is nothing to compare");
    }

    #[test]
    fn the_error_names_the_sku() {
        let mut plan = crate::testing::empty_plan(0, 0);
        plan.sku = Some(Sku { ccds: 8, ..sku() });
        let error = check(&plan, &threadripper(), &mut Vec::new()).unwrap_err().to_string();
        assert!(
            error.starts_with("this machine is not the SKU `tr`: it has 12 CCDs instead of 8; build for"),
            "{error}"
        );
        plan.sku = None;
        assert_eq!(check(&plan, &threadripper(), &mut Vec::new()), Ok(()), "`sku: any` takes every machine");
    }
}
