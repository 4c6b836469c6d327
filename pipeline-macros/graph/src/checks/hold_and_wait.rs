//! PL0403: stages that hold what others wait for, in a circle.
//!
//! The wait-for graph has a node for every finite thing: the workers of a stage, the permits of a pool, the places of an
//! edge. An arc leads from a thing to another if one of the first may be held by what waits for one of the second. A
//! deadlock needs a circle of arcs. A stage that keeps the discipline holds nothing while it waits, so arcs come from
//! tokens that keep their places alone, and these lead down the graph: without opt-outs there is no circle.

use std::collections::{HashMap, VecDeque};

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::{Check, Example, Planned, examples};
use crate::diagnostic::{Diagnostic, Report};
use crate::model::Unit;
use crate::plan::{Plan, StagePlan};
use crate::source::Span;

/// The page.
pub const CHECK: Check = Check {
    code: "PL0403",
    name: "hold-and-wait",
    rule: "Stages that hold something while they wait never wait in a circle.",
    why: "A firing takes its worker, its permits and the places of its output at once and never waits after that; so it \
          holds nothing while it waits. `acquire: InOrder([…])` waits for a permit with the permits before it in hand, and \
          `send: Blocking` waits for a place with worker and permits in hand; with them a circle can close. The places of a \
          join need care of their own: reserved at the fork, a token that came in finds all of them; taken when a stage \
          sends, tokens of other keys may fill one while the join waits for the partner that finds no room. The error \
          tells one round of the circle.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 1, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all"),
        Stage("spmv", on: "all", workers: 2, needs: { "mem_heavy": 1 }, send: Blocking),
        Stage("scale", on: "all", needs: { "mem_heavy": 1 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv"), Edge("spmv", "scale", capacity: 1)],
)"#,
    ),
    good: examples::FORK_AND_JOIN,
    fix: "Remove the opt-out that the error marks, or break the circle: the same order of pools in all stages, a pool \
          that is large enough for all firings at once, a pool of its own for the stage behind the edge.",
    run: None,
};

/// A finite thing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
enum Thing {
    Workers(usize),
    Permits(usize),
    Places(usize),
}

/// Why the one waits for the other: a sentence for the story, the place that shows it.
struct Arc {
    sentence: String,
    at: Span,
    label: String,
}

/// Judges a plan in which a stage departs from the discipline. What `piling` stages release before they send has been
/// reported; they are judged as if they did not, so that circles that go with it are not reported too.
pub fn judge(graph: &Planned<'_>, piling: &[usize], report: &mut Report) {
    let mut repaired;
    let graph = if piling.is_empty() {
        *graph
    } else {
        repaired = graph.plan.clone();
        piling.iter().for_each(|stage| repaired.stages[*stage].opt_outs.before_send = false);
        Planned { plan: &repaired, ..*graph }
    };
    let graph = &graph;
    if graph.plan.stages.iter().all(|stage| stage.opt_outs.none()) {
        return;
    }
    let arcs = Waits::of(graph).arcs;
    let mut things: Vec<Thing> = arcs.keys().flat_map(|(from, to)| [*from, *to]).collect();
    things.sort();
    things.dedup();
    let number: HashMap<Thing, NodeIndex> =
        things.iter().enumerate().map(|(number, thing)| (*thing, NodeIndex::new(number))).collect();
    let mut waits = DiGraph::<(), ()>::new();
    things.iter().for_each(|_| {
        waits.add_node(());
    });
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); things.len()];
    let mut pairs: Vec<&(Thing, Thing)> = arcs.keys().collect();
    pairs.sort();
    for (from, to) in pairs {
        waits.add_edge(number[from], number[to], ());
        next[number[from].index()].push(number[to].index());
    }
    let mut knots: Vec<Vec<usize>> =
        tarjan_scc(&waits).into_iter().map(|knot| knot.into_iter().map(NodeIndex::index).collect()).collect();
    knots.iter_mut().for_each(|knot| knot.sort_unstable());
    knots.sort();
    for knot in knots {
        if let Some(circle) = shortest_circle(&knot, &next) {
            let circle: Vec<Thing> = circle.into_iter().map(|node| things[node]).collect();
            report.add(tell(graph, &circle, &arcs));
        }
    }
}

