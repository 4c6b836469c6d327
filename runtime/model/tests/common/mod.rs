//! A small pipeline around the real engine: a worker for each thread, which ends what it is granted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pipeline_runtime::error::{Cause, Failure, StageError};
use pipeline_runtime::event::NoObserver;
use pipeline_runtime::key::TokenKey;
use pipeline_runtime::placement::Placement;
use pipeline_runtime::plan::{Edge, Plan, Pool, Role, StagePlan, Unit};
use pipeline_runtime::policy::{OldestFirst, Policy, State};
use pipeline_runtime::scheduler::{Grant, Output};
use pipeline_runtime::stage::{Job, Sizes};

use crate::exec::engine::Engine;
use crate::slot::Token;
use crate::sync::{Receiver, unbounded};

/// A job of so many partitions, whose firing of the source for one of them may fail.
pub struct Work {
    pub partitions: u32,
    pub fails_on: Option<u32>,
}

impl Job for Work {
    fn partitions(&self) -> u32 {
        self.partitions
    }
    fn sizes(&self) -> Sizes {
        Sizes::default()
    }
}

pub struct Done;

impl Token for Done {}

pub type Lock = Arc<Engine<Work, Done>>;

/// source → sink over an edge of `capacity`; each firing takes one of `permits`.
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
        stages: vec![stage("source", Role::Source, &[], &[0]), stage("sink", Role::Sink, &[0], &[])],
        edges: vec![Edge { from: 0, to: 1, port: 0, token: "Done".into(), capacity, reserved_by: 0 }],
        policy: "oldest_first".into(),
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
        let taken: u64 = state.stages.iter().map(|stage| u64::from(stage.running)).sum();
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

/// The engine, and where its workers' grants come out.
pub fn start(permits: u64, capacity: u32, workers: u32, exact: bool) -> (Lock, Vec<Receiver<Grant>>, Arc<AtomicUsize>) {
    let (mut senders, mut receivers) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let (sender, receiver): (Vec<_>, Vec<_>) = (0..workers).map(|_| unbounded()).unzip();
        senders.push(sender);
        receivers.extend(receiver);
    }
    let placement = Placement { pools: Vec::new(), workers: Vec::new(), notes: Vec::new() };
    let asked = Arc::new(AtomicUsize::new(0));
    let policy = Box::new(Watched { permits, exact, asked: Arc::clone(&asked) });
    let engine = Engine::new(plan(permits, capacity, workers), &placement, policy, Arc::new(NoObserver), senders);
    (engine.unwrap(), receivers, asked)
}

/// The life of a worker: as `exec/worker.rs`, less the stage and the packets.
pub fn work(engine: &Lock, grants: &Receiver<Grant>) {
    while let Some(grant) = grants.recv() {
        let job = engine.job(grant.key.job).filter(|job| !grant.dead && !job.failed());
        let fails = job.as_ref().is_some_and(|job| job.job.fails_on == Some(grant.key.partition) && grant.stage == 0);
        let alive = job.is_some() && !fails;
        let cause = Cause::Failed(StageError::new("as told"));
        let failure = fails.then(|| Failure { key: grant.key, stage: Some("source".into()), cause });
        if grant.stage == 0 {
            let output = if alive { Output::Token } else { Output::Tombstone };
            engine.ended(&grant, output, failure, [0]);
        } else {
            engine.deliver(grant.key, alive.then_some(Done));
            engine.ended(&grant, Output::Tombstone, failure, []);
        }
    }
}

/// A job's end, its owner's part: cancelled or not, it has exactly one, and then nothing is left.
pub fn see_to_the_end(engine: &Lock, work: Work, cancel: bool) {
    let (partitions, fails) = (work.partitions as usize, work.fails_on.is_some());
    let handle = engine.submit(work).unwrap();
    if cancel {
        handle.cancel();
    }
    match handle.wait() {
        Ok(outputs) => assert!(outputs.len() == partitions && !fails),
        Err(Failure { cause: Cause::Cancelled, .. }) => assert!(cancel),
        Err(Failure { cause: Cause::Failed(error), .. }) => {
            assert!(fails && error.to_string() == "as told", "{error}");
        }
        Err(other) => panic!("{other}"),
    }
    engine.wait_until_idle();
    assert!(engine.is_idle(), "every permit and place is home");
}

/// A key, for what is sent home.
pub type Key = TokenKey;
