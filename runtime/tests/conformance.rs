//! One engine, two clocks: the threaded pipeline, whose firings a test lets end in the simulator's order, and the
//! simulator grant the same firings between the same ends, on random small graphs.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pipeline_runtime::event::{Event, Observer};
use pipeline_runtime::exec::{Options, Running};
use pipeline_runtime::export::{
    Dead, DeallocPermit, DeallocStage, Edge, Firing, Graph, InEnd, Job, OutEnd, Plan, Pool, Port, Role, Shared, Sizes,
    Stage, StageError, StagePlan, Tags, Token, TokenKey, Unit, Wiring,
};
use pipeline_runtime::policy::OldestFirst;
use pipeline_runtime::sim::{CcdSpec, Costs, Load, MachineSpec, Setup, StageCost, Work, simulate};
use pipeline_runtime::topology::hwloc::Hwloc;

type Id = (usize, TokenKey);

/// Lets firings end, one by one, and knows which have started.
#[derive(Default)]
struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Default)]
struct GateState {
    /// Lets everything pass: the test is over.
    open: bool,
    released: BTreeSet<Id>,
    started: BTreeSet<Id>,
    ended: BTreeSet<Id>,
}

impl Gate {
    /// Called by a stage: waits until the firing may end.
    fn pass(&self, id: Id) {
        let mut state = self.state.lock().unwrap();
        while !state.open && !state.released.contains(&id) {
            state = self.changed.wait(state).unwrap();
        }
    }

    fn release(&self, id: Id) {
        self.state.lock().unwrap().released.insert(id);
        self.changed.notify_all();
    }

    /// Waits until a firing that was released has ended and all workers wait again, for a grant or at the gate: what they
    /// had to tell the scheduler is told. The pipeline has no event for that, so the kernel is asked whether they sleep.
    fn wait_for_end(&self, id: Id) {
        let mut state = self.state.lock().unwrap();
        while !state.ended.contains(&id) {
            state = self.changed.wait(state).unwrap();
        }
        drop(state);
        let mut asleep = 0;
        while asleep < 3 {
            asleep = if workers_sleep() { asleep + 1 } else { 0 };
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    /// Waits until exactly these have started.
    fn expect_started(&self, expected: &BTreeSet<Id>, what: &str) {
        let deadline = Instant::now() + Duration::from_secs(20);
        let mut state = self.state.lock().unwrap();
        while state.started != *expected {
            let strange: Vec<&Id> = state.started.difference(expected).collect();
            assert!(strange.is_empty(), "{what}: the threads started {strange:?}, the simulator did not");
            let left = deadline.saturating_duration_since(Instant::now());
            let missing: Vec<&Id> = expected.difference(&state.started).collect();
            assert!(!left.is_zero(), "{what}: the simulator started {missing:?}, the threads did not");
            state = self.changed.wait_timeout(state, left).unwrap().0;
        }
    }
}

/// Opens the gate when a check fails, so that the threads end.
struct Opens<'a>(&'a Gate);

impl Drop for Opens<'_> {
    fn drop(&mut self) {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner).open = true;
        self.0.changed.notify_all();
    }
}

/// Whether every worker's thread sleeps; they are called after their stages, `s0-1` say.
fn workers_sleep() -> bool {
    let tasks = std::fs::read_dir("/proc/self/task").expect("Linux lists the threads");
    let read =
        |task: &std::fs::DirEntry, file: &str| std::fs::read_to_string(task.path().join(file)).unwrap_or_default();
    let is_worker = |task: &std::fs::DirEntry| {
        let name = read(task, "comm");
        name.starts_with('s') && name[1..].starts_with(|digit: char| digit.is_ascii_digit())
    };
    tasks.flatten().filter(is_worker).all(|task| read(&task, "stat").contains(") S "))
}

struct Starts {
    gate: Arc<Gate>,
    dealloc: usize,
}

impl Observer for Starts {
    fn event(&self, _: Duration, event: &Event) {
        let mut state = self.gate.state.lock().unwrap();
        match *event {
            Event::Started { stage, key, .. } if stage != self.dealloc => drop(state.started.insert((stage, key))),
            Event::Ended { stage, key, .. } => drop(state.ended.insert((stage, key))),
            _ => {}
        }
        drop(state);
        self.gate.changed.notify_all();
    }
}

struct Gated {
    gate: Arc<Gate>,
    partitions: u32,
}

