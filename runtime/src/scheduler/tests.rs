use super::*;
use crate::plan::Plan;
use crate::policy::{OldestFirst, Policy, State};
use crate::testing::{chain, diamond, empty_plan, stage};

const SIZES: Sizes = Sizes { constraints: 1, aux: 10, inputs: 1, domain: 2, a_density: 1, b_density: 1 };

/// Drives a scheduler without time: firings end in the order that the test says.
struct Run {
    plan: Plan,
    scheduler: Scheduler,
    running: Vec<Grant>,
    granted: Vec<(usize, TokenKey, bool)>,
    /// Tokens keep what they hold until the sink has fired: as late as it can be.
    holds: Vec<(TokenKey, Claim)>,
}

impl Run {
    fn new(plan: Plan) -> Self {
        let scheduler = Scheduler::new(&plan).unwrap();
        Self { plan, scheduler, running: Vec::new(), granted: Vec::new(), holds: Vec::new() }
    }

    fn submit(&mut self, job: u64, partitions: u32) {
        self.scheduler.submit(JobId(job), partitions, &SIZES, Priority::Normal, 0).unwrap();
        self.grant();
    }

    fn grant(&mut self) {
        let mut grants = Vec::new();
        self.scheduler.grant(&mut OldestFirst, 0, &mut grants).unwrap();
        self.granted.extend(grants.iter().map(|grant| (grant.stage, grant.key, grant.dead)));
        self.running.extend(grants);
    }

    /// Ends the running firing at `position`; `alive`: with a token, else with a tombstone.
    fn end(&mut self, position: usize, alive: bool) {
        let grant = self.running.swap_remove(position);
        let alive = alive && !grant.dead;
        let hold = self.scheduler.hold_of(grant.stage, grant.key.job);
        for edge in self.plan.stages[grant.stage].outputs.clone() {
            self.scheduler.arrived(edge, grant.key, !alive, 0);
        }
        self.scheduler.ended(&grant, if alive { Output::Token } else { Output::Tombstone }, 0);
        if alive {
            self.holds.push((grant.key, hold));
        }
        if self.plan.stages[grant.stage].role == Role::Sink {
            let (home, kept) = std::mem::take(&mut self.holds).into_iter().partition(|(key, _)| *key == grant.key);
            self.holds = kept;
            let home: Vec<(TokenKey, Claim)> = home;
            home.iter().for_each(|(_, claim)| self.scheduler.hold_came_home(claim));
        }
        self.grant();
    }

    /// Ends everything, the position of the next one to end drawn from `seed`.
    fn drain(&mut self, mut seed: u64, alive: impl Fn(&Grant) -> bool) {
        while !self.running.is_empty() {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let position = (seed >> 33) as usize % self.running.len();
            let alive = alive(&self.running[position]);
            self.end(position, alive);
        }
    }

    fn fired(&self, stage: usize, dead: bool) -> usize {
        self.granted.iter().filter(|(fired, _, was_dead)| (*fired, *was_dead) == (stage, dead)).count()
    }
}

#[test]
fn every_order_of_completion_runs_every_stage_once_per_token_and_leaks_nothing() {
    for (capacity, workers, heavy) in [(1, 1, 1), (1, 3, 1), (2, 2, 3), (3, 1, 2)] {
        for seed in 0..200 {
            let mut run = Run::new(diamond(capacity, workers, heavy));
            (0..3).for_each(|job| run.submit(job, 4));
            run.drain(seed, |_| true);
            (0..4).for_each(|stage| assert_eq!(run.fired(stage, false), 12, "stage {stage}, seed {seed}"));
            assert!(run.scheduler.is_idle(), "seed {seed}");
        }
    }
}

