//! A plan as text: what `proofline plan --graph` prints, and what `graphs/plans/` keeps.

use std::fmt::Write;

use crate::checks::memory::draw;
use crate::model::{Ccds, GiveBack, Insist, Linear, SIZES, Share, Unit};
use crate::plan::{Plan, StagePlan, memory};
use crate::words::amount;

/// The plan in tables: pools, groups, stages, edges, and what takes how much memory. Without the digest, so that the text
/// changes only if the plan does.
#[must_use]
pub fn plan(plan: &Plan) -> String {
    let mut text = String::new();
    let sku = plan.sku.as_ref().map_or("any", |sku| &sku.name);
    let _ = writeln!(text, "graph   {} ({})\nsku     {sku}\npolicy  {}", plan.graph, plan.file, plan.policy);
    // Only where the graph says so: else nobody has to read it.
    let give_back =
        (plan.give_back != GiveBack::default()).then(|| format!(", gives back by {}", plan.give_back.word()));
    let _ = writeln!(text, "dealloc {}{}", plan.dealloc.word(), give_back.unwrap_or_default());
    if let Some(load) = plan.load {
        let _ = writeln!(text, "load    {} jobs × {} partitions", load.jobs, load.partitions);
    }
    let size = |size, unit| if unit == Unit::Bytes { amount(size) } else { size.to_string() };
    let pools = plan.pools.iter().map(|pool| vec![pool.name.clone(), size(pool.size, pool.unit)]);
    table(&mut text, "pools", &["name", "size"], pools.collect());
    let groups = plan.groups.iter().map(|group| {
        let ccds = match &group.ccds {
            Ccds::All => "all".to_owned(),
            Ccds::List(list) => crate::checks::placement::ccds(list),
        };
        let word = |is: bool, yes: &str| if is { yes.to_owned() } else { String::new() };
        vec![
            group.name.clone(),
            ccds,
            if group.share == Share::Pack { "one pool" } else { "a pool for each CCD" }.to_owned(),
            if group.insist == Insist::Demand { "demanded" } else { "preferred" }.to_owned(),
            word(group.exclusive, "exclusive"),
            word(group.smt, "smt"),
        ]
    });
    table(&mut text, "groups", &["name", "CCDs", "threads", "binding", "overlap", "cores"], groups.collect());
    let heading =
        ["name", "backend", "tags", "group", "workers", "threads", "in flight", "fires", "needs", "holds", "workspace"];
    table(&mut text, "stages", &heading, plan.stages.iter().map(|stage| stage_row(plan, stage)).collect());
    let edges = plan.edges.iter().enumerate().map(|(number, edge)| {
        let name = |stage: usize| plan.stages[stage].name.clone();
        let by = plan.reserver(number).map_or_else(|| "nobody: taken when sent".to_owned(), name);
        let batch = if edge.batch > 1 { edge.batch.to_string() } else { String::new() };
        vec![name(edge.from), name(edge.to), edge.token.clone(), edge.capacity.to_string(), by, batch]
    });
    table(&mut text, "edges", &["from", "to", "token", "capacity", "place reserved by", "batch"], edges.collect());
    for table in memory::tables(plan).iter().filter(|table| !table.rows.is_empty()) {
        let what = match table.memory {
            memory::Memory::Ram => "RAM".to_owned(),
            memory::Memory::Node(node) => format!("NUMA node {node}"),
            memory::Memory::Device(device) => format!("device {device}"),
        };
        let _ = writeln!(text, "\nmemory: {what}; {}", draw(table));
    }
    text
}

fn stage_row(plan: &Plan, stage: &StagePlan) -> Vec<String> {
    let pool = |pool: usize| plan.pools[pool].name.as_str();
    let bytes = |list: &[(usize, Linear)]| {
        list.iter().map(|(of, bytes)| format!("{} {}", pool(*of), formula(bytes))).collect::<Vec<_>>().join(", ")
    };
    let device = stage.device.map(|device| format!(" {device}")).unwrap_or_default();
    let threads = match (stage.threads, stage.group) {
        (Some(threads), _) => threads.to_string(),
        (None, Some(_)) => "cores".to_owned(),
        (None, None) => "1".to_owned(),
    };
    let needs = stage.needs.iter().map(|(of, weight)| format!("{} {weight}", pool(*of)));
    vec![
        stage.name.clone(),
        format!("{}{device}", stage.backend),
        stage.tags.words().collect::<Vec<_>>().join(" "),
        stage.group.map_or_else(|| "-".to_owned(), |group| plan.groups[group].name.clone()),
        stage.workers.to_string(),
        threads,
        stage.in_flight.to_string(),
        stage.fires.to_string(),
        needs.collect::<Vec<_>>().join(", "),
        bytes(&stage.holds),
        bytes(&stage.workspace),
    ]
}

/// A formula as it would be written in a graph file.
#[must_use]
pub fn formula(bytes: &Linear) -> String {
    let mut terms: Vec<String> = bytes
        .per
        .iter()
        .zip(SIZES)
        .filter(|(factor, _)| **factor > 0)
        .map(|(factor, size)| format!("{factor} * {size}"))
        .collect();
    if bytes.fixed > 0 || terms.is_empty() {
        terms.push(amount(bytes.fixed));
    }
    terms.join(" + ")
}

/// Columns as wide as their widest cell; those that are empty in every row are left out.
fn table(text: &mut String, name: &str, heading: &[&str], rows: Vec<Vec<String>>) {
    if rows.is_empty() {
        return;
    }
    let used: Vec<usize> =
        (0..heading.len()).filter(|column| rows.iter().any(|row| !row[*column].is_empty())).collect();
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).chain([heading[column].chars().count()]).max()
    };
    let widths: Vec<usize> = used.iter().map(|column| width(*column).unwrap_or(0)).collect();
    let line = |cells: Vec<&str>| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        format!("  {}", cells.collect::<Vec<_>>().join("  ")).trim_end().to_owned()
    };
    let _ = writeln!(text, "\n{name}\n{}", line(used.iter().map(|column| heading[*column]).collect()));
    for row in &rows {
        let _ = writeln!(text, "{}", line(used.iter().map(|column| row[*column].as_str()).collect()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::{examples, testing};

    #[test]
    fn formulas_are_written_as_they_are_read() {
        assert_eq!(formula(&Linear { fixed: 1 << 20, per: [0, 32, 0, 0, 0, 0] }), "32 * aux + 1 MiB");
        assert_eq!(formula(&Linear::default()), "0 B");
    }

    #[test]
    fn every_part_of_the_plan_is_there() {
        let made = testing::outcome(examples::FORK_AND_JOIN.text()).plan.expect("the example is good");
        let text = plan(&made);
        for part in [
            "pools\n  name       size",
            "all   all   one pool  demanded",
            "mem_heavy 2",
            "spmv        gpu_ntt_msm  Evaluated   2         synthesize",
        ] {
            assert!(text.contains(part), "`{part}` is not in\n{text}");
        }
    }

    #[test]
    fn how_memory_goes_back_is_there_where_the_graph_says_so() {
        let of = |fields: &str| {
            let graph = examples::FORK_AND_JOIN.text().replacen("version: 1,", &format!("version: 1,{fields}"), 1);
            plan(&testing::outcome(&graph).plan.expect("the example is good"))
        };
        assert!(of("").contains("\ndealloc recycle\n"));
        let text = of(" dealloc: bounded_free, give_back: dont_need,");
        assert!(text.contains("\ndealloc bounded_free, gives back by dont_need\n"), "{text}");
    }
}
