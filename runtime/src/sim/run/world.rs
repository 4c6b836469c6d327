//! The state of a simulation, and its loop.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::event::{Ending, Event};
use crate::key::{JobId, TokenKey};
use crate::permits::Claim;
use crate::plan::{Bytes, Plan, Role, Unit};
use crate::policy::Policy;
use crate::scheduler::{Grant, Output, Scheduler};
use crate::sim::cost::Fate;
use crate::sim::fluid::Fluid;
use crate::sim::ledger::Ledger;
use crate::sim::random;
use crate::sim::report::{Report, StageReport};
use crate::sim::run::shape::{self, Shape};
use crate::sim::run::{Setup, SimError, since_start};

pub(super) struct World<'a> {
    setup: &'a Setup<'a>,
    scheduler: Scheduler,
    fluid: Fluid,
    shapes: Vec<Shape>,
    ledger: Ledger,
    locks: Vec<Lock>,
    /// Firings that run; a slot is used again when its firing is over.
    firings: Vec<Firing>,
    idle: Vec<usize>,
    /// Without contention: when firings end, in nanoseconds, equal times in the order of the grants.
    ends: BinaryHeap<Reverse<(u64, u64, usize)>>,
    granted: u64,
    /// Slots that wait for `dealloc`, in the scheduler's order.
    dead: VecDeque<usize>,
    jobs: Vec<Running>,
    submitted: u32,
    now_s: f64,
    now_ns: u64,
    report: Report,
    /// By device: memory that is taken.
    vram: Vec<f64>,
    latency_s: f64,
    done: Vec<(usize, usize)>,
}

struct Running {
    job: JobId,
    left: u32,
    since_ns: u64,
    failed: bool,
}

#[derive(Default)]
struct Lock {
    holder: Option<usize>,
    queue: VecDeque<usize>,
    since_s: f64,
    held_s: f64,
}

struct Firing {
    grant: Grant,
    inputs: Vec<usize>,
    output: Option<usize>,
    /// For each piece, how many it still waits for.
    waits: Vec<u32>,
    /// Pieces that have not ended.
    left: usize,
    /// Pieces that have not ended and hold the device's lock.
    locked: usize,
    /// Pieces that wait for the lock.
    parked: Vec<usize>,
    stretch: f64,
}

impl<'a> World<'a> {
    pub(super) fn new(setup: &'a Setup<'a>) -> Result<Self, SimError> {
        let groups = shape::groups(setup)?;
        let places = shape::places(setup.plan, &groups);
        let fluid = Fluid::new(setup.machine, setup.costs.host, groups.clone());
        let scale = match setup.costs.constraints {
            0 => 1.0,
            measured => setup.load.sizes.constraints as f64 / measured as f64,
        };
        let stages = 0..setup.plan.stages.len();
        let shapes = stages.map(|stage| Shape::new(setup, &fluid, &groups, stage, scale)).collect::<Result<_, _>>()?;
        let stages = setup.plan.stages.iter();
        let stages = stages.map(|stage| StageReport {
            name: stage.name.clone(),
            workers: stage.workers,
            ..StageReport::default()
        });
        let devices = setup.machine.devices.len();
        let report = Report {
            stages: stages.collect(),
            peak_vram_bytes: (0..devices).map(|device| vram(setup.plan, device)).collect(),
            ..Report::default()
        };
        let fixed = setup.resident_bytes + setup.costs.retained.process_bytes + workspace(setup.plan);
        Ok(Self {
            setup,
            scheduler: Scheduler::new(setup.plan)?.placed(&places, setup.machine.ccds.len()),
            fluid,
            shapes,
            ledger: Ledger::new(setup.plan, fixed, setup.costs.retained.sampled_every_s),
            locks: (0..devices).map(|_| Lock::default()).collect(),
            firings: Vec::new(),
            idle: Vec::new(),
            ends: BinaryHeap::new(),
            granted: 0,
            dead: VecDeque::new(),
            jobs: Vec::new(),
            submitted: 0,
            now_s: 0.0,
            now_ns: 0,
            vram: report.peak_vram_bytes.iter().map(|bytes| *bytes as f64).collect(),
            report,
            latency_s: 0.0,
            done: Vec::new(),
        })
    }

