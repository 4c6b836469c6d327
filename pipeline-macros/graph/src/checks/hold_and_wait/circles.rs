//! Circles of the wait-for graph.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::waits::{Keep, Thing, Waits};

/// The wait-for graph by numbers: workers, pools, edges, and a node for the start of each stage, which stands between those
/// that wait for it and what it waits for.
struct Net {
    things: Vec<Thing>,
    /// By thing: the things that it waits for without a start between them, in order.
    next: Vec<Vec<usize>>,
    /// By thing: the stages whose starts it waits for.
    starts: Vec<Vec<usize>>,
    /// By stage: the things that its start waits for.
    wants: Vec<Vec<usize>>,
}

/// A circle of each knot.
pub(super) fn circles(waits: &Waits<'_>) -> Vec<Vec<Thing>> {
    let net = Net::of(waits);
    let circles: Vec<Vec<usize>> = net.knots().iter().filter_map(|knot| net.shortest_circle(knot)).collect();
    circles.into_iter().map(|circle| circle.into_iter().map(|node| net.things[node]).collect()).collect()
}

impl Net {
    fn of(waits: &Waits<'_>) -> Self {
        let plan = waits.graph.plan;
        let (stages, pools, edges) = (plan.stages.len(), plan.pools.len(), plan.edges.len());
        let number = |thing: &Thing| match *thing {
            Thing::Workers(stage) => stage,
            Thing::Permits(pool) => stages + pool,
            Thing::Places(edge) => stages + pools + edge,
        };
        let things = (0..stages).map(Thing::Workers).chain((0..pools).map(Thing::Permits));
        let things: Vec<Thing> = things.chain((0..edges).map(Thing::Places)).collect();
        let (mut next, mut starts) = (vec![Vec::new(); things.len()], vec![Vec::new(); things.len()]);
        waits.held.keys().for_each(|(from, to)| next[number(from)].push(number(to)));
        for (edge, keeps) in waits.keeps.iter().enumerate() {
            let from = number(&Thing::Places(edge));
            for keep in keeps {
                match *keep {
                    Keep::Start(stage) | Keep::PartnersStart(stage) => starts[from].push(stage),
                    Keep::Partner(other) => next[from].push(number(&Thing::Places(other))),
                }
            }
        }
        next.iter_mut().for_each(|next| next.sort_unstable());
        let wants = waits.starts.iter().map(|wants| wants.iter().map(number).collect()).collect();
        Self { things, next, starts, wants }
    }

    /// The things of each strongly connected component, both in order.
    fn knots(&self) -> Vec<Vec<usize>> {
        let things = self.things.len();
        let mut graph = DiGraph::<(), ()>::new();
        (0..things + self.wants.len()).for_each(|_| {
            graph.add_node(());
        });
        let mut add = |from: usize, to: usize| {
            graph.add_edge(NodeIndex::new(from), NodeIndex::new(to), ());
        };
        for (from, (next, starts)) in self.next.iter().zip(&self.starts).enumerate() {
            next.iter().for_each(|to| add(from, *to));
            starts.iter().for_each(|stage| add(from, things + stage));
        }
        for (stage, wants) in self.wants.iter().enumerate() {
            wants.iter().for_each(|to| add(things + stage, *to));
        }
        let is_thing = |node: &usize| *node < things;
        let knots = kosaraju_scc(&graph).into_iter();
        let knots = knots.map(|knot| knot.into_iter().map(NodeIndex::index).filter(is_thing).collect());
        let mut knots: Vec<Vec<usize>> = knots.filter(|knot: &Vec<usize>| !knot.is_empty()).collect();
        knots.iter_mut().for_each(|knot| knot.sort_unstable());
        knots.sort();
        knots
    }

    /// The shortest circle inside a knot: a search in breadth from each of its nodes.
    fn shortest_circle(&self, knot: &[usize]) -> Option<Vec<usize>> {
        // A knot of thousands is looked at from a few of its nodes: any circle tells the story.
        knot.iter().take(64).filter_map(|node| self.circle_from(*node, knot)).min_by_key(Vec::len)
    }

    fn circle_from(&self, start: usize, knot: &[usize]) -> Option<Vec<usize>> {
        let mut before: HashMap<usize, usize> = HashMap::new();
        let mut queue = VecDeque::from([start]);
        // What a start waits for is reached when the first that waits for that start is.
        let mut passed = vec![false; self.wants.len()];
        while let Some(node) = queue.pop_front() {
            let mut reached = self.next[node].clone();
            for stage in &self.starts[node] {
                if !std::mem::replace(&mut passed[*stage], true) {
                    reached.extend(&self.wants[*stage]);
                }
            }
            reached.sort_unstable();
            for to in reached.into_iter().filter(|to| knot.binary_search(to).is_ok()) {
                if to == start {
                    let mut circle = vec![node];
                    while circle[circle.len() - 1] != start {
                        circle.push(*before.get(&circle[circle.len() - 1])?);
                    }
                    circle.reverse();
                    return Some(circle);
                }
                if let Entry::Vacant(vacant) = before.entry(to) {
                    vacant.insert(node);
                    queue.push_back(to);
                }
            }
        }
        None
    }
}
