//! One engine, two clocks: the threaded pipeline with mocked stages, whose firings end in the simulator's order, and the
//! simulator grant the same firings between the same ends, on random small graphs, with failures and panics.

use pipeline_runtime::error::Cause;
use pipeline_runtime::exec::Options;
use pipeline_runtime::export::{Edge, Plan, Pool, Role, StagePlan, Unit};
use pipeline_runtime::mock::{Gate, Mock, Mocked, lockstep, mock_all};
use pipeline_runtime::policy::{Logged, OldestFirst, Policy, RandomLegal, Replay, State};
use pipeline_runtime::topology::hwloc::Hwloc;

/// A generator of small numbers: Knuth's MMIX multiplier, the upper bits.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn small(&mut self, from: u32, to: u32) -> u32 {
        from + self.below(u64::from(to - from + 1)) as u32
    }
}

/// Three to six stages; each but the source reads from one or two earlier ones, and what nobody reads goes to the sink or,
/// where that has no port left, its stage is read by nobody twice.
fn random_plan(draw: &mut Draw) -> Plan {
    let stages = draw.small(3, 6) as usize;
    let mut reads: Vec<Vec<usize>> = vec![Vec::new()];
    for at in 1..stages {
        // A chain at least, so that every stage is read; sometimes a second input from further back.
        let mut from = vec![at - 1];
        if at > 1 && draw.below(2) == 0 {
            from.push(draw.below(at as u64 - 1) as usize);
        }
        reads.push(from);
    }
    let heavy = u64::from(draw.small(1, 3));
    let role = |at: usize| match at {
        0 => Role::Source,
        _ if at + 1 == stages => Role::Sink,
        _ => Role::Inner,
    };
    let stage = |at: usize, draw: &mut Draw| StagePlan {
        workers: draw.small(1, 3),
        needs: if draw.below(2) == 0 { vec![(0, 1 + draw.below(heavy))] } else { Vec::new() },
        ..StagePlan::plain(&format!("s{at}"), role(at))
    };
    let mut all: Vec<StagePlan> = (0..stages).map(|at| stage(at, draw)).collect();
    let mut edges = Vec::new();
    for (to, from) in reads.iter().enumerate() {
        for (port, from) in from.iter().enumerate() {
            // A join's places are reserved by the source, which every way passes.
            let reserved_by = if reads[to].len() > 1 { 0 } else { *from };
            all[*from].outputs.push(edges.len());
            all[to].inputs.push(edges.len());
            edges.push(Edge {
                from: *from,
                to,
                port,
                token: "Nothing".into(),
                capacity: draw.small(1, 3),
                reserved_by,
            });
        }
    }
    let dealloc = StagePlan { role: Role::Dealloc, workers: 1, needs: Vec::new(), ..stage(stages, draw) };
    all.push(dealloc);
    Plan {
        graph: "random".into(),
        file: "random.ron".into(),
        digest: String::new(),
        sku: None,
        pools: vec![Pool { name: "heavy".into(), size: heavy, unit: Unit::Count }],
        groups: Vec::new(),
        stages: all,
        edges,
        policy: "oldest_first".into(),
        dealloc: pipeline_runtime::plan::Dealloc::default(),
        give_back: pipeline_runtime::plan::GiveBack::default(),
        memory: Vec::new(),
    }
}

/// A load of one to three jobs over a plan; every firing takes between 0.1 and 1.9 seconds. Of every three graphs one has a
/// firing that fails, and one a firing that panics.
fn mocked<'a>(plan: &'a Plan, draw: &mut Draw, seed: u64) -> Mocked<'a> {
    let (jobs, partitions) = (draw.small(1, 3), draw.small(1, 3));
    let faulty =
        (draw.below(plan.stages.len() as u64 - 1) as usize, draw.below(jobs.into()), draw.small(0, partitions - 1));
    let mut mocked = mock_all(plan).jobs(jobs, jobs).partitions(partitions).seed(seed);
    for (at, stage) in plan.stages.iter().enumerate().filter(|(_, stage)| stage.role != Role::Dealloc) {
        let mock = Mock::stage(&stage.name).core_s(1.0).spread(0.9);
        mocked = mocked.with(match (faulty.0 == at, seed % 3) {
            (true, 1) => mock.fails_on(faulty.1, faulty.2),
            (true, 2) => mock.panics_on(faulty.1, faulty.2),
            _ => mock,
        });
    }
    if seed.is_multiple_of(2) { mocked } else { mocked.without_contention() }
}

