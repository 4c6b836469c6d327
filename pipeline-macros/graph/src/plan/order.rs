//! The order of the stages.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::resolve::Resolved;

/// The stages in topological order, `dealloc` last; of several that may come next, the one that the file has first.
pub fn topological(graph: &Resolved<'_>) -> Vec<usize> {
    let mut waits_for = vec![0_usize; graph.stages.len()];
    let mut leaving = vec![Vec::new(); graph.stages.len()];
    for edge in &graph.edges {
        waits_for[edge.to] += 1;
        leaving[edge.from].push(edge.to);
    }
    let is_dealloc = |stage: &usize| graph.stages[*stage].is_dealloc();
    let ready = (0..graph.stages.len()).filter(|stage| waits_for[*stage] == 0 && !is_dealloc(stage));
    let mut ready: BinaryHeap<Reverse<usize>> = ready.map(Reverse).collect();
    let mut order = Vec::with_capacity(graph.stages.len());
    while let Some(Reverse(stage)) = ready.pop() {
        order.push(stage);
        for next in &leaving[stage] {
            waits_for[*next] -= 1;
            if waits_for[*next] == 0 {
                ready.push(Reverse(*next));
            }
        }
    }
    order.extend((0..graph.stages.len()).filter(is_dealloc));
    order
}