/// A token that overtook the oldest one sits in the only place that the oldest one's output could have: the oldest
/// waits, and must not keep its permits from the token that is in its way.
#[test]
fn a_chain_of_narrow_edges_never_stops() {
    for (stages, capacity, workers, heavy) in [(3, 1, 2, 1), (4, 1, 3, 1), (5, 1, 2, 2), (5, 2, 4, 1), (6, 1, 5, 3)] {
        for seed in 0..200 {
            let mut run = Run::new(chain(stages, capacity, workers, heavy));
            (0..4).for_each(|job| run.submit(job, 3));
            run.drain(seed, |grant| grant.key.job.0 != 2 || grant.stage != 1);
            assert_eq!(run.fired(stages - 1, false), 9, "{stages} stages, seed {seed}");
            assert_eq!(run.fired(stages - 1, true), 3, "{stages} stages, seed {seed}");
            assert!(run.scheduler.is_idle(), "{stages} stages, seed {seed}");
        }
    }
}

#[test]
fn a_tombstone_goes_through_every_later_stage_and_gives_everything_back() {
    for seed in 0..200 {
        let mut run = Run::new(diamond(2, 2, 2));
        (0..3).for_each(|job| run.submit(job, 4));
        run.drain(seed, |grant| (grant.stage, grant.key.job.0, grant.key.partition) != (1, 1, 2));
        assert_eq!(run.fired(3, true), 1, "the sink sees one tombstone");
        assert_eq!(run.fired(3, false), 11);
        assert!(run.scheduler.is_idle(), "seed {seed}");
    }
}

#[test]
fn a_failed_job_skips_what_has_not_started_and_leaves_the_others_alone() {
    for seed in 0..200 {
        let mut run = Run::new(diamond(1, 1, 1));
        (0..3).for_each(|job| run.submit(job, 4));
        run.scheduler.fail(JobId(1));
        run.drain(seed, |_| true);
        let live =
            |job| run.granted.iter().filter(|(stage, key, dead)| *stage == 3 && key.job.0 == job && !dead).count();
        assert_eq!((live(0), live(1), live(2)), (4, 0, 4));
        assert!(run.scheduler.is_idle(), "seed {seed}");
    }
}

#[test]
fn no_more_permits_are_out_than_the_pool_has() {
    let mut run = Run::new(diamond(8, 8, 2));
    run.submit(0, 8);
    while let Some(position) = run.running.iter().position(|grant| grant.stage == 0) {
        run.end(position, true);
    }
    assert_eq!(run.running.len(), 2, "sixteen firings wait for two permits");
}

#[test]
fn the_fork_waits_until_the_join_has_places() {
    let mut run = Run::new(diamond(1, 4, 4));
    run.submit(0, 4);
    assert_eq!(run.running.len(), 1, "one place at the join, one token on its way");
    run.end(0, true);
    assert_eq!(run.fired(0, false), 1, "the first token still has the place");
    run.end(0, true);
    run.end(0, true);
    assert_eq!(run.fired(0, false), 2, "its sink firing took the token off the edges");
}

#[test]
fn a_source_firing_takes_what_the_whole_path_holds() {
    let mut plan = diamond(8, 8, 8);
    plan.pools[0].size = 45; // a token holds 10 at the source and 10 at `left`
    let mut run = Run::new(plan);
    run.submit(0, 4);
    assert_eq!(run.running.len(), 2);
}

#[test]
fn a_job_that_can_never_fit_is_refused() {
    let mut plan = diamond(8, 8, 8);
    plan.pools[0].size = 19;
    let error = Scheduler::new(&plan).unwrap().submit(JobId(0), 1, &SIZES, Priority::Normal, 0).unwrap_err();
    assert_eq!(error.to_string(), "needs 20 of pool `ram`, which has 19");
}

#[test]
fn workspace_is_taken_once_for_each_worker() {
    let mut plan = diamond(8, 3, 8);
    plan.pools[0].size = 340;
    plan.stages[1].workspace = vec![(0, Bytes { fixed: 100, per: Sizes::default() })];
    let mut run = Run::new(plan.clone());
    run.submit(0, 4);
    assert_eq!(run.running.len(), 2, "40 bytes are left, and a token holds 20");
    plan.pools[0].size = 299;
    let error = Scheduler::new(&plan).err().unwrap();
    assert_eq!(error.to_string(), "needs 300 of pool `ram`, which has 299");
}