/// The shortest circle inside a knot: a search in breadth from each of its nodes.
fn shortest_circle(knot: &[usize], next: &[Vec<usize>]) -> Option<Vec<usize>> {
    let inside = |node: &&usize| knot.binary_search(node).is_ok();
    let from = |start: usize| {
        let mut before: HashMap<usize, usize> = HashMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for to in next[node].iter().filter(inside) {
                if *to == start {
                    let mut circle = vec![node];
                    while circle[circle.len() - 1] != start {
                        circle.push(*before.get(&circle[circle.len() - 1])?);
                    }
                    circle.reverse();
                    return Some(circle);
                }
                if let std::collections::hash_map::Entry::Vacant(vacant) = before.entry(*to) {
                    vacant.insert(node);
                    queue.push_back(*to);
                }
            }
        }
        None
    };
    // A knot of thousands is looked at from a few of its nodes: any circle tells the story.
    knot.iter().take(64).filter_map(|node| from(*node)).min_by_key(Vec::len)
}

/// The wait-for graph.
struct Waits<'a> {
    graph: Planned<'a>,
    arcs: HashMap<(Thing, Thing), Arc>,
    /// By pool: the most permits that firings may hold while they wait. All others come back by themselves.
    hostage: Vec<u64>,
}

impl<'a> Waits<'a> {
    fn of(graph: &Planned<'a>) -> Self {
        let plan = graph.plan;
        let most = |pool: usize| {
            let own = plan.stages.iter().filter(|stage| holds_while_it_waits(stage, pool)).flat_map(|stage| {
                let needs = stage.needs.iter().filter(|(of, _)| *of == pool);
                needs.map(|(_, weight)| weight.saturating_mul(stage.firings()))
            });
            own.fold(0, u64::saturating_add)
        };
        let hostage = (0..plan.pools.len()).map(most).collect();
        let mut waits = Self { graph: *graph, arcs: HashMap::new(), hostage };
        for stage in 0..plan.stages.len() {
            waits.holds_of_a_firing(stage);
        }
        for edge in 0..plan.edges.len() {
            waits.holds_of_a_token(edge);
        }
        waits
    }

    fn add(&mut self, from: Thing, to: Thing, at: Span, label: String, sentence: String) {
        self.arcs.entry((from, to)).or_insert(Arc { sentence, at, label });
    }

    /// Whether `weight` permits of a pool can stay out for ever. What firings hold that wait for nothing comes back, so
    /// all others must be in the hands of firings that wait.
    fn can_run_dry(&self, pool: usize, weight: u64) -> bool {
        let stated = &self.graph.plan.pools[pool];
        stated.unit == Unit::Count && self.hostage[pool].saturating_add(weight) > stated.size
    }

    /// What a firing holds while it waits: only what departs from the discipline does.
    fn holds_of_a_firing(&mut self, stage: usize) {
        let (plan, stated) = (self.graph.plan, self.graph.stated(stage));
        let own = &plan.stages[stage];
        let name = &own.name;
        if let (Some(order), Some(at)) = (&own.opt_outs.in_order, &stated.in_order) {
            for (position, second) in order.iter().enumerate() {
                let weight = own.needs.iter().find(|(pool, _)| pool == second).map_or(0, |(_, weight)| *weight);
                if !self.can_run_dry(*second, weight) {
                    continue;
                }
                let wanted = plan.pools[*second].name.clone();
                let sentence = format!("`{name}` keeps its worker while it waits for a permit of `{wanted}`");
                self.add(
                    Thing::Workers(stage),
                    Thing::Permits(*second),
                    at.span,
                    "waits with what it has".to_owned(),
                    sentence,
                );
                for first in &order[..position] {
                    let has = plan.pools[*first].name.clone();
                    let sentence = format!("`{name}` holds `{has}` while it waits for `{wanted}`");
                    let label = format!("holds `{has}`, waits for `{wanted}`");
                    self.add(Thing::Permits(*first), Thing::Permits(*second), at.span, label, sentence);
                }
            }
        }
        if let (true, false, Some(at)) = (own.opt_outs.blocking, own.opt_outs.before_send, stated.blocking) {
            for edge in own.outputs.clone() {
                let room = edge_name(plan, edge);
                let label = "waits for room with all that it has".to_owned();
                let sentence = format!("`{name}` keeps its worker while it waits for room in {room}");
                self.add(Thing::Workers(stage), Thing::Places(edge), at, label.clone(), sentence);
                for (pool, _) in own.needs.clone() {
                    let has = plan.pools[pool].name.clone();
                    let sentence = format!("`{name}` holds `{has}` while it waits for room in {room}");
                    self.add(Thing::Permits(pool), Thing::Places(edge), at, label.clone(), sentence);
                }
            }
        }
    }

