//! Whether the memory of the machine, or what the process may use of it, is enough for the plan.

use super::PlacementError;
use crate::plan::{Ccds, MemoryPlace, MemoryRow, MemoryTable, Plan, Unit};
use crate::topology::Machine;

/// Compares pools of bytes and memory tables with the machine: its RAM, and that of each of several NUMA nodes. A machine
/// that is only described may state no memory; then nothing is compared.
///
/// # Errors
/// There is less than the plan takes.
pub fn check(plan: &Plan, machine: &Machine) -> Result<(), PlacementError> {
    if machine.ram_bytes == 0 {
        return Ok(());
    }
    pools(plan, machine.ram_bytes)?;
    for table in &plan.memory {
        judge(table, "memory", machine.ram_bytes, table.rows.iter().map(|row| (row, row.bytes)))?;
        if machine.node_bytes.len() > 1 {
            nodes(plan, machine, table)?;
        }
    }
    Ok(())
}

/// Those of devices, `vram:N`, are not the machine's.
fn pools(plan: &Plan, has: u64) -> Result<(), PlacementError> {
    let pools = plan.pools.iter().filter(|pool| pool.unit == Unit::Bytes && !pool.name.starts_with("vram:"));
    let pools: Vec<_> = pools.collect();
    let wanted = pools.iter().fold(0_u64, |sum, pool| sum.saturating_add(pool.size));
    if wanted <= has {
        return Ok(());
    }
    let names = pools.iter().map(|pool| format!("`{}`", pool.name)).collect::<Vec<_>>().join(", ");
    Err(PlacementError::Memory { wanted_mib: wanted >> 20, has_mib: has >> 20, pools: names })
}

fn nodes(plan: &Plan, machine: &Machine, table: &MemoryTable) -> Result<(), PlacementError> {
    for (node, bytes) in &machine.node_bytes {
        let what = format!("memory on NUMA node {node}");
        let rows = table.rows.iter().map(|row| (row, share(plan, machine, row, *node)));
        judge(table, &what, *bytes, rows.filter(|(_, bytes)| *bytes > 0))?;
    }
    Ok(())
}

/// The bytes of a row on one node.
fn share(plan: &Plan, machine: &Machine, row: &MemoryRow, node: u32) -> u64 {
    let nodes: Vec<u32> = match &row.on {
        MemoryPlace::Node(only) => vec![*only],
        MemoryPlace::Everywhere => machine.node_bytes.iter().map(|(node, _)| *node).collect(),
        MemoryPlace::Groups(groups) => {
            let used = |ccd: usize| {
                groups.iter().any(|group| match &plan.groups[*group].ccds {
                    Ccds::All => true,
                    Ccds::List(list) => list.iter().any(|own| *own as usize == ccd),
                })
            };
            let ccds = machine.ccds.iter().enumerate().filter(|(ccd, _)| used(*ccd));
            let mut nodes: Vec<u32> = ccds.map(|(_, ccd)| ccd.numa_node).collect();
            nodes.sort_unstable();
            nodes.dedup();
            nodes
        }
    };
    if nodes.contains(&node) { row.bytes.div_ceil(nodes.len() as u64) } else { 0 }
}

fn judge<'a>(
    table: &MemoryTable,
    what: &str,
    has: u64,
    rows: impl Iterator<Item = (&'a MemoryRow, u64)>,
) -> Result<(), PlacementError> {
    let rows: Vec<_> = rows.collect();
    let wanted = rows.iter().fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
    if wanted <= has {
        return Ok(());
    }
    let circuit = table.circuit.as_ref().map(|name| format!(" for the circuit \"{name}\"")).unwrap_or_default();
    let lines: Vec<(String, u64)> = rows.into_iter().map(|(row, bytes)| (row.what.clone(), bytes)).collect();
    let table = lines_of(lines, wanted, has);
    let (wanted, has, what) = (amount(wanted), amount(has), what.to_owned());
    Err(PlacementError::Table { wanted, what, circuit, has, table })
}

/// What takes how much, what that is together, and what there is: a line for each.
#[must_use]
pub fn lines_of(mut lines: Vec<(String, u64)>, wanted: u64, has: u64) -> String {
    lines.extend([("together".to_owned(), wanted), ("there is".to_owned(), has)]);
    let width = lines.iter().map(|(what, _)| what.chars().count()).max().unwrap_or(0);
    let line = |(what, bytes): (String, u64)| format!("  {what:width$}  {:>12}", amount(bytes));
    lines.into_iter().map(line).collect::<Vec<_>>().join("\n")
}