    pub(super) fn run(mut self, policy: &mut dyn Policy) -> Result<Report, SimError> {
        let mut grants = Vec::new();
        // A job that comes is granted at once what it can have, before the next one is there.
        while self.submitted < self.setup.load.jobs.min(self.setup.load.concurrency.max(1)) {
            self.submit()?;
            self.grant(policy, &mut grants)?;
        }
        loop {
            self.grant(policy, &mut grants)?;
            if !self.step() {
                break;
            }
            self.end_what_is_over()?;
        }
        if !self.jobs.is_empty() {
            return Err(SimError::Stuck { seconds: self.now_ns / 1_000_000_000, left: self.jobs.len() });
        }
        Ok(self.finish())
    }

    /// Starts all that may start now, and what that lets start.
    fn grant(&mut self, policy: &mut dyn Policy, grants: &mut Vec<Grant>) -> Result<(), SimError> {
        loop {
            self.scheduler.grant(policy, self.now_ns, grants)?;
            if grants.is_empty() {
                return Ok(());
            }
            for grant in grants.drain(..) {
                self.begin(grant)?;
            }
            self.end_what_is_over()?;
        }
    }

    fn finish(mut self) -> Report {
        let seconds = self.report.seconds.max(f64::MIN_POSITIVE);
        self.report.mean_latency_s = self.latency_s / self.report.jobs.max(1) as f64;
        self.report.peak_ram_bytes = self.ledger.peak_bytes();
        self.report.gpu_utilisation = self.fluid.device_busy_s.iter().map(|busy| busy / seconds).collect();
        self.report.lock_utilisation = self.locks.iter().map(|lock| lock.held_s / seconds).collect();
        self.report
    }

    fn observe(&self, event: &Event) {
        if let Some(observer) = self.setup.observer {
            observer.event(since_start(self.now_ns), event);
        }
    }

    fn submit(&mut self) -> Result<(), SimError> {
        let load = self.setup.load;
        let job = JobId(u64::from(self.submitted));
        let turn = self.submitted as usize % load.priorities.len().max(1);
        let priority = load.priorities.get(turn).copied().unwrap_or_default();
        self.scheduler.submit(job, load.partitions, &load.sizes, priority, self.now_ns)?;
        self.submitted += 1;
        self.jobs.push(Running { job, left: load.partitions, since_ns: self.now_ns, failed: false });
        self.ledger.add(self.setup.costs.retained.job_bytes);
        self.observe(&Event::Accepted { job, partitions: load.partitions });
        Ok(())
    }