    /// A place is held by a token on its edge, and from the start of the firing that reserved it.
    fn holds_of_a_token(&mut self, edge: usize) {
        let plan = self.graph.plan;
        let (join, from) = (plan.edges[edge].to, plan.edges[edge].from);
        let room = edge_name(plan, edge);
        self.waits_of(edge, join, &format!("a token keeps its place in {room} until"));
        // Who reserved the place keeps it over all stages up to the one behind the edge.
        let fork = plan.reserver(edge).unwrap_or(from);
        let passed = self.behind(fork, from);
        for stage in passed {
            self.waits_of(edge, stage, &format!("a token keeps its place in {room} until"));
        }
        // The partners of the same key come over the join's other edges.
        for other in plan.stages[join].inputs.iter().copied().filter(|other| *other != edge) {
            // The fork has the partner's place ready since before it parted; a place that the producer takes may be full.
            let ready = plan.reserver(other).is_some_and(|fork| fork != plan.edges[other].from)
                || plan.reserver(other).is_some() && plan.reserver(other) == plan.reserver(edge);
            let partner = edge_name(plan, other);
            if !ready {
                let producer = &self.graph.stated(plan.edges[other].from);
                let at = producer.blocking.or(producer.before_send).unwrap_or(producer.name.span);
                let sentence = format!(
                    "a token keeps its place in {room} until its partner of the same key comes over {partner}, where \
                     tokens of other keys may have filled every place"
                );
                let label = "takes its place only when it sends".to_owned();
                self.add(Thing::Places(edge), Thing::Places(other), at, label, sentence);
            }
            let source = plan.edges[other].reserved_by;
            for stage in self.behind(source, plan.edges[other].from) {
                if stage != from && !self.leads(stage, from) {
                    let start = format!("a token in {room} waits for its partner, which waits until");
                    self.waits_of(edge, stage, &start);
                }
            }
        }
    }

    /// Arcs to all that `stage` waits for before it takes a token off its edge.
    fn waits_of(&mut self, edge: usize, stage: usize, start: &str) {
        let plan = self.graph.plan;
        let (own, stated) = (&plan.stages[stage], self.graph.stated(stage));
        let (name, at) = (&own.name, stated.name.span);
        let from = Thing::Places(edge);
        let sentence = format!("{start} `{name}` has a worker free");
        self.add(from, Thing::Workers(stage), at, "must have a worker free".to_owned(), sentence);
        if own.opt_outs.in_order.is_none() {
            for (pool, weight) in own.needs.clone() {
                if !self.can_run_dry(pool, weight) {
                    continue;
                }
                let (wanted, permits) = (&plan.pools[pool].name, if weight == 1 { "a permit" } else { "permits" });
                let sentence = format!("{start} `{name}` gets {permits} of `{wanted}`");
                let needs = stated.needs.items.iter().find(|(pool, _)| pool.value == *wanted);
                let at = needs.map_or(at, |(_, weight)| weight.span);
                self.add(from, Thing::Permits(pool), at, format!("needs `{wanted}`"), sentence);
            }
        }
        if own.opt_outs.reserves() {
            let taken: Vec<usize> = self.reserved_by(stage).into_iter().filter(|other| *other != edge).collect();
            for other in taken {
                let sentence = format!("{start} `{name}` finds room in {}", edge_name(plan, other));
                self.add(from, Thing::Places(other), at, "needs room behind it".to_owned(), sentence);
            }
        }
    }