/// In GiB where there is that much, else in MiB.
#[must_use]
pub fn amount(bytes: u64) -> String {
    let gib = f64::from(1 << 30);
    let bytes = bytes as f64;
    if bytes < gib { format!("{:.2} MiB", bytes / f64::from(1 << 20)) } else { format!("{:.2} GiB", bytes / gib) }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{group, plan, threadripper};
    use super::*;
    use crate::plan::{Insist, Share};
    use crate::topology::hwloc::Hwloc;

    fn row(what: &str, gib: u64, on: MemoryPlace) -> MemoryRow {
        MemoryRow { what: what.into(), count: 1, each: gib << 30, bytes: gib << 30, on }
    }

    fn with_table(ccds: Ccds, rows: Vec<MemoryRow>) -> Plan {
        let mut plan = plan(group(ccds, Share::Pack, Insist::Demand), 1, None);
        plan.memory = vec![MemoryTable { circuit: Some("porep".into()), rows }];
        plan
    }

    fn two_nodes() -> Machine {
        Hwloc::synthetic("pack:2 [numa(memory=107374182400)] l3:2 core:2 pu:1").unwrap().machine()
    }

    #[test]
    fn pools_of_bytes_must_fit_the_memory() {
        let mut plan = plan(group(Ccds::All, Share::Pack, Insist::Demand), 1, None);
        plan.pools[0].size = 600 << 30;
        let error = check(&plan, &threadripper()).unwrap_err().to_string();
        assert!(error.contains("take 614400 MiB, this process may use 524288 MiB"), "{error}");
        plan.pools[0].name = "vram:0".into();
        assert_eq!(check(&plan, &threadripper()), Ok(()), "a device has memory of its own");
    }

    #[test]
    fn what_takes_more_than_the_machine_has_is_a_table() {
        let rows = vec![
            row("proving key, resident", 400, MemoryPlace::Everywhere),
            row("`Witness` of `synthesize`", 200, MemoryPlace::Groups(vec![0])),
        ];
        let plan = with_table(Ccds::All, rows);
        assert_eq!(
            check(&plan, &threadripper()).unwrap_err().to_string(),
            "this graph takes 600.00 GiB of memory for the circuit \"porep\", this process may use 512.00 GiB (of the \
             machine, or of its control group); lower what the table shows to be the most: a capacity, the workers of a \
             stage, a pool of bytes\n  \
             proving key, resident        400.00 GiB\n  \
             `Witness` of `synthesize`    200.00 GiB\n  \
             together                     600.00 GiB\n  \
             there is                     512.00 GiB"
        );
        let machine = Machine { ram_bytes: 600 << 30, ..threadripper() };
        assert_eq!(check(&plan, &machine), Ok(()));
        assert_eq!(check(&plan, &Machine { ram_bytes: 0, ..threadripper() }), Ok(()), "nothing is told of its memory");
    }

    #[test]
    fn each_numa_node_has_its_own() {
        // 100 GiB a node; the group is on the second one.
        let on_second = || MemoryPlace::Groups(vec![0]);
        let fits =
            with_table(Ccds::List(vec![2, 3]), vec![row("a", 90, on_second()), row("b", 20, MemoryPlace::Everywhere)]);
        assert_eq!(check(&fits, &two_nodes()), Ok(()));
        let more =
            with_table(Ccds::List(vec![2, 3]), vec![row("a", 95, on_second()), row("b", 20, MemoryPlace::Everywhere)]);
        let error = check(&more, &two_nodes()).unwrap_err().to_string();
        assert!(error.starts_with("this graph takes 105.00 GiB of memory on NUMA node 1 for the circuit"), "{error}");
        let spread = with_table(Ccds::All, vec![row("a", 150, on_second())]);
        assert_eq!(check(&spread, &two_nodes()), Ok(()), "half of it on each");
        let pinned = with_table(Ccds::All, vec![row("pool `ram:0`", 101, MemoryPlace::Node(0))]);
        let error = check(&pinned, &two_nodes()).unwrap_err().to_string();
        assert!(error.contains("on NUMA node 0"), "{error}");
    }
}
