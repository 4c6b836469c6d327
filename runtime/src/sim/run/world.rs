//! The state of a simulation, and its loop.

mod firing;

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
            if self.now_ns == u64::MAX {
                const YEAR_NS: u64 = 31_557_600 * 1_000_000_000;
                return Err(SimError::TooLong { years: u64::MAX / YEAR_NS });
            }
        }
        if !self.jobs.is_empty() {
            let why = match self.scheduler.wish_of(policy) {
                Some(wish) => format!("policy `{}`: {wish}", policy.name()),
                None => "the plan has a deadlock".to_owned(),
            };
            let seconds = self.now_ns / 1_000_000_000;
            return Err(SimError::Stuck { seconds, left: self.jobs.len(), why });
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
            if self.now_ns == u64::MAX {
                const YEAR_NS: u64 = 31_557_600 * 1_000_000_000;
                return Err(SimError::TooLong { years: u64::MAX / YEAR_NS });
            }
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

    /// Goes on to the next event; whether there is one.
    fn step(&mut self) -> bool {
        let before_s = self.now_s;
        let goes_on = self.pass();
        let passed_s = self.now_s - before_s;
        let lack = self.scheduler.lack_permits().iter().zip(&mut self.report.stages);
        lack.for_each(|(lack, stage)| stage.waited_for_permits_s += f64::from(*lack) * passed_s);
        goes_on
    }

    /// Lets time pass until something ends.
    fn pass(&mut self) -> bool {
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