    fn reserved_by(&self, stage: usize) -> Vec<usize> {
        let plan = self.graph.plan;
        (0..plan.edges.len()).filter(|edge| plan.reserver(*edge) == Some(stage)).collect()
    }

    /// The stages behind `fork` on a way to `last`, `last` with them.
    fn behind(&self, fork: usize, last: usize) -> Vec<usize> {
        if fork == last {
            return Vec::new();
        }
        let between = (fork + 1)..last;
        between.filter(|stage| self.leads(fork, *stage) && self.leads(*stage, last)).chain([last]).collect()
    }

    fn leads(&self, from: usize, to: usize) -> bool {
        let plan = self.graph.plan;
        if from >= to {
            return false;
        }
        let mut reached = vec![false; to + 1];
        reached[from] = true;
        for stage in from..to {
            if reached[stage] {
                for edge in &plan.stages[stage].outputs {
                    if plan.edges[*edge].to <= to {
                        reached[plan.edges[*edge].to] = true;
                    }
                }
            }
        }
        reached[to]
    }
}

/// Whether a firing may hold permits of a pool while it waits for something else.
fn holds_while_it_waits(stage: &StagePlan, pool: usize) -> bool {
    let in_between = stage.opt_outs.in_order.as_ref().is_some_and(|order| {
        order.iter().position(|of| *of == pool).is_some_and(|position| position + 1 < order.len())
    });
    let at_the_end = stage.opt_outs.blocking && !stage.opt_outs.before_send;
    in_between || at_the_end
}

fn edge_name(plan: &Plan, edge: usize) -> String {
    let edge = &plan.edges[edge];
    format!("`{}` -> `{}`", plan.stages[edge.from].name, plan.stages[edge.to].name)
}

fn thing_name(plan: &Plan, thing: Thing) -> String {
    match thing {
        Thing::Workers(stage) => format!("a worker of `{}`", plan.stages[stage].name),
        Thing::Permits(pool) => format!("`{}`", plan.pools[pool].name),
        Thing::Places(edge) => format!("room in {}", edge_name(plan, edge)),
    }
}

fn tell(graph: &Planned<'_>, circle: &[Thing], arcs: &HashMap<(Thing, Thing), Arc>) -> Diagnostic {
    let round = circle.iter().zip(circle.iter().cycle().skip(1));
    let mut told: Vec<&Arc> = round.map(|(from, to)| &arcs[&(*from, *to)]).collect();
    // The story begins with the stage that departs from the discipline.
    let opts =
        |arc: &&Arc| arc.label.starts_with("holds") || arc.label.starts_with("waits") || arc.label.starts_with("takes");
    let first = told.iter().position(&opts).unwrap_or(0);
    told.rotate_left(first);
    let names: Vec<String> =
        (0..=circle.len()).map(|position| thing_name(graph.plan, circle[(position + first) % circle.len()])).collect();
    let (first, others) = names.split_first().expect("a circle has a node");
    let title =
        format!("stages can wait for each other for ever: {first} waits for {}", others.join(", which waits for "));
    let mut found = Diagnostic::error(CHECK.code, told[0].at, title).here(told[0].label.clone());
    for arc in told.iter().skip(1).filter(|arc| arc.at != told[0].at) {
        found = found.and(arc.at, arc.label.clone());
    }
    let story: Vec<String> =
        told.iter().enumerate().map(|(step, arc)| format!("{}. {}", step + 1, arc.sentence)).collect();
    found = found.note(format!("{}\nand so on, in a circle", story.join("\n")));
    advise(graph, circle, found)
}