    /// Starts a granted firing; a tombstone is over at once.
    fn begin(&mut self, grant: Grant) -> Result<(), SimError> {
        if !grant.dead {
            self.take_vram(grant.stage)?;
        }
        let at = self.idle.pop().unwrap_or_else(|| {
            let (waits, parked, inputs) = (Vec::new(), Vec::new(), Vec::new());
            self.firings.push(Firing { grant, inputs, output: None, waits, left: 0, locked: 0, parked, stretch: 1.0 });
            self.firings.len() - 1
        });
        let stage = &self.setup.plan.stages[grant.stage];
        let is_dealloc = stage.role == Role::Dealloc;
        let shape = &self.shapes[grant.stage];
        let firing = &mut self.firings[at];
        firing.grant = grant;
        firing.inputs.clear();
        firing.inputs.extend(stage.inputs.iter().filter_map(|edge| self.ledger.pick(*edge, grant.key)));
        if is_dealloc {
            firing.inputs.extend(self.dead.pop_front());
        }
        let makes = !grant.dead && !matches!(stage.role, Role::Dealloc | Role::Sink);
        firing.output = makes.then(|| self.ledger.take(grant.key, shape.output_bytes));
        firing.waits.clear();
        firing.waits.extend(shape.pieces.iter().map(|piece| piece.waits_for));
        firing.parked.clear();
        (firing.left, firing.locked) = (shape.pieces.len(), shape.locked);
        firing.stretch = shape.of_job(grant.key.job);
        if shape.spread > 0.0 {
            firing.stretch *= 1.0 + shape.spread * (2.0 * random::unit(self.setup.seed, grant.stage, grant.key) - 1.0);
        }
        let (worker, key) = (grant.worker, grant.key);
        let waited = since_start(grant.waited_ns);
        self.observe(&Event::Started { stage: grant.stage, worker, key, waited });
        if grant.dead || self.firings[at].left == 0 {
            self.done.push((at, usize::MAX));
        } else if self.setup.contention {
            for first in 0..self.shapes[grant.stage].first.len() {
                self.start_piece(at, self.shapes[grant.stage].first[first]);
            }
        } else {
            let alone_s = self.shapes[grant.stage].alone_s * self.firings[at].stretch + self.unmapping_s(at);
            if let Some(token) = self.firings[at].output {
                self.ledger.grow(token, self.shapes[grant.stage].pieces.iter().map(|piece| piece.output_bytes).sum());
            }
            self.granted += 1;
            self.ends.push(Reverse((self.now_ns + nanoseconds(alone_s), self.granted, at)));
        }
        Ok(())
    }

    /// Takes a firing's memory of its device. A device that is full ends the run, as it would end the real one.
    fn take_vram(&mut self, stage: usize) -> Result<(), SimError> {
        let Shape { vram_bytes, device: Some(device), .. } = self.shapes[stage] else { return Ok(()) };
        self.vram[device] += vram_bytes;
        let has = self.setup.machine.devices[device].vram_bytes;
        if vram_bytes > 0.0 && self.vram[device] > has as f64 {
            let stage = self.setup.plan.stages[stage].name.clone();
            return Err(SimError::OutOfVram { stage, device, wanted: self.vram[device] as u64, has });
        }
        let peak = &mut self.report.peak_vram_bytes[device];
        *peak = (*peak).max(self.vram[device] as u64);
        Ok(())
    }

    /// How long `dealloc` takes for the slot of this firing beside its fixed cost.
    fn unmapping_s(&self, at: usize) -> f64 {
        let firing = &self.firings[at];
        let unmaps = self.shapes[firing.grant.stage].unmaps_slot;
        if unmaps == 0.0 {
            return 0.0;
        }
        let bytes: f64 = firing.inputs.iter().map(|token| self.ledger.token(*token).bytes).sum();
        bytes * unmaps * self.setup.costs.host.shootdown_s_per_gib
    }

    fn start_piece(&mut self, at: usize, piece: usize) {
        let firing = &self.firings[at];
        let shape = &self.shapes[firing.grant.stage];
        if let (true, Some(device)) = (shape.pieces[piece].lock, shape.device) {
            let lock = &mut self.locks[device];
            if lock.holder != Some(at) {
                if lock.holder.is_some() {
                    if self.firings[at].parked.is_empty() {
                        lock.queue.push_back(at);
                    }
                    self.firings[at].parked.push(piece);
                    return;
                }
                (lock.holder, lock.since_s) = (Some(at), self.now_s);
            }
        }
        let mut demand = shape.pieces[piece].demand;
        demand.alone_s *= firing.stretch;
        let unmapping_s = if piece == 0 { self.unmapping_s(at) } else { 0.0 };
        if unmapping_s > 0.0 {
            demand.alone_s += unmapping_s;
            demand.stops = (unmapping_s / demand.alone_s).min(0.9);
        }
        self.fluid.start(at, piece, demand, shape.domains[firing.grant.worker as usize]);
        if let (Some(token), bytes) = (firing.output, shape.pieces[piece].output_bytes)
            && bytes > 0.0
        {
            self.ledger.grow(token, bytes);
        }
    }

