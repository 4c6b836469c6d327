//! The fields of a graph that can be changed: what they may be, and what they are.

use pipeline_runtime::plan::{Ccds, Plan, Role, Share, Unit};

use crate::{Axis, Study};

/// The fields of a graph that a search may change, with the values that it tries: workers and threads of the stages,
/// counted pools, capacities of the edges, the policy.
#[must_use]
pub fn free_fields(study: &Study) -> Vec<Axis> {
    const POLICIES: [&str; 3] = ["oldest_first", "critical_path", "shortest_stage_first"];
    let plan = study.plan();
    let axis = |path: String, values: Vec<u32>| Axis { path, values: values.iter().map(u32::to_string).collect() };
    let mut axes = Vec::new();
    let cores = study.machine.as_ref().map_or(1, |machine| machine.cores() * machine.threads_per_core);
    for stage in plan.stages.iter().filter(|stage| stage.role != Role::Dealloc) {
        let ccds = stage.group.map_or(0, |group| group_size(&plan, group, study));
        let most = (2 * stage.workers + 2).max(ccds).min(32);
        axes.push(axis(format!("stages.{}.workers", stage.name), (1..=most).collect()));
        if stage.threads.is_some() {
            let threads = [4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256];
            let threads = threads.into_iter().filter(|threads| *threads <= cores).chain(stage.threads);
            let mut threads: Vec<u32> = threads.collect();
            threads.sort_unstable();
            threads.dedup();
            axes.push(axis(format!("stages.{}.threads", stage.name), threads));
        }
    }
    for pool in plan.pools.iter().filter(|pool| pool.unit == Unit::Count) {
        let size = u32::try_from(pool.size).unwrap_or(u32::MAX);
        axes.push(axis(
            format!("pools.{}", pool.name),
            (1..=size.saturating_mul(2).saturating_add(2).min(64)).collect(),
        ));
    }
    for edge in &plan.edges {
        let (from, to) = (&plan.stages[edge.from].name, &plan.stages[edge.to].name);
        let path = format!("edges.{from}.{to}.capacity");
        // Stated capacity; what the plan adds for blocking sends is not the file's.
        let stated = study.capacity(edge.from, edge.to);
        axes.push(axis(path, (1..=(2 * stated + 2).min(32)).collect()));
    }
    let mut policies: Vec<String> = POLICIES.iter().map(|name| (*name).to_owned()).collect();
    if !policies.contains(&plan.policy) {
        policies.insert(0, plan.policy.clone());
    }
    axes.push(Axis { path: "policy".into(), values: policies });
    axes
}

fn group_size(plan: &Plan, group: usize, study: &Study) -> u32 {
    let all = study.machine.as_ref().map_or(1, |machine| machine.ccds.len());
    let group = &plan.groups[group];
    let ccds = match &group.ccds {
        Ccds::All => all,
        Ccds::List(list) => list.len(),
    };
    if group.share == Share::Spread { u32::try_from(ccds).unwrap_or(1) } else { 0 }
}

impl Study {
    /// The capacity of the edge between two stages, as the file states it.
    pub(crate) fn capacity(&self, from: usize, to: usize) -> u32 {
        let ends = |edge: &&pipeline_graph::plan::Edge| (edge.from, edge.to) == (from, to);
        self.graph.edges.iter().find(ends).map_or(1, |edge| edge.capacity)
    }

    /// What a field has now; `None` where the graph leaves it to the stage.
    pub(crate) fn value_of(&self, path: &str) -> Option<String> {
        let words: Vec<&str> = path.split('.').collect();
        let stage = |name: &str| self.graph.stages.iter().find(|stage| stage.name == name);
        match words.as_slice() {
            ["stages", name, "workers"] => stage(name).map(|stage| stage.workers.to_string()),
            ["stages", name, "in_flight"] => stage(name).map(|stage| stage.in_flight.to_string()),
            ["stages", name, "threads"] => stage(name)?.threads.map(|threads| threads.to_string()),
            ["stages", name, "needs", pool] => {
                let at = self.graph.pools.iter().position(|other| other.name == *pool)?;
                let needs = &stage(name)?.needs;
                needs.iter().find(|(pool, _)| *pool == at).map(|(_, weight)| weight.to_string())
            }
            ["pools", pool] => {
                self.graph.pools.iter().find(|other| other.name == *pool).map(|pool| pool.size.to_string())
            }
            ["edges", from, to, "capacity"] => {
                let at = |name: &str| self.graph.stages.iter().position(|stage| stage.name == name);
                Some(self.capacity(at(from)?, at(to)?).to_string())
            }
            ["policy"] => Some(self.graph.policy.clone()),
            _ => None,
        }
    }
}
