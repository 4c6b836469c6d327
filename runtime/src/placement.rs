//! Where the workers of a plan go on a machine: a pure function.

mod cores;
mod memory;
mod sku;

pub use memory::{amount, lines_of};

use crate::plan::{Ccds, Group, Insist, Plan, Share};
use crate::topology::{Cpus, Machine};

/// The threads of one rayon pool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PoolPlace {
    /// The group that it belongs to.
    pub group: usize,
    /// Its CCDs: one for a `Spread` group, all of the group's for a `Pack` group.
    pub ccds: Vec<u32>,
    /// Threads.
    pub threads: usize,
    /// The processors that the threads are bound to.
    pub cpus: Cpus,
}

/// One worker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkerPlace {
    /// The stage.
    pub stage: usize,
    /// The worker of that stage.
    pub worker: u32,
    /// Its CCDs; empty for a stage without a group, which may run anywhere.
    pub ccds: Vec<u32>,
    /// The processors that it is bound to; empty for a stage without a group.
    pub cpus: Cpus,
    /// Its pool, by position in [`Placement::pools`].
    pub pool: Option<usize>,
}

/// Where everything goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placement {
    /// The pools.
    pub pools: Vec<PoolPlace>,
    /// The workers, stage by stage.
    pub workers: Vec<WorkerPlace>,
    /// What could not be had and was only preferred: one sentence each.
    pub notes: Vec<String>,
}

/// A placement that the plan demands and the machine does not have.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PlacementError {
    /// A group names CCDs beyond the machine's.
    #[error(
        "group `{group}` asks for CCD {wanted}, this machine has {has} (0-{last}); \
         change the group's CCDs, or write `insist: Prefer` to run without them"
    )]
    NoSuchCcd {
        /// The group.
        group: String,
        /// The first CCD that is not there.
        wanted: u32,
        /// How many there are.
        has: usize,
        /// The number of the last one.
        last: usize,
    },
    /// The machine is not the SKU of the plan.
    #[error("this machine is not the SKU `{sku}`: {what}; build for this machine, or write `sku: any`")]
    OtherMachine {
        /// The SKU.
        sku: String,
        /// Which number differs.
        what: String,
    },
    /// The plan's pools of bytes are larger than the memory that the process may use.
    #[error(
        "the pools of memory take {wanted_mib} MiB, this process may use {has_mib} MiB (of the machine, or of its control \
         group); lower the pools {pools}"
    )]
    Memory {
        /// What the pools have together, in MiB.
        wanted_mib: u64,
        /// What the process may use, in MiB.
        has_mib: u64,
        /// The pools, as a sentence has them.
        pools: String,
    },
    /// What can be alive at once takes more memory than there is.
    #[error(
        "this graph takes {wanted} of {what}{circuit}, this process may use {has} (of the machine, or of its control \
         group); lower what the table shows to be the most: a capacity, the workers of a stage, a pool of bytes\n{table}"
    )]
    Table {
        /// What it takes together.
        wanted: String,
        /// Which memory.
        what: String,
        /// For which circuit; empty where it does not depend on the circuit.
        circuit: String,
        /// What there is.
        has: String,
        /// What takes how much.
        table: String,
    },
    /// The workers of a stage have more threads than their CCDs have cores.
    #[error(
        "stage `{stage}` puts {threads} on {place} `{group}`, which has {has} here; lower `workers` or `threads`, write \
         `smt: true` on the group to use hardware threads, or `insist: Prefer` to run all the same"
    )]
    Threads {
        /// The stage.
        stage: String,
        /// The workers and their threads, as a sentence has them.
        threads: String,
        /// Where: `group`, or `a CCD of group`.
        place: &'static str,
        /// The group.
        group: String,
        /// What there is.
        has: String,
    },
    /// hwloc found nothing to run on.
    #[error("no processor may be used: the process's cpuset is empty")]
    NoProcessors,
}

/// Places the workers of `plan` on `machine`.
///
/// Worker `i` of a `Spread` group gets the group's CCD number `i` modulo their count; the stages of a group share its
/// pools, but for stages that state another number of threads. The workers of a `Pack` group share one pool.
///
/// # Errors
/// The machine lacks what the plan demands.
pub fn place(plan: &Plan, machine: &Machine) -> Result<Placement, PlacementError> {
    if machine.ccds.is_empty() {
        return Err(PlacementError::NoProcessors);
    }
    let mut placement = Placement { pools: Vec::new(), workers: Vec::new(), notes: Vec::new() };
    sku::check(plan, machine, &mut placement.notes)?;
    memory::check(plan, machine)?;
    let ccds_of_group =
        plan.groups.iter().map(|group| ccds_of(group, machine, &mut placement.notes)).collect::<Result<Vec<_>, _>>()?;
    cores::check(plan, machine, &ccds_of_group, &mut placement.notes)?;
    for (position, stage) in plan.stages.iter().enumerate() {
        for worker in 0..stage.workers {
            let Some(group) = stage.group else {
                let (ccds, cpus) = (Vec::new(), Cpus::default());
                placement.workers.push(WorkerPlace { stage: position, worker, ccds, cpus, pool: None });
                continue;
            };
            let all = &ccds_of_group[group];
            let ccds = match plan.groups[group].share {
                Share::Spread => vec![all[worker as usize % all.len()]],
                Share::Pack => all.clone(),
            };
            let cores: usize = ccds.iter().map(|ccd| machine.ccds[*ccd as usize].cores.len()).sum();
            let threads = stage.threads.map_or(cores, |threads| threads as usize).max(1);
            let cpus = cpus_of(&ccds, machine);
            let pool = PoolPlace { group, ccds: ccds.clone(), threads, cpus: cpus.clone() };
            let pool = placement.pool(pool);
            placement.workers.push(WorkerPlace { stage: position, worker, ccds, cpus, pool: Some(pool) });
        }
    }
    cores::note_pools_that_share(plan, machine, &mut placement);
    Ok(placement)
}