#[test]
fn workspace_that_depends_on_the_circuit_is_taken_for_the_firing() {
    let mut plan = diamond(8, 2, 8);
    plan.pools[0].size = 20 + 10 + 30;
    plan.stages[1].workspace = vec![(0, Bytes { fixed: 0, per: Sizes { aux: 3, ..Sizes::default() } })];
    for seed in 0..50 {
        let mut run = Run::new(plan.clone());
        run.submit(0, 3);
        run.drain(seed, |_| true);
        assert_eq!(run.fired(3, false), 3, "a token that holds all would wait for workspace for ever");
        assert!(run.scheduler.is_idle());
    }
    plan.pools[0].size = 49;
    let error = Scheduler::new(&plan).unwrap().submit(JobId(0), 1, &SIZES, Priority::Normal, 0).unwrap_err();
    assert_eq!(error.to_string(), "needs 50 of pool `ram`, which has 49");
}

#[test]
fn a_policy_that_chooses_what_may_not_start_is_named() {
    struct First(Option<usize>);
    impl Policy for First {
        fn name(&self) -> &'static str {
            "first"
        }
        fn choose(&mut self, _: &State<'_>) -> Option<usize> {
            self.0
        }
    }
    let illegal = |choice: Option<usize>| {
        let mut scheduler = Scheduler::new(&diamond(3, 4, 1)).unwrap();
        let (mut policy, mut grants) = (First(Some(0)), Vec::new());
        scheduler.submit(JobId(0), 1, &SIZES, Priority::Normal, 0).unwrap();
        scheduler.grant(&mut policy, 0, &mut grants).unwrap();
        if choice.is_some() {
            // `left` takes the one permit of the pool, `right` waits for it.
            [0, 1].into_iter().for_each(|edge| scheduler.arrived(edge, grants[0].key, false, 0));
        }
        scheduler.ended(&grants[0], Output::Token, 0);
        scheduler.grant(&mut policy, 0, &mut grants).unwrap();
        scheduler.submit(JobId(1), 1, &SIZES, Priority::Normal, 0).unwrap();
        scheduler.grant(&mut First(choice), 0, &mut grants).unwrap_err().to_string()
    };
    assert_eq!(
        illegal(None),
        "policy `first` chose nothing, though nothing runs and stage `source` could start for job 1 partition 0"
    );
    assert_eq!(illegal(Some(9)), "policy `first` chose firing number 9 of 2 that wait");
    assert_eq!(
        illegal(Some(0)),
        "policy `first` chose stage `right` for job 0 partition 0, which cannot start: it needs 1 of pool `heavy`, which \
         has 0 free"
    );
}

/// A policy sees how full edges, stages and CCDs are, and how long firings took.
#[test]
fn policies_see_depths_loads_and_durations() {
    let mut plan = diamond(2, 2, 2);
    plan.stages[0].workers = 2;
    let place = |stage, worker| crate::placement::WorkerPlace {
        stage,
        worker,
        ccds: vec![worker],
        cpus: crate::topology::Cpus::default(),
        pool: None,
    };
    let places: Vec<_> = (0..2).map(|worker| place(0, worker)).collect();
    let mut scheduler = Scheduler::new(&plan).unwrap().placed(&places, 2);
    struct Seen(Vec<(Vec<u32>, Option<u32>, u32, u64)>);
    impl Policy for Seen {
        fn name(&self) -> &'static str {
            "seen"
        }
        fn choose(&mut self, state: &State<'_>) -> Option<usize> {
            let rest = state.stages[0].rest_ns;
            self.0.push((state.ccds.to_vec(), state.waiting[0].ccd, state.edges[0].used, rest));
            Some(0)
        }
    }
    let (mut seen, mut grants) = (Seen(Vec::new()), Vec::new());
    scheduler.submit(JobId(0), 3, &SIZES, Priority::Normal, 0).unwrap();
    scheduler.grant(&mut seen, 0, &mut grants).unwrap();
    assert_eq!(seen.0, [(vec![0, 0], Some(0), 0, 3), (vec![1, 0], Some(1), 1, 3)]);
    [0, 1].into_iter().for_each(|edge| scheduler.arrived(edge, grants[0].key, false, 70));
    scheduler.ended(&grants[0], Output::Token, 70);
    assert_eq!(scheduler.stages()[0].mean_ns, Some(70));
    assert_eq!(scheduler.stages()[0].rest_ns, 72, "70 ns, and two stages that were never measured");
}