impl Job for Gated {
    fn partitions(&self) -> u32 {
        self.partitions
    }
    fn sizes(&self) -> Sizes {
        sizes()
    }
}

fn sizes() -> Sizes {
    Sizes { constraints: 1, ..Sizes::default() }
}

struct Nothing;

impl Token for Nothing {
    const NAME: &'static str = "Nothing";
    type Shape = ();
    fn with_shape((): &()) -> Self {
        Self
    }
    fn shape(&self) {}
    fn bytes(&self) -> u64 {
        0
    }
}

/// Stage number `AT` of a graph, with the inputs `In`.
struct Node<const AT: usize, In>(std::marker::PhantomData<In>);

impl<const AT: usize, In: Send + 'static> Stage for Node<AT, In> {
    type Job = Gated;
    type In = In;
    type Out = Nothing;
    type Pending = ();
    const NAME: &'static str = "node";
    const BACKEND: &'static str = "host";
    const TAGS: Tags = Tags::NONE;
    const PORTS: &'static [Port] = &[];

    fn start(firing: &Firing<'_, Self>, _: &In) -> Result<(), StageError> {
        firing.job().gate.pass((AT, firing.key()));
        Ok(())
    }

    fn finish(firing: &Firing<'_, Self>, _: &In, (): ()) -> Result<Nothing, StageError> {
        Ok(firing.slot().take(&()))
    }
}

struct Home;

impl DeallocStage for Home {
    const BACKEND: &'static str = "host";
    const TAGS: Tags = Tags::UNMAPS;
    fn dealloc(dead: Dead, _: &DeallocPermit) -> Result<(), StageError> {
        dead.go_home();
        Ok(())
    }
}

thread_local! {
    /// The plan that [`AnyGraph`] stands for on this thread: `Graph::plan` has no arguments.
    static PLAN: RefCell<Option<Plan>> = const { RefCell::new(None) };
}

struct AnyGraph;

impl Graph for AnyGraph {
    type Job = Gated;
    type Output = Nothing;

    fn plan() -> Plan {
        PLAN.with_borrow(|plan| plan.clone().expect("the test sets a plan"))
    }

    fn wire(wiring: &mut Wiring<'_, Gated, Nothing>) {
        let plan = Self::plan();
        let (mut outs, mut ins): (Ends<OutEnd<Nothing>>, Ends<InEnd<Nothing>>) =
            (0..plan.edges.len()).map(|edge| wiring.edge(edge)).map(|(out, end)| (Some(out), Some(end))).unzip();
        for (at, stage) in plan.stages.iter().enumerate() {
            if stage.role == Role::Dealloc {
                wiring.dealloc::<Home>(at);
                continue;
            }
            let inputs: Vec<InEnd<Nothing>> = stage.inputs.iter().filter_map(|edge| ins[*edge].take()).collect();
            let outputs: Vec<OutEnd<Nothing>> = stage.outputs.iter().filter_map(|edge| outs[*edge].take()).collect();
            match at {
                0 => put::<0>(wiring, inputs, outputs),
                1 => put::<1>(wiring, inputs, outputs),
                2 => put::<2>(wiring, inputs, outputs),
                3 => put::<3>(wiring, inputs, outputs),
                4 => put::<4>(wiring, inputs, outputs),
                _ => put::<5>(wiring, inputs, outputs),
            }
        }
    }
}

/// The ends of edges that no stage has taken yet.
type Ends<E> = Vec<Option<E>>;
type One = (Shared<Nothing>,);
type Two = (Shared<Nothing>, Shared<Nothing>);

fn put<const AT: usize>(
    wiring: &mut Wiring<'_, Gated, Nothing>,
    inputs: Vec<InEnd<Nothing>>,
    outputs: Vec<OutEnd<Nothing>>,
) {
    let mut inputs = inputs.into_iter();
    match (inputs.next(), inputs.next(), outputs.is_empty()) {
        (None, ..) => wiring.stage::<Node<AT, ()>>(AT, (), outputs),
        (Some(one), None, false) => wiring.stage::<Node<AT, One>>(AT, (one,), outputs),
        (Some(one), Some(two), false) => wiring.stage::<Node<AT, Two>>(AT, (one, two), outputs),
        (Some(one), None, true) => wiring.sink::<Node<AT, One>>(AT, (one,)),
        (Some(one), Some(two), true) => wiring.sink::<Node<AT, Two>>(AT, (one, two)),
    }
}

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
    let stage = |at: usize, draw: &mut Draw| StagePlan {
        name: format!("s{at}"),
        backend: "host".into(),
        tags: Tags::NONE,
        role: match at {
            0 => Role::Source,
            _ if at + 1 == stages => Role::Sink,
            _ => Role::Inner,
        },
        group: None,
        device: None,
        workers: draw.small(1, 3),
        threads: None,
        in_flight: 1,
        needs: if draw.below(2) == 0 { vec![(0, 1 + draw.below(heavy))] } else { Vec::new() },
        holds: Vec::new(),
        workspace: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
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
    }
}

