//! The life of one worker thread.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::capability::DeallocPermit;
use crate::error::{Cause, Failure, StageError};
use crate::event::{Ending, Event};
use crate::exec::edge::{OutEnd, Packet};
use crate::exec::engine::{Engine, JobState};
use crate::exec::firing::{Firing, Rights};
use crate::exec::guard::guarded;
use crate::exec::ports::InPorts;
use crate::scheduler::{Grant, Output};
use crate::slot::{FreeList, Shared, Token, Travels, WayHome};
use crate::stage::{DeallocStage, Job, Stage};
use crate::sync::Receiver;

/// What a worker thread runs until its grants end.
pub(crate) type Body<J, O> = Box<dyn FnOnce(Worker<J, O>) + Send>;

/// One worker.
pub(crate) struct Worker<J: Job, O: Travels> {
    pub(crate) engine: Arc<Engine<J, O>>,
    pub(crate) stage: usize,
    pub(crate) number: u32,
    pub(crate) in_flight: usize,
    pub(crate) grants: Receiver<Grant>,
    pub(crate) rights: Rights,
}

/// What the workers of one stage share.
pub(crate) struct StageParts<S: Stage, P, O> {
    pub(crate) inputs: P,
    pub(crate) outlet: Outlet<S, O>,
    pub(crate) free: Arc<FreeList<S::Out>>,
}

/// Where a stage's output goes.
pub(crate) enum Outlet<S: Stage, O> {
    Edges(Vec<OutEnd<S::Out>>),
    /// Out of the graph. The function is the identity: it is how `S::Out = O` is remembered.
    Sink(fn(S::Out) -> O),
}

/// A firing between `start` and `finish`.
struct Begun<S: Stage> {
    grant: Grant,
    job: Arc<dyn AnyJob<S::Job>>,
    inputs: S::In,
    pending: S::Pending,
    busy: Duration,
}

/// A running job without its output type.
trait AnyJob<J>: Send + Sync {
    fn job(&self) -> &J;
    fn failed(&self) -> bool;
}

impl<J: Send + Sync, O: Send> AnyJob<J> for JobState<J, O> {
    fn job(&self) -> &J {
        &self.job
    }

    fn failed(&self) -> bool {
        JobState::failed(self)
    }
}

/// What came of a firing, before it is sent on.
enum Made<T> {
    Token(T),
    Skipped,
    Failed(Cause),
}

/// Runs stage `S` for as long as grants come.
pub(crate) fn run_stage<S, P, J, O>(worker: &Worker<J, O>, parts: &StageParts<S, P, O>)
where
    S: Stage<Job = J, Out: Travels>,
    P: InPorts<In = S::In>,
    J: Job,
    O: Travels,
{
    let mut begun: VecDeque<Begun<S>> = VecDeque::new();
    loop {
        let next = if begun.is_empty() {
            match worker.grants.recv() {
                Ok(grant) => Some(grant),
                Err(_) => return,
            }
        } else if begun.len() < worker.in_flight {
            worker.grants.try_recv().ok()
        } else {
            None
        };
        match next {
            Some(grant) => begun.extend(begin(worker, parts, grant)),
            None => {
                if let Some(oldest) = begun.pop_front() {
                    finish(worker, parts, oldest);
                }
            }
        }
    }
}

fn begin<S, P, J, O>(worker: &Worker<J, O>, parts: &StageParts<S, P, O>, grant: Grant) -> Option<Begun<S>>
where
    S: Stage<Job = J, Out: Travels>,
    P: InPorts<In = S::In>,
    J: Job,
    O: Travels,
{
    let waited = Duration::from_nanos(grant.waited_ns);
    worker.engine.observe(&Event::Started { stage: grant.stage, worker: grant.worker, key: grant.key, waited });
    let inputs = match parts.inputs.take(grant.key) {
        Ok(inputs) => inputs,
        Err(error) => {
            end(worker, parts, grant, Duration::ZERO, Made::Failed(Cause::Failed(error)));
            return None;
        }
    };
    let job = worker.engine.job(grant.key.job).filter(|job| !grant.dead && !job.failed());
    let (Some(inputs), Some(job)) = (inputs, job) else {
        end(worker, parts, grant, Duration::ZERO, Made::Skipped);
        return None;
    };
    let clock = Instant::now();
    let firing = Firing::<S> { job: &job.job, key: grant.key, free: &parts.free, rights: &worker.rights };
    let started = run(|| S::start(&firing, &inputs));
    let busy = clock.elapsed();
    if parts.free.memory().warns() {
        worker.engine.observe(&Event::SmallPages);
    }
    match started {
        Ok(pending) => Some(Begun { grant, job, inputs, pending, busy }),
        Err(cause) => {
            drop(inputs);
            drop(job);
            end(worker, parts, grant, busy, Made::Failed(cause));
            None
        }
    }
}

