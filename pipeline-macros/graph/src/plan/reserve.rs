//! Who reserves the places of an edge, and how many there are.
//!
//! A join waits for tokens of one key on all its edges. If other keys could fill one of those edges first, the key that
//! the join waits for would find no room, and both would wait for ever. So the places of all edges of a join are
//! reserved together, by the stage where the ways to the join part: whoever is let in has its places.
//!
//! That stage is the join's immediate dominator, the last one through which every way from the source to the join leads.
//! No stage behind it lies on all ways from it to the join, so (Menger) two ways from it to the join have nothing else in
//! common; and from no earlier stage are there two such ways, because they all meet again in the dominator. It is
//! therefore the earliest fork from which two disjoint ways lead to the join.

use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};

use super::{Edge, Role, StagePlan};

/// Fills in `reserved_by` of every edge, and the default of every capacity that is 0.
///
/// The default is the number of tokens that the stages from the reservation up to the edge can work on at once: the
/// largest sum of workers × in_flight over a way from the one to the other. With fewer, workers would wait for places;
/// more would only let tokens pile up.
pub fn places(stages: &[StagePlan], edges: &mut [Edge]) {
    let mut graph = DiGraph::<(), ()>::new();
    let nodes: Vec<NodeIndex> = stages.iter().map(|_| graph.add_node(())).collect();
    for edge in edges.iter() {
        graph.add_edge(nodes[edge.from], nodes[edge.to], ());
    }
    let Some(source) = stages.iter().position(|stage| stage.role == Role::Source) else {
        return;
    };
    let dominators = simple_fast(&graph, nodes[source]);
    for (join, stage) in stages.iter().enumerate() {
        let fork = match stage.inputs.as_slice() {
            [] => continue,
            [only] => edges[*only].from,
            _ => dominators.immediate_dominator(nodes[join]).map_or(source, NodeIndex::index),
        };
        let load = heaviest_way(stages, edges, fork, join);
        for edge in &stage.inputs {
            let edge = &mut edges[*edge];
            edge.reserved_by = fork;
            if edge.capacity == 0 {
                edge.capacity = u32::try_from(load).unwrap_or(u32::MAX);
            }
        }
    }
}

/// The largest sum of workers × in_flight over a way from `fork` to `join`, `join` not counted. Stages are in
/// topological order, so one pass from the one to the other sees every stage behind all stages before it.
fn heaviest_way(stages: &[StagePlan], edges: &[Edge], fork: usize, join: usize) -> u64 {
    let own = |stage: usize| u64::from(stages[stage].workers) * u64::from(stages[stage].in_flight);
    let mut sums: Vec<Option<u64>> = vec![None; join + 1 - fork];
    sums[0] = Some(0);
    for stage in fork..join {
        let Some(before) = sums[stage - fork] else { continue };
        let through = before.saturating_add(own(stage));
        for next in stages[stage].outputs.iter().map(|edge| edges[*edge].to).filter(|next| *next <= join) {
            let sum = &mut sums[next - fork];
            *sum = Some(sum.unwrap_or(0).max(through));
        }
    }
    sums[join - fork].unwrap_or_else(|| own(fork))
}

#[cfg(test)]
mod tests {
    use crate::checks::examples;
    use crate::checks::testing::{outcome, with};

    #[test]
    fn the_fork_reserves_the_places_of_the_join() {
        let plan = outcome(examples::FORK_AND_JOIN.text()).plan.expect("the example is good");
        let names: Vec<&str> = plan.stages.iter().map(|stage| stage.name.as_str()).collect();
        assert_eq!(names, ["synthesize", "spmv", "prep_msm", "gpu_ntt_msm", "dealloc"]);
        let edges: Vec<_> =
            plan.edges.iter().map(|edge| (edge.from, edge.to, edge.reserved_by, edge.capacity)).collect();
        // One worker each: a plain edge has a place for the one token of its producer, the join's for two.
        assert_eq!(edges, [(0, 1, 0, 1), (0, 2, 0, 1), (1, 3, 0, 2), (2, 3, 0, 2)]);
    }

    #[test]
    fn default_capacities_count_workers_on_the_heaviest_way() {
        let text = with(examples::FORK_AND_JOIN, "Stage(\"synthesize\",", "Stage(\"synthesize\", workers: 3,");
        let text = text.replace("Stage(\"spmv\",", "Stage(\"spmv\", workers: 4, in_flight: 2,");
        let text =
            text.replace("Edge(\"prep_msm\", \"gpu_ntt_msm\")", "Edge(\"prep_msm\", \"gpu_ntt_msm\", capacity: 5)");
        let plan = outcome(&text).plan.expect("it is good");
        let capacities: Vec<u32> = plan.edges.iter().map(|edge| edge.capacity).collect();
        assert_eq!(capacities, [3, 3, 11, 5]);
    }

    #[test]
    fn two_edges_from_one_stage_are_a_fork() {
        let plan = outcome(crate::checks::dead_part::REDUNDANT.bad.text()).plan.expect("the example is good");
        let edges: Vec<_> = plan.edges.iter().map(|edge| (edge.from, edge.to, edge.port, edge.reserved_by)).collect();
        assert_eq!(edges, [(0, 1, 0, 0), (1, 2, 0, 1), (1, 2, 1, 1)]);
    }
}
