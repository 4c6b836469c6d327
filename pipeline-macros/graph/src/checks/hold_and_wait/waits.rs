//! The wait-for graph of a plan.
//!
//! Dense graphs have millions of arcs, of which a story tells a handful: an arc is a few numbers, and its sentence is made
//! when it is told ([`super::story`]). What a stage's start waits for is there once, however many tokens wait for that start.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::checks::Planned;
use crate::model::Unit;
use crate::plan::StagePlan;
use crate::plan::memory::Reach;

/// A finite thing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Thing {
    Workers(usize),
    Permits(usize),
    Places(usize),
}

/// Why a firing or a policy lets one thing wait for another.
#[derive(Clone, Copy, Debug)]
pub(super) enum Held {
    /// The policy keeps a pool for a stage that lacks another.
    Kept { stage: usize, pool: usize, lacked: usize },
    /// A worker waits for a permit.
    WorkerInOrder { stage: usize, wanted: usize },
    /// A permit is held while another is waited for.
    PermitInOrder { stage: usize, has: usize, wanted: usize },
    /// A worker waits for room.
    WorkerSending { stage: usize, edge: usize },
    /// A permit is held while room is waited for.
    PermitSending { stage: usize, has: usize, edge: usize },
}

/// What a token that keeps its place waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Keep {
    /// The start of a stage on its way.
    Start(usize),
    /// The start of a stage on its partner's way.
    PartnersStart(usize),
    /// Room on the edge over which its partner comes.
    Partner(usize),
}

