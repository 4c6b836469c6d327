//! The one lock of a running pipeline, and what is done under it.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use crate::admission::{Line, What};
use crate::error::{Cause, Failure, StageError};
use crate::event::{Event, Observer};
use crate::exec::guard::{GuardedPolicy, guarded};
use crate::exec::handle::{Canceller, Handle, Outcome};
use crate::exec::room::{Reservation, Room};
use crate::key::{JobId, TokenKey};
use crate::permits::{Claim, NeverFits};
use crate::placement::Placement;
use crate::plan::Plan;
use crate::policy::{OldestFirst, Policy};
use crate::scheduler::{Grant, Output, Scheduler};
use crate::slot::{Dead, Hold, Travels, WayHome};
use crate::stage::Job;
use crate::sync::{AtomicBool, Condvar, Mutex, MutexGuard, Ordering, Receiver, Sender, unbounded};

/// A job was not accepted.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SubmitError {
    /// One partition needs more than the plan's pools have: it could never start.
    #[error(
        "the job does not fit the plan: a partition {0}; raise the pool in the graph file or prove a smaller circuit"
    )]
    NeverFits(#[from] NeverFits),
    /// There is not so much memory, however long it waits.
    #[error(
        "the job does not fit the memory: it takes {wanted}, and there is {has} ({limited_by}); prove a smaller circuit, lower \
         a capacity or the workers of a stage in the graph file, or raise the limit\n{table}"
    )]
    NoMemory {
        /// What it takes, with its unit.
        wanted: String,
        /// What there is, with its unit.
        has: String,
        /// What limits that.
        limited_by: String,
        /// What takes how much, line by line.
        table: String,
    },
    /// The job has no partitions.
    #[error("the job has no partitions")]
    Empty,
    /// The pipeline is shutting down, or stopped because of its policy.
    #[error("the pipeline takes no more jobs: {0}")]
    Closed(String),
}

/// A running job.
pub(crate) struct JobState<J, O> {
    pub(crate) job: J,
    failed: AtomicBool,
    outputs: Mutex<Vec<Option<O>>>,
    outcome: Arc<Outcome<O>>,
}

impl<J, O> JobState<J, O> {
    pub(crate) fn failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }
}

/// What all threads of a pipeline share.
pub(crate) struct Engine<J: Job, O: Travels> {
    pub(crate) plan: Plan,
    core: Mutex<Core<J, O>>,
    /// Signalled when nothing is left to do, when a reservation is granted, and when no more jobs are taken.
    pub(super) changed: Condvar,
    start: Instant,
    observer: Arc<dyn Observer>,
    /// Set when the observer has panicked.
    blind: AtomicBool,
    pub(super) dead: Sender<Dead>,
    dead_end: Receiver<Dead>,
    pub(super) room: Room,
}

pub(super) struct Core<J: Job, O: Travels> {
    pub(super) scheduler: Scheduler,
    policy: GuardedPolicy,
    jobs: HashMap<JobId, Arc<JobState<J, O>>>,
    pub(super) next_job: u64,
    /// Why no more jobs are taken.
    pub(super) closed: Option<String>,
    /// A worker ended before its time: what it ran never ends, so nobody waits for it.
    broken: bool,
    /// By stage and worker; empty once the workers were sent home.
    workers: Vec<Vec<Sender<Grant>>>,
    /// Who waits for memory and who has some; `None` where nobody knows how much there is.
    pub(super) line: Option<Line>,
    /// What was idle and has gone, as far as this `dealloc` firing knows; slots of the same size that died before may be in the
    /// hands of another one.
    pub(super) leaving: Vec<What>,
}

/// A job that failed and whose owner is to be told.
type Failed<J, O> = (Arc<JobState<J, O>>, Failure);

impl<J: Job, O: Travels> Core<J, O> {
    fn fail(&mut self, failure: Failure) -> Option<Failed<J, O>> {
        self.scheduler.fail(failure.key.job);
        // Firings that run now keep the job alive through their own reference.
        let state = self.jobs.remove(&failure.key.job)?;
        state.failed.store(true, Ordering::Release);
        Some((state, failure))
    }
}

