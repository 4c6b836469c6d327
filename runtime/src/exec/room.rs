//! Memory for jobs, and for what is about to be loaded for them.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use crate::admission::{Keeper, Ledger, Line, PROGRAM_BYTES, Share, Step, What, row};
use crate::exec::engine::{Core, Engine, SubmitError};
use crate::key::{JobId, TokenKey};
use crate::limits::{self, Limit};
use crate::placement::{amount, lines_of};
use crate::plan::{MemoryTable, Plan, Role};
use crate::slot::{Dead, Hold, Travels};
use crate::stage::{Brought, Job, Thing};

/// How much memory there is for jobs, and how slots that nobody uses leave it.
pub(crate) struct Room {
    /// `None`: nobody knows, and all jobs are admitted.
    pub(crate) limit: Option<Limit>,
    /// The threads of a worker, by stage.
    pub(crate) threads: Vec<usize>,
    /// What `dealloc` is given so that it lets go of what is idle.
    pub(crate) trim: Box<dyn Fn(What, Hold) -> Dead + Send + Sync>,
    /// Who keeps what jobs bring along when they are over.
    pub(crate) keeper: Option<Arc<dyn Keeper>>,
}

impl Room {
    pub(super) fn line(&self) -> Option<Line> {
        self.limit.as_ref().map(|limit| Line::new(limit.bytes))
    }

    fn is_held(&self, place: u64) -> bool {
        self.keeper.as_ref().is_some_and(|keeper| keeper.is_held(place))
    }

    fn keeps(&self, place: u64) -> bool {
        self.keeper.as_ref().is_some_and(|keeper| keeper.keeps(place))
    }

    /// The shares of what is brought along, and of the program.
    fn shares_of(&self, brings: &[Brought]) -> Vec<Share> {
        let share = |brought: &Brought| {
            let thing = match (brought.thing, &self.keeper) {
                (Thing::At(address), Some(keeper)) => keeper.place_of(address).map_or(brought.thing, Thing::Kept),
                (thing, _) => thing,
            };
            Share { what: What::Brought(thing), bytes: brought.bytes }
        };
        let program = Share { what: What::Program, bytes: PROGRAM_BYTES };
        std::iter::once(program).chain(brings.iter().map(share)).collect()
    }

    /// Refuses shares that would not fit alone, with their table.
    fn expect_fit(&self, shares: &[Share], table: &MemoryTable) -> Result<(), SubmitError> {
        match &self.limit {
            Some(limit) if !Ledger::new(limit.bytes).ever_fits(shares) => Err(refused(limit, table)),
            _ => Ok(()),
        }
    }
}

fn refused(limit: &Limit, table: &MemoryTable) -> SubmitError {
    let sum = table.sum();
    let lines = table.rows.iter().map(|row| (row.what.clone(), row.bytes)).collect();
    SubmitError::NoMemory {
        wanted: amount(sum),
        has: amount(limit.bytes),
        limited_by: limit.by.clone(),
        table: lines_of(lines, sum, limit.bytes),
    }
}

/// Refuses what jobs of a plan would bring along where the machine could never have it beside the program: before it is read,
/// and before a pipeline runs. The kernel's files are under `system`; `/` but in tests.
///
/// # Errors
/// [`SubmitError::NoMemory`], with the table.
pub fn expect_room(plan: &Plan, brings: &[Brought], system: &Path) -> Result<(), SubmitError> {
    let table = table_of(brings);
    match limits::of_jobs(plan, system) {
        Some(limit) if table.sum() > limit.bytes => Err(refused(&limit, &table)),
        _ => Ok(()),
    }
}

/// The program, and what is brought along.
fn table_of(brings: &[Brought]) -> MemoryTable {
    let program = row("program, heap, stacks, rounding to pages".to_owned(), 1, PROGRAM_BYTES);
    let brought = brings.iter().map(|brought| row(brought.what.clone(), 1, brought.bytes));
    MemoryTable { circuit: None, rows: std::iter::once(program).chain(brought).collect() }
}

/// Memory that is reserved for what is about to be loaded: see [`Running::reserve`](super::Running::reserve). It is given back
/// when this is dropped.
#[must_use = "what is reserved is given back when this is dropped"]
pub struct Reservation {
    /// Its number in the line; nothing where nobody counts memory, or once a job has it.
    number: Option<u64>,
    brings: Vec<Brought>,
    of: Arc<dyn Reserves>,
}

/// Who gave a reservation.
trait Reserves: Send + Sync {
    fn give_up(&self, number: u64);
    /// Distinguishes pipelines.
    fn address(&self) -> usize;
}

impl<J: Job, O: Travels> Reserves for Arc<Engine<J, O>> {
    fn give_up(&self, number: u64) {
        let mut core = self.lock();
        if let Some(line) = &mut core.line {
            line.give_up(number, |place| self.room.keeps(place));
        }
        self.dispatch(core);
    }

    fn address(&self) -> usize {
        Arc::as_ptr(self) as usize
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(number) = self.number.take() {
            self.of.give_up(number);
        }
    }
}

impl std::fmt::Debug for Reservation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Reservation").field(&self.brings).finish()
    }
}