fn advise(graph: &Planned<'_>, circle: &[Thing], mut found: Diagnostic) -> Diagnostic {
    let plan = graph.plan;
    let pools: Vec<usize> =
        circle.iter().filter_map(|thing| if let Thing::Permits(pool) = thing { Some(*pool) } else { None }).collect();
    let orders: Vec<&str> = plan
        .stages
        .iter()
        .filter(|stage| {
            stage.opt_outs.in_order.as_ref().is_some_and(|order| order.iter().any(|pool| pools.contains(pool)))
        })
        .map(|stage| stage.name.as_str())
        .collect();
    let at_a_place = |stage: usize| {
        let edges = &plan.stages[stage].outputs;
        edges.iter().any(|edge| circle.contains(&Thing::Places(*edge)))
    };
    let blocking =
        (0..plan.stages.len()).filter(|stage| !plan.stages[*stage].opt_outs.reserves() && at_a_place(*stage));
    let blocking: Vec<&str> = blocking.map(|stage| plan.stages[stage].name.as_str()).collect();
    if !orders.is_empty() {
        let stages = crate::words::listed(orders);
        found = found.help(format!(
            "name the pools of {stages} in the same order, or remove `acquire`: then a firing takes all of them at once"
        ));
    }
    if !blocking.is_empty() {
        let stages = crate::words::listed(blocking);
        found = found.help(format!("remove the opt-out from {stages}: a firing then has its places before it starts, and holds nothing while it waits"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::testing::{diagnostics, titles, with};

    #[test]
    fn a_permit_across_a_blocking_send_is_told_as_a_story() {
        let found = diagnostics(CHECK.bad.text());
        assert_eq!(
            found[0].title,
            "stages can wait for each other for ever: `mem_heavy` waits for room in `spmv` -> `scale`, which waits for `mem_heavy`"
        );
        assert_eq!(
            found[0].notes,
            ["1. `spmv` holds `mem_heavy` while it waits for room in `spmv` -> `scale`\n\
              2. a token keeps its place in `spmv` -> `scale` until `scale` gets a permit of `mem_heavy`\n\
              and so on, in a circle"]
        );
    }

    #[test]
    fn enough_permits_for_everybody_break_the_circle() {
        let enough = CHECK.bad.text().replace("\"mem_heavy\": 1, \"dealloc\"", "\"mem_heavy\": 3, \"dealloc\"");
        assert_eq!(titles(&enough), [""; 0]);
    }

    #[test]
    fn a_pool_of_its_own_breaks_the_circle() {
        let own =
            CHECK.bad.text().replace("\"dealloc\": 1 },\n    groups", "\"dealloc\": 1, \"scale\": 1 },\n    groups");
        let own = own.replace(
            "Stage(\"scale\", on: \"all\", needs: { \"mem_heavy\": 1 })",
            "Stage(\"scale\", on: \"all\", needs: { \"scale\": 1 })",
        );
        assert_eq!(titles(&own), [""; 0]);
    }

    #[test]
    fn a_blocking_send_before_a_join_can_shut_the_partner_out() {
        let text = with(
            examples::FORK_AND_JOIN,
            "Stage(\"spmv\", on: \"all\", needs: { \"mem_heavy\": 1 })",
            "Stage(\"spmv\", on: \"all\", workers: 2, needs: { \"mem_heavy\": 1 }, send: Blocking)",
        );
        let titles = titles(&text);
        assert_eq!(titles.len(), 1, "{titles:?}");
        assert!(titles[0].contains("room in `spmv` -> `gpu_ntt_msm`"), "{titles:?}");
    }

    #[test]
    fn opposite_orders_are_refused_and_equal_ones_are_not() {
        let order = |first: &str, second: &str| {
            let text = with(examples::FORK_AND_JOIN, "\"mem_heavy\": 2,", "\"mem_heavy\": 2, \"link\": 1,");
            let text = text.replace("Stage(\"spmv\", on: \"all\", needs: { \"mem_heavy\": 1 })",
                &format!("Stage(\"spmv\", on: \"all\", needs: {{ \"mem_heavy\": 2, \"link\": 1 }}, acquire: InOrder([{first}]))"));
            text.replace("Stage(\"prep_msm\", on: \"all\", needs: { \"mem_heavy\": 1 })",
                &format!("Stage(\"prep_msm\", on: \"all\", needs: {{ \"mem_heavy\": 2, \"link\": 1 }}, acquire: InOrder([{second}]))"))
        };
        let (one, other) = ("\"mem_heavy\", \"link\"", "\"link\", \"mem_heavy\"");
        assert_eq!(titles(&order(one, one)), [""; 0]);
        assert_eq!(
            titles(&order(one, other)),
            ["stages can wait for each other for ever: `mem_heavy` waits for `link`, which waits for `mem_heavy`"]
        );
    }
}