/// Lets `dealloc` go first, else decides as another policy. In which order the slots of tombstones die is up to the threads,
/// so a replay cannot follow it.
struct DeallocFirst<P>(P, usize);

impl<P: Policy> Policy for DeallocFirst<P> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn choose(&mut self, state: &State<'_>) -> Option<usize> {
        let dealloc = state.waiting.iter().position(|firing| firing.is_legal() && firing.stage == self.1);
        if dealloc.is_some() {
            return dealloc;
        }
        state.waiting.iter().any(|firing| firing.is_legal()).then(|| self.0.choose(state))?
    }
}

/// What one graph showed.
#[derive(Default)]
struct Seen {
    ends: usize,
    failed: usize,
    panicked: usize,
}

/// Runs a graph in both ways: `simulated` decides in virtual time, `threaded` makes of what it decided the policy of the
/// threads.
fn compare<P: Policy>(seed: u64, simulated: P, threaded: impl FnOnce(&P) -> Box<dyn Policy>, seen: &mut Seen) {
    let mut draw = Draw(seed);
    let plan = random_plan(&mut draw);
    let mocked = mocked(&plan, &mut draw, seed);
    let dealloc = plan.stages.len() - 1;
    let mut simulated = DeallocFirst(simulated, dealloc);
    let run = mocked.run(&mut simulated).unwrap_or_else(|error| panic!("graph {seed}: {error}"));
    let gate = Gate::new();
    let machine = Some(Hwloc::synthetic("l3:1 core:4 pu:1").expect("a machine"));
    let options = Options {
        machine,
        policy: Some(Box::new(DeallocFirst(threaded(&simulated.0), dealloc))),
        ..Options::default()
    };
    let running = mocked.start_plan(&gate, options).expect("the threads start");
    let handles: Vec<_> = mocked.any_jobs().map(|job| running.submit(job).expect("the job fits")).collect();
    match lockstep(&run, &running, &gate) {
        Ok(ends) => seen.ends += ends,
        Err(divergence) => panic!("graph {seed}: {divergence}"),
    }
    gate.open();
    let mut failed = 0;
    for handle in handles {
        match handle.wait().map_err(|failure| failure.cause) {
            Ok(_) => continue,
            Err(Cause::Failed(_)) => seen.failed += 1,
            Err(Cause::Panicked(_)) => seen.panicked += 1,
            Err(other) => panic!("graph {seed}: {other:?}"),
        }
        failed += 1;
    }
    assert_eq!(failed, usize::from(!seed.is_multiple_of(3)), "graph {seed}: one job has the fault");
    running.drain();
    assert!(running.is_idle(), "graph {seed}: everything is home");
}

/// Panics of mocks are a part of this test; what the hook prints of them would hide a real one.
fn quietly<T>(work: impl FnOnce() -> T) -> T {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !panic.payload_as_str().is_some_and(|text| text.starts_with("the mock panics")) {
            hook(panic);
        }
    }));
    work()
}

#[test]
fn threads_and_simulator_grant_the_same_firings() {
    const GRAPHS: u64 = 300;
    let mut seen = Seen::default();
    quietly(|| (0..GRAPHS).for_each(|seed| compare(seed, OldestFirst, |_| Box::new(OldestFirst), &mut seen)));
    assert!(seen.ends > 3000, "{} ends were compared", seen.ends);
    assert_eq!((seen.failed, seen.panicked), (100, 100));
}

#[test]
fn what_a_random_policy_chose_in_virtual_time_the_threads_can_replay() {
    const GRAPHS: u64 = 150;
    let mut seen = Seen::default();
    let replay = |logged: &Logged<RandomLegal>| -> Box<dyn Policy> {
        let log = logged.log();
        let text = log.lock().expect("nobody panics with the log").to_string();
        Box::new(Replay::new(text.parse().expect("a log reads back")))
    };
    quietly(|| {
        for seed in 0..GRAPHS {
            compare(seed, Logged::new(RandomLegal::new(seed)), replay, &mut seen);
        }
    });
    assert!(seen.ends > 1500, "{} ends were compared", seen.ends);
}
