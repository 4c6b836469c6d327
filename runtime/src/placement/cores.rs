//! Whether the machine has cores for the threads of the plan.

use super::{Placement, PlacementError};
use crate::plan::{Group, Insist, Plan, Share};
use crate::topology::Machine;

/// Compares workers × threads of each stage with the cores of its CCDs; with `smt`, with their hardware threads. Workers
/// whose threads are not stated share the cores, so of them only the workers count.
///
/// # Errors
/// There are fewer, and the group demands its placement. Where it prefers it, that is a note.
pub fn check(
    plan: &Plan,
    machine: &Machine,
    ccds_of_group: &[Vec<u32>],
    notes: &mut Vec<String>,
) -> Result<(), PlacementError> {
    for stage in &plan.stages {
        let Some((group, ccds)) = stage.group.map(|group| (&plan.groups[group], &ccds_of_group[group])) else {
            continue;
        };
        let workers = u64::from(stage.workers);
        let (there, each, place) = match group.share {
            Share::Pack => (workers, units(machine, group, ccds), "group"),
            Share::Spread => {
                let fewest = ccds.iter().map(|ccd| units(machine, group, &[*ccd])).min().unwrap_or(0);
                (workers.div_ceil(ccds.len().max(1) as u64), fewest, "a CCD of group")
            }
        };
        let wanted = there * u64::from(stage.threads.unwrap_or(1));
        if wanted <= each {
            continue;
        }
        let threads = match stage.threads {
            Some(threads) if there > 1 => format!("{there} workers × {threads} threads = {wanted} threads"),
            Some(_) => format!("{wanted} threads"),
            None => format!("{wanted} workers"),
        };
        let has = format!("{each} {}", unit(group, each));
        if group.insist == Insist::Demand {
            let (stage, group) = (stage.name.clone(), group.name.clone());
            return Err(PlacementError::Threads { stage, threads, place, group, has });
        }
        notes.push(format!(
            "stage `{}` puts {threads} on {place} `{}`, which has {has} here: they share them",
            stage.name, group.name
        ));
    }
    Ok(())
}

/// Notes groups whose stages state different numbers of threads, which are threads of their own, if these are together
/// more than the cores.
pub fn note_pools_that_share(plan: &Plan, machine: &Machine, placement: &mut Placement) {
    for (position, group) in plan.groups.iter().enumerate() {
        let stated = |threads: usize| {
            let of_group = plan.stages.iter().filter(|stage| stage.group == Some(position));
            of_group.filter_map(|stage| stage.threads).any(|stated| stated as usize == threads)
        };
        let pools = placement.pools.iter().filter(|pool| pool.group == position && stated(pool.threads));
        let pools: Vec<_> = pools.collect();
        // Pools on the same CCDs compete; of a `Spread` group the first CCD stands for all.
        let Some(first) = pools.first() else { continue };
        let sharing: Vec<usize> =
            pools.iter().filter(|pool| pool.ccds == first.ccds).map(|pool| pool.threads).collect();
        let (sum, has) = (sharing.iter().sum::<usize>() as u64, units(machine, group, &first.ccds));
        if sharing.len() > 1 && sum > has {
            let each: Vec<String> = sharing.iter().map(usize::to_string).collect();
            placement.notes.push(format!(
                "stages on group `{}` have {} threads of their own, {sum} together, and there are {has} {}: they slow each \
                 other where they run at once",
                group.name,
                each.join(" and "),
                unit(group, has)
            ));
        }
    }
}

/// The cores of some CCDs, or their hardware threads.
fn units(machine: &Machine, group: &Group, ccds: &[u32]) -> u64 {
    let cores = ccds.iter().flat_map(|ccd| &machine.ccds[*ccd as usize].cores);
    cores.map(|core| if group.smt { core.cpus.numbers().len() as u64 } else { 1 }).sum()
}

fn unit(group: &Group, count: u64) -> &'static str {
    match (group.smt, count) {
        (true, 1) => "hardware thread",
        (true, _) => "hardware threads",
        (false, 1) => "core",
        (false, _) => "cores",
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{group, plan, threadripper};
    use super::super::{Placement, PlacementError, place};
    use crate::plan::{Ccds, Group, Insist, Share};

    fn two_ccds(share: Share, insist: Insist) -> Group {
        group(Ccds::List(vec![10, 11]), share, insist)
    }

    fn placed(group: Group, workers: u32, threads: Option<u32>) -> Result<Placement, PlacementError> {
        place(&plan(group, workers, threads), &threadripper())
    }

    #[test]
    fn more_threads_than_cores_fail_what_demands_them() {
        let error = placed(two_ccds(Share::Pack, Insist::Demand), 3, Some(8)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "stage `spmv` puts 3 workers × 8 threads = 24 threads on group `g`, which has 16 cores here; lower `workers` \
             or `threads`, write `smt: true` on the group to use hardware threads, or `insist: Prefer` to run all the \
             same"
        );
        let smt = Group { smt: true, ..two_ccds(Share::Pack, Insist::Demand) };
        assert!(placed(smt, 3, Some(8)).is_ok(), "32 hardware threads");
        let error = placed(two_ccds(Share::Spread, Insist::Demand), 3, Some(8)).unwrap_err().to_string();
        assert!(
            error.contains("2 workers × 8 threads = 16 threads on a CCD of group `g`, which has 8 cores"),
            "{error}"
        );
        assert!(placed(two_ccds(Share::Pack, Insist::Demand), 16, None).is_ok());
        let error = placed(two_ccds(Share::Pack, Insist::Demand), 17, None).unwrap_err().to_string();
        assert!(error.contains("puts 17 workers on group"), "{error}");
    }

    #[test]
    fn more_threads_than_cores_are_noted_where_they_are_preferred() {
        let placement = placed(two_ccds(Share::Pack, Insist::Prefer), 1, Some(17)).unwrap();
        assert_eq!(
            placement.notes,
            ["stage `spmv` puts 17 threads on group `g`, which has 16 cores here: they share them"]
        );
    }

    #[test]
    fn pools_of_several_stages_on_one_group_are_summed() {
        let mut plan = plan(two_ccds(Share::Pack, Insist::Demand), 1, Some(10));
        plan.stages.insert(1, plan.stages[0].clone());
        let notes = |plan: &crate::plan::Plan| place(plan, &threadripper()).unwrap().notes;
        assert_eq!(notes(&plan), [""; 0], "the same number is the same pool");
        plan.stages[1].threads = Some(7);
        assert_eq!(
            notes(&plan),
            ["stages on group `g` have 10 and 7 threads of their own, 17 together, and there are 16 cores: they slow \
                 each other where they run at once"]
        );
        plan.stages[1].threads = Some(6);
        assert_eq!(notes(&plan), [""; 0]);
        plan.stages[1].threads = None;
        assert_eq!(notes(&plan), [""; 0], "what states no number takes the cores that are idle");
    }
}