impl<J: Job, O: Travels> Engine<J, O> {
    /// What a job takes of the memory, line by line.
    pub(crate) fn memory_plan(&self, job: &J) -> MemoryTable {
        let sizes = job.sizes();
        let MemoryTable { mut rows, .. } = table_of(&job.brings());
        for (position, stage) in self.plan.stages.iter().enumerate() {
            let slots = stage.slots.unwrap_or(0);
            rows.push(row(format!("slots of `{}`", stage.name), slots.into(), stage.bytes.of(&sizes)));
            let threads = self.room.threads.get(position).copied().unwrap_or(1);
            let workers = u64::from(stage.workers) * u64::from(stage.in_flight.max(1));
            rows.push(row(format!("workspace of `{}`", stage.name), workers, job.workspace(&stage.name, threads)));
        }
        rows.retain(|row| row.bytes > 0);
        MemoryTable { circuit: None, rows }
    }

    /// The shares of a job, in a line or in the place of a reservation; it is refused if they would not fit alone.
    pub(super) fn shares(&self, job: &J, reservation: Option<&Reservation>) -> Result<Vec<Share>, SubmitError> {
        if self.room.limit.is_none() {
            return Ok(Vec::new());
        }
        let (brings, mut table) = (job.brings(), self.memory_plan(job));
        let brought = table_of(&brings).sum();
        let slots = Share { what: What::Slots(job.sizes()), bytes: table.sum().saturating_sub(brought) };
        let mut shares = self.room.shares_of(&brings);
        shares.push(slots);
        if let Some(number) = reservation.filter(|reservation| self.gave(reservation)).and_then(|given| given.number)
            && let Some(line) = &self.lock().line
        {
            let own = shares.len();
            shares = line.with_reserved(number, shares);
            table.rows.extend(shares.iter().skip(own).map(|share| {
                let reserved = "reserved, and not what the job brings".to_owned();
                row(reserved, 1, share.bytes)
            }));
        }
        self.room.expect_fit(&shares, &table)?;
        Ok(shares)
    }

    /// See [`Running::reserve`](super::Running::reserve).
    pub(crate) fn reserve(self: &Arc<Self>, brings: &[Brought]) -> Result<Reservation, SubmitError> {
        let shares = self.room.shares_of(brings);
        self.room.expect_fit(&shares, &table_of(brings))?;
        let mut reservation =
            Reservation { number: None, brings: brings.to_vec(), of: Arc::new(Arc::<Self>::clone(self)) };
        let mut core = self.lock();
        if let Some(why) = &core.closed {
            return Err(SubmitError::Closed(why.clone()));
        }
        let Some(number) = core.line.as_mut().map(|line| line.reserve(shares)) else { return Ok(reservation) };
        // From here on it is given up when it is dropped, which takes the lock.
        reservation.number = Some(number);
        self.dispatch(core);
        let mut core = self.lock();
        loop {
            if core.line.as_ref().is_some_and(|line| line.is_reserved(number)) {
                return Ok(reservation);
            }
            if let Some(why) = core.closed.clone() {
                drop(core);
                return Err(SubmitError::Closed(why));
            }
            core = self.changed.wait(core).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The number of a reservation of this pipeline, which a job takes over now.
    pub(super) fn take_over(&self, reservation: &mut Reservation) -> Option<u64> {
        if self.gave(reservation) { reservation.number.take() } else { None }
    }

    fn gave(&self, reservation: &Reservation) -> bool {
        reservation.of.address() == std::ptr::from_ref(self) as usize
    }

    /// What has happened to jobs and idle memory since this was asked last.
    pub(super) fn account(self: &Arc<Self>, core: &mut Core<J, O>) {
        let Core { scheduler, line: Some(line), leaving, .. } = &mut *core else { return };
        let dealloc = self.plan.stages.iter().position(|stage| stage.role == Role::Dealloc);
        // Slots that died before what is idle was sent away are gone when nobody frees any more.
        if !leaving.is_empty() && dealloc.is_none_or(|dealloc| scheduler.stages()[dealloc].running == 0) {
            leaving.drain(..).for_each(|what| line.left(&what));
        }
        if line.is_waited_in() || line.has_ended(|job| scheduler.has_job(job)) {
            self.admit(core);
        }
    }

    /// Lets jobs that wait for memory go, in their order, as far as there is some. What is idle, slots of other sizes and what
    /// a keeper keeps, leaves through `dealloc`, behind its permits; when it is gone this is asked again.
    pub(super) fn admit(self: &Arc<Self>, core: &mut Core<J, O>) {
        let Core { scheduler, line: Some(line), next_job, .. } = core else { return };
        line.ended(|job| scheduler.has_job(job), |place| self.room.keeps(place));
        loop {
            match line.step(|place| self.room.is_held(place)) {
                Step::Admitted(job) => scheduler.let_go(job),
                Step::Reserved(_) => self.changed.notify_all(),
                Step::After(what) => {
                    let hold = Box::new(Leaving { engine: Arc::clone(self), what });
                    // The receiver lives in the engine itself, so the channel is open.
                    let sent = self.dead.send((self.room.trim)(what, hold));
                    debug_assert!(sent.is_ok(), "the engine has both ends");
                    // It belongs to no job: it is called after the next one.
                    scheduler.slot_died(TokenKey { job: JobId(*next_job), partition: 0 }, self.now_ns());
                }
                Step::Wait => return,
            }
        }
    }
}

/// What was idle, on its way out.
struct Leaving<J: Job, O: Travels> {
    engine: Arc<Engine<J, O>>,
    what: What,
}

impl<J: Job, O: Travels> Drop for Leaving<J, O> {
    fn drop(&mut self) {
        let mut core = self.engine.lock();
        core.leaving.push(self.what);
        self.engine.dispatch(core);
    }
}