impl<J: Job, O: Travels> Engine<J, O> {
    pub(crate) fn new(
        plan: Plan,
        placement: &Placement,
        policy: Box<dyn Policy>,
        observer: Arc<dyn Observer>,
        workers: Vec<Vec<Sender<Grant>>>,
        room: Room,
    ) -> Result<Arc<Self>, NeverFits> {
        let (dead, dead_end) = unbounded();
        // CCDs that no worker is bound to are not in the placement; policies see what runs on the others.
        let ccds = placement.workers.iter().flat_map(|worker| &worker.ccds).max().map_or(0, |last| *last as usize + 1);
        let scheduler = Scheduler::new(&plan)?.placed(&placement.workers, ccds);
        let policy = GuardedPolicy::new(policy);
        let (jobs, line, leaving) = (HashMap::new(), room.line(), Vec::new());
        let core = Core { scheduler, policy, jobs, next_job: 0, closed: None, broken: false, workers, line, leaving };
        let (core, changed, start) = (Mutex::new(core), Condvar::new(), Instant::now());
        Ok(Arc::new(Self { plan, core, changed, start, observer, blind: AtomicBool::new(false), dead, dead_end, room }))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Core<J, O>> {
        // Policies and observers are guarded, so only a broken invariant of the scheduler panics under the lock. It
        // ends the worker, and `worker_died` all jobs.
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn now_ns(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    pub(crate) fn observe(&self, event: &Event) {
        if self.blind.load(Ordering::Relaxed) {
            return;
        }
        if guarded(|| self.observer.event(self.start.elapsed(), event)).is_err() {
            // The panic has been reported by the panic hook; one that panics once is not asked again.
            self.blind.store(true, Ordering::Relaxed);
        }
    }

    /// Takes a job in, at the end of the line or in the place of a reservation.
    pub(crate) fn submit(
        self: &Arc<Self>,
        job: J,
        mut reservation: Option<Reservation>,
    ) -> Result<Handle<O>, SubmitError> {
        let partitions = job.partitions();
        if partitions == 0 {
            return Err(SubmitError::Empty);
        }
        let shares = self.shares(&job, reservation.as_ref())?;
        let mut core = self.lock();
        if let Some(why) = &core.closed {
            return Err(SubmitError::Closed(why.clone()));
        }
        let id = JobId(core.next_job);
        core.scheduler.submit(id, partitions, &job.sizes(), job.priority(), self.now_ns())?;
        core.next_job += 1;
        let Core { scheduler, line, .. } = &mut *core;
        if let Some(line) = line {
            scheduler.hold_back(id);
            match reservation.as_mut().and_then(|reservation| self.take_over(reservation)) {
                Some(number) => line.job_in(number, id, shares),
                None => line.job(id, shares),
            }
            self.admit(&mut core);
        }
        let outcome = Outcome::new();
        let outputs = Mutex::new((0..partitions).map(|_| None).collect());
        let state = JobState { job, failed: AtomicBool::new(false), outputs, outcome: Arc::clone(&outcome) };
        core.jobs.insert(id, Arc::new(state));
        // Before the first grant, so that observers see a job before its firings.
        self.observe(&Event::Accepted { job: id, partitions });
        self.dispatch(core);
        Ok(Handle { job: id, outcome, canceller: Arc::new(Arc::clone(self)) })
    }

    /// Grants what can start, hands the grants to their workers, and lets go of the lock.
    pub(super) fn dispatch(self: &Arc<Self>, mut guard: MutexGuard<'_, Core<J, O>>) {
        let (mut grants, mut failed) = (Vec::new(), Vec::new());
        let core = &mut *guard;
        self.account(core);
        let granted = core.scheduler.grant(&mut core.policy, self.now_ns(), &mut grants);
        if let Err(illegal) = granted {
            // Fail what is there, take nothing more, and let a policy that is known to be legal clear the pipeline.
            let why = match core.policy.panicked.take() {
                Some(message) => format!("policy `{}` panicked: {message}", illegal.policy),
                None => illegal.to_string(),
            };
            core.closed = Some(why.clone());
            self.changed.notify_all();
            core.policy = GuardedPolicy::new(Box::new(OldestFirst));
            for id in core.jobs.keys().copied().collect::<Vec<_>>() {
                let cause = Cause::Failed(StageError::new(&why));
                failed.extend(core.fail(Failure { cause, ..whole_job(id) }));
            }
            let drained = core.scheduler.grant(&mut core.policy, self.now_ns(), &mut grants);
            debug_assert!(drained.is_ok(), "oldest_first chooses legal firings only");
        }
        for grant in grants {
            // A worker has a place in its channel for each lane, and lives as long as its stage has work.
            let sent = core.workers.get(grant.stage).map(|stage| stage[grant.worker as usize].try_send(grant));
            debug_assert!(core.broken || matches!(sent, Some(Ok(()))), "a granted firing has a worker");
        }
        if core.scheduler.is_idle() {
            self.changed.notify_all();
        }
        drop(guard);
        failed.into_iter().for_each(|failed| self.tell(failed));
    }

    pub(crate) fn job(&self, id: JobId) -> Option<Arc<JobState<J, O>>> {
        self.lock().jobs.get(&id).cloned()
    }

    /// The claim that the output of `stage` keeps until it is home.
    pub(crate) fn hold_of(self: &Arc<Self>, stage: usize, job: JobId) -> Option<Hold> {
        let claim = self.lock().scheduler.hold_of(stage, job);
        let kept = Kept { engine: Arc::<Self>::clone(self), claim };
        if kept.claim.is_empty() { None } else { Some(Box::new(kept)) }
    }

    /// A firing is over and its packets are on `edges`. If it failed, its job fails with it: at once, so that nobody is
    /// granted anything between the two.
    pub(crate) fn ended(
        self: &Arc<Self>,
        grant: &Grant,
        output: Output,
        failure: Option<Failure>,
        edges: impl IntoIterator<Item = usize>,
    ) {
        let mut core = self.lock();
        let now = self.now_ns();
        let failed = failure.and_then(|failure| core.fail(failure));
        for edge in edges {
            core.scheduler.arrived(edge, grant.key, output == Output::Tombstone, now);
        }
        core.scheduler.ended(grant, output, now);
        self.dispatch(core);
        if let Some(failed) = failed {
            self.tell(failed);
        }
    }

    /// Firings that were granted and have not ended.
    pub(crate) fn in_flight(&self) -> usize {
        self.lock().scheduler.running()
    }

    /// The sink took a partition's output, or its tombstone (`None`).
    pub(crate) fn deliver(&self, key: TokenKey, output: Option<O>) {
        let Some(state) = self.job(key.job) else { return };
        let finished = {
            let mut outputs = state.outputs.lock().unwrap_or_else(PoisonError::into_inner);
            outputs[key.partition as usize] = output;
            if outputs.iter().all(Option::is_some) { Some(outputs.drain(..).flatten().collect()) } else { None }
        };
        if let Some(outputs) = finished {
            self.lock().jobs.remove(&key.job);
            // Somebody may have cancelled it in this moment; the job ends once.
            let ended = Event::Finished { job: key.job, succeeded: true };
            state.outcome.settle(Ok(outputs), || self.observe(&ended));
        }
    }

    /// A partition failed: its job fails, and what of it has not started is skipped.
    pub(crate) fn fail(self: &Arc<Self>, failure: Failure) {
        let mut core = self.lock();
        let failed = core.fail(failure);
        self.dispatch(core);
        if let Some(failed) = failed {
            self.tell(failed);
        }
    }

    /// Tells the job's owner. Not under the lock: a waker may do as it likes.
    fn tell(&self, (state, failure): Failed<J, O>) {
        let job = failure.key.job;
        state.outcome.settle(Err(failure), || self.observe(&Event::Finished { job, succeeded: false }));
    }

    /// Takes no more jobs.
    pub(crate) fn close(&self) {
        self.lock().closed.get_or_insert_with(|| "it is shutting down".to_owned());
        self.changed.notify_all();
    }

    /// Fails every job that is not done.
    pub(crate) fn fail_all(self: &Arc<Self>) {
        let (mut core, mut failed) = (self.lock(), Vec::new());
        for id in core.jobs.keys().copied().collect::<Vec<_>>() {
            failed.extend(core.fail(Failure { cause: Cause::ShutDown, ..whole_job(id) }));
        }
        self.dispatch(core);
        failed.into_iter().for_each(|failed| self.tell(failed));
    }

    /// A worker ended by a panic of this crate's own code: a broken invariant. Every job fails and no more are taken.
    pub(crate) fn worker_died(&self, stage: usize, message: &str) {
        let stage = self.plan.stages[stage].name.clone();
        let (mut core, mut failed) = (self.lock(), Vec::new());
        core.broken = true;
        core.closed = Some(format!("a worker of stage `{stage}` died: {message}"));
        for id in core.jobs.keys().copied().collect::<Vec<_>>() {
            let cause = Cause::Panicked(format!("its worker died: {message}"));
            failed.extend(core.fail(Failure { stage: Some(stage.clone()), cause, ..whole_job(id) }));
        }
        self.changed.notify_all();
        drop(core);
        failed.into_iter().for_each(|failed| self.tell(failed));
    }

    /// Waits until every accepted job has an end and every slot is home.
    pub(crate) fn wait_until_idle(&self) {
        let mut core = self.lock();
        while !core.scheduler.is_idle() && !core.broken {
            core = self.changed.wait(core).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Lets the workers end: their channels close.
    pub(crate) fn send_workers_home(&self) {
        self.lock().workers.clear();
    }

    /// A slot that died; there is one for each grant of `dealloc`.
    pub(crate) fn dead_slot(&self) -> Option<Dead> {
        self.dead_end.try_recv().ok()
    }

    /// Whether every permit, place and slot is where it was at the start.
    pub(crate) fn is_idle(&self) -> bool {
        self.lock().scheduler.is_idle()
    }
}

fn whole_job(job: JobId) -> Failure {
    Failure { key: TokenKey { job, partition: 0 }, stage: None, cause: Cause::Cancelled }
}

impl<J: Job, O: Travels> Canceller for Arc<Engine<J, O>> {
    fn cancel(&self, job: JobId) {
        self.fail(whole_job(job));
    }
}

impl<J: Job, O: Travels> WayHome for Arc<Engine<J, O>> {
    fn send(&self, key: TokenKey, dead: Dead) {
        // The receiver lives in the engine itself, so the channel is open.
        if self.dead.send(dead).is_err() {
            return;
        }
        let mut core = self.lock();
        let now = self.now_ns();
        core.scheduler.slot_died(key, now);
        self.dispatch(core);
    }
}

/// Bytes that a token keeps.
struct Kept<J: Job, O: Travels> {
    engine: Arc<Engine<J, O>>,
    claim: Claim,
}

impl<J: Job, O: Travels> Drop for Kept<J, O> {
    fn drop(&mut self) {
        let mut core = self.engine.lock();
        core.scheduler.hold_came_home(&self.claim);
        self.engine.dispatch(core);
    }
}