#[derive(Default)]
struct Events(Mutex<Vec<Event>>);

impl Observer for Events {
    fn event(&self, _: Duration, event: &Event) {
        self.0.lock().unwrap().push(*event);
    }
}

/// The firings of a simulated run: what ended, and all that had been started by then and before the next end.
fn simulated(plan: &Plan, jobs: u32, partitions: u32, seed: u64) -> Vec<(Option<Id>, BTreeSet<Id>)> {
    let dealloc = plan.stages.len() - 1;
    let work = Work { wait_s: 1.0, ..Work::default() };
    let stages = plan.stages[..dealloc].iter();
    let stages =
        stages.map(|stage| (stage.name.clone(), StageCost { work: vec![work.clone()], spread: 0.9 })).collect();
    let costs = Costs { version: 1, stages, ..Costs::default() };
    let machine = MachineSpec {
        ccds: vec![CcdSpec { cores: 64, l3_bytes: f64::INFINITY }],
        threads_per_core: 1,
        dram_bytes_per_s: f64::INFINITY,
        ram_bytes: 0,
        devices: Vec::new(),
    };
    let load = Load { jobs, concurrency: jobs, partitions, sizes: sizes(), priorities: Vec::new() };
    let events = Events::default();
    let setup = Setup {
        plan,
        costs: &costs,
        machine: &machine,
        token_bytes: &[],
        resident_bytes: 0.0,
        load: &load,
        contention: seed.is_multiple_of(2),
        seed,
        fate: None,
        observer: Some(&events),
    };
    simulate(&setup, &mut OldestFirst).expect("the simulator runs the graph");
    let mut steps = vec![(None, BTreeSet::new())];
    let mut started = BTreeSet::new();
    for event in events.0.lock().unwrap().iter() {
        match *event {
            Event::Started { stage, key, .. } if stage != dealloc => {
                started.insert((stage, key));
                steps.last_mut().unwrap().1 = started.clone();
            }
            // A tombstone takes no time: it passes without being let.
            Event::Ended { stage, key, busy, .. } if stage != dealloc && !busy.is_zero() => {
                steps.push((Some((stage, key)), started.clone()));
            }
            _ => {}
        }
    }
    steps
}

#[test]
fn threads_and_simulator_grant_the_same_firings() {
    const GRAPHS: u64 = 300;
    let mut ends = 0;
    for seed in 0..GRAPHS {
        let mut draw = Draw(seed);
        let plan = random_plan(&mut draw);
        let (jobs, partitions) = (draw.small(1, 3), draw.small(1, 3));
        let steps = simulated(&plan, jobs, partitions, seed);
        let gate = Arc::new(Gate::default());
        PLAN.set(Some(plan.clone()));
        let observer = Arc::new(Starts { gate: Arc::clone(&gate), dealloc: plan.stages.len() - 1 });
        let machine = Some(Hwloc::synthetic("l3:1 core:4 pu:1").expect("a machine"));
        let options = Options { observer, machine, ..Options::default() };
        let running = Running::start::<AnyGraph>(options).expect("the threads start");
        let submit = |_| running.submit(Gated { gate: Arc::clone(&gate), partitions }).expect("the job fits");
        let handles: Vec<_> = (0..jobs).map(submit).collect();
        let opens = Opens(&gate);
        for (number, (ended, started)) in steps.iter().enumerate() {
            if let Some(ended) = ended {
                gate.release(*ended);
                gate.wait_for_end(*ended);
                ends += 1;
            }
            gate.expect_started(started, &format!("graph {seed}, after end {number}"));
        }
        drop(opens);
        let failed = handles.into_iter().map(|handle| handle.wait()).filter(Result::is_err).count();
        assert_eq!(failed, 0, "graph {seed}");
        running.drain();
        assert!(running.is_idle(), "graph {seed}: everything is home");
    }
    assert!(ends > 3000, "{ends} ends were compared");
}