    /// Goes on to the next event; whether there is one.
    fn step(&mut self) -> bool {
        if self.setup.contention {
            if self.fluid.is_idle() {
                return false;
            }
            self.now_s += self.fluid.advance(&mut self.done);
            self.now_ns = nanoseconds(self.now_s);
            self.ledger.pass(self.now_s);
            return true;
        }
        let Some(Reverse((at_ns, _, firing))) = self.ends.pop() else { return false };
        (self.now_ns, self.now_s) = (at_ns, at_ns as f64 * 1e-9);
        self.ledger.pass(self.now_s);
        self.done.push((firing, usize::MAX));
        true
    }

    /// Ends pieces, and firings whose pieces are over.
    fn end_what_is_over(&mut self) -> Result<(), SimError> {
        // Ending may start pieces, which are not over yet, so the list does not grow here.
        let mut done = std::mem::take(&mut self.done);
        for (at, piece) in done.drain(..) {
            if piece == usize::MAX || self.end_piece(at, piece) {
                self.end(at)?;
            }
        }
        self.done = done;
        Ok(())
    }

    /// A piece is over; whether its firing is.
    fn end_piece(&mut self, at: usize, piece: usize) -> bool {
        let stage = self.firings[at].grant.stage;
        self.firings[at].left -= 1;
        if self.shapes[stage].pieces[piece].lock {
            self.firings[at].locked -= 1;
            if self.firings[at].locked == 0 {
                self.unlock(stage);
            }
        }
        for behind in 0..self.shapes[stage].pieces[piece].before.len() {
            let behind = self.shapes[stage].pieces[piece].before[behind];
            self.firings[at].waits[behind] -= 1;
            if self.firings[at].waits[behind] == 0 {
                self.start_piece(at, behind);
            }
        }
        self.firings[at].left == 0
    }

    fn unlock(&mut self, stage: usize) {
        let Some(device) = self.shapes[stage].device else { return };
        let lock = &mut self.locks[device];
        lock.held_s += self.now_s - lock.since_s;
        lock.holder = lock.queue.pop_front();
        lock.since_s = self.now_s;
        if let Some(next) = lock.holder {
            for piece in std::mem::take(&mut self.firings[next].parked) {
                self.start_piece(next, piece);
            }
        }
    }

    fn end(&mut self, at: usize) -> Result<(), SimError> {
        let grant = self.firings[at].grant;
        let stage = &self.setup.plan.stages[grant.stage];
        let fate = self.setup.fate.filter(|_| !grant.dead && stage.role != Role::Dealloc);
        let fails = fate.is_some_and(|fate| fate(grant.stage, grant.key) != Fate::Succeeds);
        let known = self.jobs.iter_mut().find(|running| running.job == grant.key.job);
        let dropped = known.as_ref().is_some_and(|job| job.failed) && stage.role != Role::Dealloc;
        if let Some(job) = known.filter(|_| fails) {
            job.failed = true;
            self.scheduler.fail(grant.key.job);
        }
        if let (false, Shape { vram_bytes, device: Some(device), .. }) = (grant.dead, &self.shapes[grant.stage]) {
            self.vram[*device] -= vram_bytes;
        }
        let alive = !grant.dead && !fails && !dropped;
        self.count(at, alive, fails);
        let mut inputs = std::mem::take(&mut self.firings[at].inputs);
        for token in inputs.drain(..) {
            if stage.role == Role::Dealloc {
                let hold = self.ledger.release(token);
                self.scheduler.hold_came_home(&hold);
            } else if self.ledger.read(token) {
                self.slot_died(token);
            }
        }
        self.firings[at].inputs = inputs;
        let alive_output = self.firings[at].output.take();
        match stage.role {
            Role::Source | Role::Inner => {
                if let Some(token) = alive_output {
                    if alive {
                        let hold = self.scheduler.hold_of(grant.stage, grant.key.job);
                        self.ledger.put(token, &stage.outputs, hold);
                    } else {
                        self.ledger.release(token);
                    }
                }
                for edge in &stage.outputs {
                    self.scheduler.arrived(*edge, grant.key, !alive, self.now_ns);
                }
                let output = if alive { Output::Token } else { Output::Tombstone };
                self.scheduler.ended(&grant, output, self.now_ns);
            }
            Role::Sink => self.scheduler.ended(&grant, Output::Tombstone, self.now_ns),
            Role::Dealloc => self.scheduler.ended(&grant, Output::Token, self.now_ns),
        }
        self.idle.push(at);
        if stage.role == Role::Sink { self.partition_done(grant.key) } else { Ok(()) }
    }