impl Placement {
    fn pool(&mut self, wanted: PoolPlace) -> usize {
        if let Some(position) = self.pools.iter().position(|pool| *pool == wanted) {
            return position;
        }
        self.pools.push(wanted);
        self.pools.len() - 1
    }
}

fn cpus_of(ccds: &[u32], machine: &Machine) -> Cpus {
    let cpus = |ccd: &u32| machine.ccds[*ccd as usize].cpus().numbers().to_vec();
    Cpus::new(ccds.iter().flat_map(cpus).collect())
}

fn ccds_of(group: &Group, machine: &Machine, notes: &mut Vec<String>) -> Result<Vec<u32>, PlacementError> {
    let has = machine.ccds.len();
    let all: Vec<u32> = (0..).take(has).collect();
    let Ccds::List(wanted) = &group.ccds else {
        return Ok(all);
    };
    let Some(missing) = wanted.iter().find(|ccd| **ccd as usize >= has) else {
        return Ok(wanted.clone());
    };
    if group.insist == Insist::Demand {
        let group = group.name.clone();
        return Err(PlacementError::NoSuchCcd { group, wanted: *missing, has, last: has - 1 });
    }
    let present: Vec<u32> = wanted.iter().copied().filter(|ccd| (*ccd as usize) < has).collect();
    let present = if present.is_empty() { all } else { present };
    notes.push(format!("group `{}` prefers CCD {missing}, this machine has {has}; it runs on {present:?}", group.name));
    Ok(present)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Role;
    use crate::testing::{empty_plan, stage};
    use crate::topology::hwloc::Hwloc;

    pub(super) fn threadripper() -> Machine {
        let description = "pack:1 [numa(memory=549755813888)] l3:12(size=33554432) core:8 pu:2(indexes=2*96:1*2)";
        Hwloc::synthetic(description).unwrap().machine()
    }

    pub(super) fn group(ccds: Ccds, share: Share, insist: Insist) -> Group {
        Group { name: "g".into(), ccds, share, exclusive: false, insist, smt: false }
    }

    pub(super) fn plan(group: Group, workers: u32, threads: Option<u32>) -> Plan {
        let mut plan = empty_plan(0, 0);
        plan.groups = vec![group];
        let mut spmv = stage("spmv", Role::Source, workers, 0, false);
        (spmv.group, spmv.threads) = (Some(0), threads);
        plan.stages = vec![spmv, stage("assemble", Role::Sink, 1, 0, false)];
        plan
    }

    #[test]
    fn spread_workers_go_round_the_ccds_one_pool_each() {
        let group = group(Ccds::List(vec![2, 5, 7]), Share::Spread, Insist::Demand);
        let placement = place(&plan(group, 4, None), &threadripper()).unwrap();
        let ccds: Vec<_> = placement.workers.iter().map(|worker| worker.ccds.clone()).collect();
        assert_eq!(ccds, [vec![2], vec![5], vec![7], vec![2], vec![]]);
        assert_eq!(placement.pools.len(), 3);
        assert_eq!(placement.pools[1].cpus.to_string(), "40-47,136-143");
        assert_eq!(placement.pools[1].threads, 8, "a thread a core, not one a hardware thread");
        assert_eq!(placement.workers[3].pool, Some(0));
    }

    #[test]
    fn packed_workers_share_one_pool_over_all_ccds() {
        let group = group(Ccds::List(vec![10, 11]), Share::Pack, Insist::Demand);
        let placement = place(&plan(Group { smt: true, ..group }, 2, Some(16)), &threadripper()).unwrap();
        assert_eq!(placement.pools.len(), 1);
        assert_eq!((placement.pools[0].threads, &placement.pools[0].ccds[..]), (16, &[10, 11][..]));
        assert_eq!(placement.workers[1].cpus.to_string(), "80-95,176-191");
    }

    #[test]
    fn all_means_what_the_machine_has() {
        let machine = Hwloc::synthetic("l3:3 core:2 pu:1").unwrap().machine();
        let placement = place(&plan(group(Ccds::All, Share::Pack, Insist::Demand), 1, None), &machine).unwrap();
        assert_eq!((placement.pools[0].threads, placement.pools[0].cpus.to_string().as_str()), (6, "0-5"));
    }

    #[test]
    fn a_ccd_that_is_not_there_fails_what_demands_it() {
        let group = group(Ccds::List(vec![0, 12]), Share::Pack, Insist::Demand);
        let error = place(&plan(group, 1, None), &threadripper()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "group `g` asks for CCD 12, this machine has 12 (0-11); change the group's CCDs, or write `insist: Prefer` \
             to run without them"
        );
    }

    #[test]
    fn a_ccd_that_is_not_there_is_noted_where_it_is_preferred() {
        let group = group(Ccds::List(vec![0, 12]), Share::Pack, Insist::Prefer);
        let placement = place(&plan(group, 1, None), &threadripper()).unwrap();
        assert_eq!(placement.workers[0].ccds, [0]);
        assert_eq!(placement.notes, ["group `g` prefers CCD 12, this machine has 12; it runs on [0]"]);
    }
}
