//! The wait-for graph of a plan.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::edge_name;
use crate::checks::Planned;
use crate::model::{Stage, Unit};
use crate::plan::StagePlan;
use crate::plan::memory::Reach;
use crate::source::Span;

/// A finite thing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Thing {
    Workers(usize),
    Permits(usize),
    Places(usize),
}

/// Why the one waits for the other: a sentence for the story, the place that shows it.
pub(super) struct Arc {
    pub(super) sentence: String,
    pub(super) at: Span,
    pub(super) label: String,
}

/// The wait-for graph.
pub(super) struct Waits<'a> {
    graph: Planned<'a>,
    pub(super) arcs: HashMap<(Thing, Thing), Arc>,
    /// By pool: the most permits that firings may hold while they wait. All others come back by themselves.
    hostage: Vec<u64>,
    /// By pool: the pools of whose permits a firing may wait, for which the policy keeps this one meanwhile.
    kept: Vec<BTreeSet<usize>>,
    reach: Reach,
    /// By stage: the edges on which its start takes places.
    reserves: Vec<Vec<usize>>,
    /// Edges and stages whose arcs are there.
    seen: HashSet<(usize, usize)>,
}

impl<'a> Waits<'a> {
    pub(super) fn of(graph: &Planned<'a>) -> Self {
        let plan = graph.plan;
        let most = |pool: usize| {
            let own = plan.stages.iter().filter(|stage| holds_while_it_waits(stage, pool)).flat_map(|stage| {
                let needs = stage.needs.iter().filter(|(of, _)| *of == pool);
                needs.map(|(_, weight)| weight.saturating_mul(stage.firings()))
            });
            own.fold(0, u64::saturating_add)
        };
        let hostage = (0..plan.pools.len()).map(most).collect();
        let mut reserves = vec![Vec::new(); plan.stages.len()];
        for edge in 0..plan.edges.len() {
            if let Some(stage) = plan.reserver(edge) {
                reserves[stage].push(edge);
            }
        }
        let (kept, reach) = (vec![BTreeSet::new(); plan.pools.len()], Reach::of(plan));
        let (arcs, seen) = (HashMap::new(), HashSet::new());
        let mut waits = Self { graph: *graph, arcs, hostage, kept, reach, reserves, seen };
        waits.keep_pools();
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
    fn stays_out(&self, pool: usize, weight: u64) -> bool {
        let stated = &self.graph.plan.pools[pool];
        stated.unit == Unit::Count && self.hostage[pool].saturating_add(weight) > stated.size
    }

    /// Whether permits of a pool can be out of reach for ever: they stay out, or are kept for another.
    fn can_run_dry(&self, pool: usize, weight: u64) -> bool {
        !self.kept[pool].is_empty() || self.stays_out(pool, weight)
    }

    /// Under a policy by age, a firing that lacks a permit keeps all pools that it wants: those behind it wait for what
    /// it lacks, and keep what they want themselves.
    fn keep_pools(&mut self) {
        let graph = self.graph;
        let plan = graph.plan;
        loop {
            let before = self.kept.clone();
            for (stage, own) in plan.stages.iter().enumerate().filter(|(_, own)| own.opt_outs.in_order.is_none()) {
                let lacked = own.needs.iter().flat_map(|(pool, weight)| {
                    let own = self.stays_out(*pool, *weight).then_some(*pool);
                    own.into_iter().chain(self.kept[*pool].iter().copied())
                });
                let lacked: BTreeSet<usize> = lacked.collect();
                let wanted = own.needs.iter().map(|(pool, _)| *pool);
                for pool in wanted.filter(|pool| plan.pools[*pool].unit == Unit::Count) {
                    for lacked in lacked.iter().copied() {
                        self.kept[pool].insert(lacked);
                        if lacked != pool {
                            let (name, has, wanted) = (&own.name, &plan.pools[pool].name, &plan.pools[lacked].name);
                            let sentence = format!(
                                "`{has}` is kept for `{name}`, whose turn it is, while it waits for `{wanted}`"
                            );
                            let label = format!("`{has}` is kept while this waits for `{wanted}`");
                            let at = graph.stated(stage).name.span;
                            self.add(Thing::Permits(pool), Thing::Permits(lacked), at, label, sentence);
                        }
                    }
                }
            }
            if self.kept == before {
                return;
            }
        }
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
            // What a stage on the way here put out with the places that it had is there already.
            let there = plan.reserver(other).is_some() && self.leads(plan.edges[other].from, from);
            let ready = there
                || plan.reserver(other).is_some_and(|fork| fork != plan.edges[other].from)
                || plan.reserver(other).is_some() && plan.reserver(other) == plan.reserver(edge);
            let partner = edge_name(plan, other);
            if !ready {
                let producer = self.graph.stated(plan.edges[other].from);
                let fork = self.graph.stated(plan.edges[other].reserved_by);
                let opt_out = |stage: &Stage| stage.blocking.or(stage.before_send);
                let at = opt_out(producer).or(opt_out(fork)).unwrap_or(producer.name.span);
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
        if !self.seen.insert((edge, stage)) {
            return;
        }
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
            let taken: Vec<usize> = self.reserves[stage].iter().copied().filter(|other| *other != edge).collect();
            for other in taken {
                let sentence = format!("{start} `{name}` finds room in {}", edge_name(plan, other));
                self.add(from, Thing::Places(other), at, "needs room behind it".to_owned(), sentence);
            }
        }
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
        self.reach.leads(from, to)
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