#[test]
fn dealloc_has_one_firing_for_every_dead_slot() {
    let mut plan = empty_plan(0, 1);
    plan.stages = vec![stage("dealloc", Role::Dealloc, 1, 1, false)];
    let mut run = Run::new(plan);
    let key = TokenKey { job: JobId(0), partition: 0 };
    (0..2).for_each(|_| run.scheduler.slot_died(key, 0));
    run.grant();
    assert_eq!(run.running.len(), 1, "one permit, one worker");
    run.end(0, true);
    run.end(0, true);
    assert!(run.scheduler.is_idle());
}

/// A chain whose stages have so many slots each.
fn with_slots(slots: u32) -> Plan {
    let mut plan = chain(3, 2, 2, 2);
    plan.stages.iter_mut().for_each(|stage| stage.slots = Some(slots));
    plan
}

#[test]
fn a_firing_waits_until_a_slot_is_home() {
    let mut run = Run::new(with_slots(1));
    run.submit(0, 2);
    run.end(0, true);
    assert_eq!(run.fired(0, false), 1, "the only slot of the source is in use");
    run.end(0, true);
    assert_eq!((run.fired(0, false), run.fired(1, false)), (1, 1), "and stays in use until it is home");
    assert_eq!(run.running.len(), 1, "the sink runs");
    run.end(0, true);
    assert_eq!(run.fired(0, false), 2);
    run.drain(0, |_| true);
    assert_eq!(run.fired(2, false), 2);
    assert!(run.scheduler.is_idle());
}

#[test]
fn slots_come_home_from_firings_that_fail() {
    for seed in 0..50 {
        let mut run = Run::new(with_slots(2));
        (0..4).for_each(|job| run.submit(job, 3));
        run.drain(seed, |grant| {
            grant.stage == 2 || !(grant.key.job.0 + u64::from(grant.key.partition)).is_multiple_of(3)
        });
        assert_eq!(run.fired(2, false) + run.fired(2, true), 12, "seed {seed}");
        assert!(run.scheduler.is_idle(), "seed {seed}: {:?}", run.scheduler.free());
    }
}

#[test]
fn without_dealloc_slots_are_not_bounded() {
    let mut plan = with_slots(1);
    plan.stages.pop();
    let scheduler = Scheduler::new(&plan).unwrap();
    assert_eq!(scheduler.free().len(), plan.pools.len());
}

#[test]
fn a_job_that_is_held_back_starts_when_it_is_let_go() {
    let mut run = Run::new(chain(3, 2, 2, 2));
    run.scheduler.submit(JobId(0), 2, &SIZES, Priority::Normal, 0).unwrap();
    run.scheduler.hold_back(JobId(0));
    run.submit(1, 1);
    assert_eq!(run.granted, [(0, TokenKey { job: JobId(1), partition: 0 }, false)]);
    run.scheduler.let_go(JobId(0));
    run.grant();
    run.drain(0, |_| true);
    assert_eq!(run.fired(2, false), 3);
    run.scheduler.submit(JobId(2), 2, &SIZES, Priority::Normal, 0).unwrap();
    run.scheduler.hold_back(JobId(2));
    run.scheduler.fail(JobId(2));
    run.grant();
    run.drain(0, |_| true);
    assert_eq!((run.fired(2, true), run.scheduler.has_job(JobId(2))), (2, false), "a failed one ends all the same");
    assert!(run.scheduler.is_idle());
}