/// The wait-for graph.
pub(super) struct Waits<'a> {
    pub(super) graph: Planned<'a>,
    /// Arcs from what firings hold and from what is kept for them.
    pub(super) held: HashMap<(Thing, Thing), Held>,
    /// By edge: what its tokens wait for, in the order in which it was found.
    pub(super) keeps: Vec<Vec<Keep>>,
    /// By stage: what its start waits for.
    pub(super) starts: Vec<Vec<Thing>>,
    /// By pool: the most permits that firings may hold while they wait. All others come back by themselves.
    hostage: Vec<u64>,
    /// By pool: the pools of whose permits a firing may wait, for which the policy keeps this one meanwhile.
    kept: Vec<BTreeSet<usize>>,
    reach: Reach,
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
        let mut waits = Self {
            graph: *graph,
            held: HashMap::new(),
            keeps: vec![Vec::new(); plan.edges.len()],
            starts: Vec::new(),
            hostage: (0..plan.pools.len()).map(most).collect(),
            kept: vec![BTreeSet::new(); plan.pools.len()],
            reach: Reach::of(plan),
        };
        waits.keep_pools();
        (0..plan.stages.len()).for_each(|stage| waits.holds_of_a_firing(stage));
        waits.starts = waits.what_starts_wait_for();
        (0..plan.edges.len()).for_each(|edge| waits.holds_of_a_token(edge));
        waits
    }

    /// How many arcs there are: what it took to make them, and takes to search them.
    pub(super) fn work(&self) -> usize {
        let lists = self.keeps.iter().map(Vec::len).chain(self.starts.iter().map(Vec::len));
        self.held.len() + lists.sum::<usize>()
    }

    fn hold(&mut self, from: Thing, to: Thing, why: Held) {
        self.held.entry((from, to)).or_insert(why);
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

    /// A firing that lacks a permit keeps all pools that it wants: those behind it wait for what it lacks, and keep what
    /// they want themselves.
    ///
    /// So do all policies that order firings, by whatever rank (`policy::first_by` of the runtime): age, the longest way,
    /// the shortest stage. `random_legal` keeps nothing, and `replay` waits for what its log says; under them a graph could do
    /// with fewer permits. They are judged alike all the same: `sim --set policy=…` and a user's own policy in the
    /// executor's options take the place of the one in the file after it was judged, and a lawful graph must not come to a
    /// stand by that.
    fn keep_pools(&mut self) {
        let plan = self.graph.plan;
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
                            let why = Held::Kept { stage, pool, lacked };
                            self.hold(Thing::Permits(pool), Thing::Permits(lacked), why);
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
        if let (Some(order), Some(_)) = (&own.opt_outs.in_order, &stated.in_order) {
            for (position, wanted) in order.iter().copied().enumerate() {
                let weight = own.needs.iter().find(|(pool, _)| *pool == wanted).map_or(0, |(_, weight)| *weight);
                if !self.can_run_dry(wanted, weight) {
                    continue;
                }
                self.hold(Thing::Workers(stage), Thing::Permits(wanted), Held::WorkerInOrder { stage, wanted });
                for has in order[..position].iter().copied() {
                    let why = Held::PermitInOrder { stage, has, wanted };
                    self.hold(Thing::Permits(has), Thing::Permits(wanted), why);
                }
            }
        }
        if own.opt_outs.blocking && !own.opt_outs.before_send && stated.blocking.is_some() {
            for edge in own.outputs.iter().copied() {
                self.hold(Thing::Workers(stage), Thing::Places(edge), Held::WorkerSending { stage, edge });
                for (has, _) in own.needs.iter().copied() {
                    let why = Held::PermitSending { stage, has, edge };
                    self.hold(Thing::Permits(has), Thing::Places(edge), why);
                }
            }
        }
    }

    /// What a stage waits for before it takes a token off its edge: a worker; permits, where it does not wait for them with
    /// a worker in hand; places, where it does not take them when it sends.
    fn what_starts_wait_for(&self) -> Vec<Vec<Thing>> {
        let plan = self.graph.plan;
        let mut reserves = vec![Vec::new(); plan.stages.len()];
        for edge in 0..plan.edges.len() {
            if let Some(stage) = plan.reserver(edge) {
                reserves[stage].push(Thing::Places(edge));
            }
        }
        let wants = |(stage, places): (usize, Vec<Thing>)| {
            let own = &plan.stages[stage];
            let needs = own.needs.iter().filter(|_| own.opt_outs.in_order.is_none());
            let dry = needs.filter(|(pool, weight)| self.can_run_dry(*pool, *weight));
            let permits = dry.map(|(pool, _)| Thing::Permits(*pool));
            let places = places.into_iter().filter(|_| own.opt_outs.reserves());
            [Thing::Workers(stage)].into_iter().chain(permits).chain(places).collect()
        };
        reserves.into_iter().enumerate().map(wants).collect()
    }

    /// A place is held by a token on its edge, and from the start of the firing that reserved it.
    fn holds_of_a_token(&mut self, edge: usize) {
        let plan = self.graph.plan;
        let (join, from) = (plan.edges[edge].to, plan.edges[edge].from);
        let (mut keeps, mut seen) = (vec![Keep::Start(join)], HashSet::from([join]));
        // Who reserved the place keeps it over all stages up to the one behind the edge.
        let fork = plan.reserver(edge).unwrap_or(from);
        keeps.extend(self.behind(fork, from).filter(|stage| seen.insert(*stage)).map(Keep::Start));
        // The partners of the same key come over the join's other edges.
        for other in plan.stages[join].inputs.iter().copied().filter(|other| *other != edge) {
            // The fork has the partner's place ready since before it parted; a place that the producer takes may be full.
            // What a stage on the way here put out with the places that it had is there already.
            let there = plan.reserver(other).is_some() && self.leads(plan.edges[other].from, from);
            let ready = there
                || plan.reserver(other).is_some_and(|fork| fork != plan.edges[other].from)
                || plan.reserver(other).is_some() && plan.reserver(other) == plan.reserver(edge);
            if !ready {
                keeps.push(Keep::Partner(other));
            }
            let of_the_partner = self.behind(plan.edges[other].reserved_by, plan.edges[other].from);
            let apart = of_the_partner.filter(|stage| *stage != from && !self.leads(*stage, from));
            keeps.extend(apart.filter(|stage| seen.insert(*stage)).map(Keep::PartnersStart));
        }
        self.keeps[edge] = keeps;
    }

    /// The stages behind `fork` on a way to `last`, `last` with them.
    fn behind(&self, fork: usize, last: usize) -> impl Iterator<Item = usize> {
        let between = (fork + 1)..last;
        let on_a_way = move |stage: &usize| self.leads(fork, *stage) && self.leads(*stage, last);
        between.filter(on_a_way).chain([last]).filter(move |_| fork != last)
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
