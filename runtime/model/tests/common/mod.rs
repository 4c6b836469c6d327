//! A small pipeline of the real engine, workers, edges and slots: a worker for each thread.

pub mod stages;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pipeline_runtime::admission::{PROGRAM_BYTES, What};
use pipeline_runtime::error::{Cause, Failure};
use pipeline_runtime::event::NoObserver;
use pipeline_runtime::limits::Limit;
use pipeline_runtime::placement::Placement;
use pipeline_runtime::plan::{Edge, Plan, Pool, Role, StagePlan, Unit};
use pipeline_runtime::policy::{OldestFirst, Policy, State};

use crate::arena::{Memory, Slots};
use crate::exec::edge::edge;
use crate::exec::engine::Engine;
use crate::exec::firing::Rights;
use crate::exec::room::Room;
use crate::exec::worker::{Body, Outlet, StageParts, Worker, run_dealloc, run_stage};
use crate::slot::{Dead, FreeList};
use crate::sync::unbounded;
use stages::{Home, Sink, Source, Word, Work};

pub type Lock = Arc<Engine<Work, Word>>;

/// source → sink over an edge of `capacity`, and dealloc; each firing of the two takes one of `permits`.
fn plan(permits: u64, capacity: u32, workers: u32) -> Plan {
    let stage = |name: &str, role, inputs: &[usize], outputs: &[usize]| StagePlan {
        workers,
        needs: vec![(0, 1)],
        inputs: inputs.to_vec(),
        outputs: outputs.to_vec(),
        ..StagePlan::plain(name, role)
    };
    Plan {
        graph: "model".into(),
        file: "model.ron".into(),
        digest: String::new(),
        sku: None,
        pools: vec![Pool { name: "heavy".into(), size: permits, unit: Unit::Count }],
        groups: Vec::new(),
        stages: vec![
            stage("source", Role::Source, &[], &[0]),
            stage("sink", Role::Sink, &[0], &[]),
            StagePlan::plain("dealloc", Role::Dealloc),
        ],
        edges: vec![Edge { from: 0, to: 1, port: 0, token: "Word".into(), capacity, reserved_by: 0 }],
        policy: "oldest_first".into(),
        dealloc: pipeline_runtime::plan::Dealloc::default(),
        give_back: pipeline_runtime::plan::GiveBack::default(),
        memory: Vec::new(),
    }
}

/// [`OldestFirst`] with its eyes open: permits are neither lost nor invented, and nobody overtakes an older firing that
/// could start. A panic here is an illegal choice to the engine, which fails the job with its text.
struct Watched {
    permits: u64,
    /// Nothing fails, so there are no tombstones.
    exact: bool,
    asked: Arc<AtomicUsize>,
}

impl Policy for Watched {
    fn name(&self) -> &str {
        "watched"
    }

    fn choose(&mut self, state: &State<'_>) -> Option<usize> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let taken: u64 = state.stages[..2].iter().map(|stage| u64::from(stage.running)).sum();
        // Tombstones run without permits.
        let whole = if self.exact { state.free[0] + taken == self.permits } else { state.free[0] <= self.permits };
        assert!(whole && state.free[0] + taken >= self.permits, "the sum of the permits is conserved");
        let chosen = OldestFirst.choose(state);
        if let Some(chosen) = chosen {
            let older = state.waiting[..chosen].iter().filter(|firing| firing.is_legal()).count();
            assert_eq!(older, 0, "nobody is overtaken");
        }
        chosen
    }
}

/// The engine, and what its workers' threads run until they are sent home.
pub fn start(permits: u64, capacity: u32, workers: u32, exact: bool) -> (Lock, Vec<Thread>, Arc<AtomicUsize>) {
    let plan = plan(permits, capacity, workers);
    let (into, out_of) = edge::<Word>(0, (capacity + workers) as usize);
    let slots = (capacity + 2 * workers) as usize;
    let memory = Arc::new(Memory::new(plan.dealloc, plan.give_back, Slots::AllFirst, None));
    // Room for every job of this model, which the ledger has to find out.
    let limit = Some(Limit { bytes: 2 * PROGRAM_BYTES, by: "the model".into() });
    let source = Arc::new(StageParts::<Source, (), Word> {
        inputs: (),
        outlet: Outlet::Edges(vec![into]),
        free: FreeList::new(slots, &memory),
    });
    let sink = Arc::new(StageParts::<Sink, _, Word> {
        inputs: (out_of,),
        outlet: Outlet::Sink(|word| word),
        free: FreeList::new(slots, &memory),
    });
    let (mut senders, mut ends) = (Vec::new(), Vec::new());
    for (stage, of_stage) in plan.stages.iter().enumerate() {
        let (to, from): (Vec<_>, Vec<_>) = (0..of_stage.workers).map(|_| unbounded()).unzip();
        senders.push(to);
        ends.extend((0..).zip(from).map(|(number, grants)| (stage, number, grants)));
    }
    let placement = Placement { pools: Vec::new(), workers: Vec::new(), notes: Vec::new() };
    let asked = Arc::new(AtomicUsize::new(0));
    let policy = Box::new(Watched { permits, exact, asked: Arc::clone(&asked) });
    let trim = {
        let memory = Arc::clone(&memory);
        Box::new(move |what, hold| {
            let memory = Arc::clone(&memory);
            let let_go = move || {
                if let What::Slots(sizes) = what {
                    memory.trim(&sizes);
                }
            };
            Dead::idle(let_go, hold)
        })
    };
    let room = Room { limit, threads: Vec::new(), trim, keeper: None };
    let engine = Engine::new(plan, &placement, policy, Arc::new(NoObserver), senders, room).unwrap();
    let thread = |(stage, number, grants)| {
        let rights = Rights { mem: None, cores: None, gpu: None, double: None };
        let worker = Worker { engine: Arc::clone(&engine), stage, number, in_flight: 1, grants, rights };
        let (source, sink) = (Arc::clone(&source), Arc::clone(&sink));
        let body: Body<Work, Word> = match stage {
            0 => Box::new(move |worker| run_stage::<Source, _, _, _>(&worker, &source)),
            1 => Box::new(move |worker| run_stage::<Sink, _, _, _>(&worker, &sink)),
            _ => Box::new(run_dealloc::<Home, _, _>),
        };
        let thread: Thread = Box::new(move || body(worker));
        thread
    };
    let threads = ends.into_iter().map(thread).collect();
    (engine, threads, asked)
}

/// The life of a worker.
pub type Thread = Box<dyn FnOnce() + Send>;

/// A job's end, its owner's part: cancelled or not, it has exactly one, and then nothing is left.
pub fn see_to_the_end(engine: &Lock, work: Work, cancel: bool) {
    let (partitions, fails) = (work.partitions as usize, work.fails_on.is_some());
    let handle = engine.submit(work, None).unwrap();
    if cancel {
        handle.cancel();
    }
    match handle.wait() {
        Ok(outputs) => {
            let words: Vec<usize> = outputs.iter().map(|word| word.0 as usize).collect();
            assert!(!fails && words == (0..partitions).collect::<Vec<_>>(), "{words:?}");
        }
        Err(Failure { cause: Cause::Cancelled, .. }) => assert!(cancel),
        Err(Failure { cause: Cause::Failed(error), .. }) => {
            assert!(fails && error.to_string() == "as told", "{error}");
        }
        Err(other) => panic!("{other}"),
    }
    engine.wait_until_idle();
    assert!(engine.is_idle(), "every permit and place is home");
}