    fn count(&mut self, at: usize, alive: bool, fails: bool) {
        let grant = self.firings[at].grant;
        let busy_ns = self.now_ns - grant.granted_ns;
        if !grant.dead {
            let stage = &mut self.report.stages[grant.stage];
            stage.firings += 1;
            stage.busy_s += busy_ns as f64 * 1e-9;
            stage.isolated_s += self.shapes[grant.stage].alone_s * self.firings[at].stretch;
            stage.waited_s += grant.waited_ns as f64 * 1e-9;
            self.report.firings += 1;
        }
        if self.setup.observer.is_some() {
            let ending = match (alive, fails) {
                (true, _) => Ending::Succeeded,
                (false, true) => Ending::Failed,
                (false, false) => Ending::Skipped,
            };
            let busy = if grant.dead { since_start(0) } else { since_start(busy_ns) };
            let (stage, worker, key) = (grant.stage, grant.worker, grant.key);
            self.observe(&Event::Ended { stage, worker, key, busy, ending });
        }
    }

    fn slot_died(&mut self, token: usize) {
        if self.setup.plan.stages.iter().any(|stage| stage.role == Role::Dealloc) {
            self.dead.push_back(token);
            let key = self.ledger.token(token).key;
            self.scheduler.slot_died(key, self.now_ns);
        } else {
            let hold: Claim = self.ledger.release(token);
            self.scheduler.hold_came_home(&hold);
        }
    }

    fn partition_done(&mut self, key: TokenKey) -> Result<(), SimError> {
        let Some(at) = self.jobs.iter().position(|running| running.job == key.job) else { return Ok(()) };
        self.jobs[at].left -= 1;
        if self.jobs[at].left > 0 {
            return Ok(());
        }
        let job = self.jobs.remove(at);
        let latency_s = (self.now_ns - job.since_ns) as f64 * 1e-9;
        self.latency_s += latency_s;
        self.report.jobs += 1;
        self.report.worst_latency_s = self.report.worst_latency_s.max(latency_s);
        self.report.seconds = self.now_s;
        self.ledger.add(-self.setup.costs.retained.job_bytes);
        self.observe(&Event::Finished { job: job.job, succeeded: !job.failed });
        if self.submitted < self.setup.load.jobs { self.submit() } else { Ok(()) }
    }
}

fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

/// Workspace in pools of bytes that are not a device's, whatever the circuit.
fn workspace(plan: &Plan) -> f64 {
    let of_host = |pool: usize| plan.pools[pool].unit == Unit::Bytes && !plan.pools[pool].name.starts_with("vram:");
    sum_of_workspace(plan, of_host) as f64
}

fn vram(plan: &Plan, device: usize) -> u64 {
    let name = format!("vram:{device}");
    sum_of_workspace(plan, |pool| plan.pools[pool].name == name)
}

fn sum_of_workspace(plan: &Plan, counts: impl Fn(usize) -> bool) -> u64 {
    let of_stage = |stage: &crate::plan::StagePlan| {
        let bytes = |(_, bytes): &(usize, Bytes)| bytes.fixed.saturating_mul(stage.workers.into());
        stage.workspace.iter().filter(|(pool, _)| counts(*pool)).map(bytes).fold(0, u64::saturating_add)
    };
    plan.stages.iter().map(of_stage).fold(0, u64::saturating_add)
}