fn finish<S, P, J, O>(worker: &Worker<J, O>, parts: &StageParts<S, P, O>, begun: Begun<S>)
where
    S: Stage<Job = J, Out: Travels>,
    P: InPorts<In = S::In>,
    J: Job,
    O: Travels,
{
    let Begun { grant, job, inputs, pending, busy } = begun;
    let clock = Instant::now();
    let firing = Firing::<S> { job: job.job(), key: grant.key, free: &parts.free, rights: &worker.rights };
    let result = match run(|| S::finish(&firing, &inputs, pending)) {
        Ok(mut token) if job.failed() => {
            // Nobody will read it, and nobody else wipes it.
            token.wipe();
            parts.free.put(token);
            Made::Skipped
        }
        Ok(token) => Made::Token(token),
        Err(cause) => Made::Failed(cause),
    };
    let busy = busy + clock.elapsed();
    // The inputs go before the permits come back, so that the next firing finds their memory. So does the job, which may be the
    // last to have its key: what a job that is over took is free for the next.
    drop(inputs);
    drop(job);
    end(worker, parts, grant, busy, result);
}

/// Sends what the firing made, then gives back its worker and permits.
fn end<S, P, J, O>(
    worker: &Worker<J, O>,
    parts: &StageParts<S, P, O>,
    grant: Grant,
    busy: Duration,
    result: Made<S::Out>,
) where
    S: Stage<Job = J, Out: Travels>,
    J: Job,
    O: Travels,
{
    let engine = &worker.engine;
    let (token, failure, ending) = match result {
        Made::Token(token) => (Some(token), None, Ending::Succeeded),
        Made::Skipped => (None, None, Ending::Skipped),
        Made::Failed(cause) => {
            let stage = engine.plan.stages[grant.stage].name.clone();
            (None, Some(Failure { key: grant.key, stage: Some(stage), cause }), Ending::Failed)
        }
    };
    engine.observe(&Event::Ended { stage: grant.stage, worker: grant.worker, key: grant.key, busy, ending });
    let output = if token.is_some() { Output::Token } else { Output::Tombstone };
    match &parts.outlet {
        Outlet::Edges(edges) => {
            let shared = token.map(|token| {
                let way_home: Arc<dyn WayHome> = Arc::new(Arc::clone(engine));
                let hold = engine.hold_of(grant.stage, grant.key.job);
                Shared::new(grant.key, token, &parts.free, &way_home, hold)
            });
            for edge in edges {
                let packet = shared.clone().map_or(Packet::Tombstone, Packet::Live);
                if let Err(error) = edge.put(grant.key, packet) {
                    let stage = Some(engine.plan.stages[grant.stage].name.clone());
                    engine.fail(Failure { key: grant.key, stage, cause: Cause::Failed(error) });
                }
            }
            // The edges have it now. Readers may be done with it as soon as the firing has ended, and the last of them sends it
            // home: never this thread, at a time when nothing seems to run.
            drop(shared);
            engine.ended(&grant, output, failure, edges.iter().map(|edge| edge.edge));
        }
        Outlet::Sink(out) => {
            // What the sink holds goes home with the firing: its output has left the graph.
            engine.deliver(grant.key, token.map(out));
            engine.ended(&grant, Output::Tombstone, failure, []);
        }
    }
}

/// Runs a stage's function; a panic is a cause like any other.
fn run<T>(work: impl FnOnce() -> Result<T, StageError>) -> Result<T, Cause> {
    // The stage's inputs are shared and read-only, its output is dropped with the panic: nothing half-made is seen.
    guarded(work).map_err(Cause::Panicked)?.map_err(Cause::Failed)
}

/// Runs the `dealloc` stage for as long as slots die.
pub(crate) fn run_dealloc<D, J, O>(worker: Worker<J, O>)
where
    D: DeallocStage,
    J: Job,
    O: Travels,
{
    let permit = DeallocPermit::new();
    while let Ok(grant) = worker.grants.recv() {
        let waited = Duration::from_nanos(grant.waited_ns);
        let (stage, number, key) = (grant.stage, grant.worker, grant.key);
        worker.engine.observe(&Event::Started { stage, worker: number, key, waited });
        let clock = Instant::now();
        let freed = worker.engine.dead_slot().map(|dead| match &worker.rights.double {
            None => run(|| D::dealloc(dead, &permit)),
            Some((double, stage)) => {
                let done = run(|| double.fire(*stage, key));
                dead.go_home();
                done
            }
        });
        let ending = if matches!(freed, Some(Ok(()))) { Ending::Succeeded } else { Ending::Failed };
        let busy = clock.elapsed();
        worker.engine.observe(&Event::Ended { stage, worker: number, key, busy, ending });
        worker.engine.ended(&grant, Output::Token, None, []);
    }
}
