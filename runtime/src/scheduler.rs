//! The scheduler: which firing may start, on which worker.
//!
//! A plain state machine over a [`Plan`]: no threads, no clock, no payloads. It is told what happened (a job came, a
//! token arrived, a firing ended, a slot died) and answers with grants. [`crate::exec`] drives it with wall time,
//! [`crate::sim`] with virtual time.
//!
//! A firing takes its worker, its permits and the places of its output at once, when all its inputs are there, and
//! never waits after that. Two rules make this free of deadlock: the places of a join's edges are reserved by the fork
//! before it ([`crate::plan::Edge::reserved_by`]), and what the stages of a token `hold` is reserved by the source.
//!
//! Nothing is searched for and nothing is allocated per event: what waits is kept in the order that policies see.

mod grants;
mod parts;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::key::{JobId, TokenKey};
use crate::permits::{Claim, NeverFits, Permits, add_to_claim};
use crate::placement::WorkerPlace;
use crate::plan::{Bytes, Plan, Pool, Role, Unit};
use crate::policy::{EdgeState, StageState, Waiting};
use crate::stage::{Priority, Sizes};
use parts::{Arrival, Edge, Job, Stage, no_claim};

/// The right to start one firing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grant {
    /// The stage, by its position in the plan.
    pub stage: usize,
    /// The worker of that stage, counted from 0.
    pub worker: u32,
    /// The token. For `dealloc`: the token whose slot died.
    pub key: TokenKey,
    /// The token is a tombstone: the stage is skipped and no permits were taken.
    pub dead: bool,
    /// How long the firing waited for worker, permits and places after its last input had come, in nanoseconds.
    pub waited_ns: u64,
    /// When it was granted, in nanoseconds of the driving clock.
    pub granted_ns: u64,
}

/// What a firing put out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// Its token.
    Token,
    /// A tombstone: it was skipped, refused, or it panicked.
    Tombstone,
}

/// A policy answered something that it may not.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("policy `{policy}` chose {chosen}")]
pub struct IllegalChoice {
    /// The policy's name.
    pub policy: String,
    /// What it chose and why that is illegal.
    pub chosen: String,
}

/// The state of a running plan.
pub struct Scheduler {
    stages: Vec<Stage>,
    edges: Vec<Edge>,
    permits: Permits,
    /// What tokens hold beyond their firings, by pool.
    held: Vec<u64>,
    /// The largest need of any job's firing, by pool; kept up by [`Self::submit`] and by the end of jobs.
    largest_need: Vec<u64>,
    /// Firings that were granted and have not ended.
    running: usize,
    /// By number, ascending.
    jobs: VecDeque<(JobId, Box<Job>)>,
    /// The stage that partitions fire.
    source: Option<usize>,
    /// The stage that dead slots fire.
    dealloc: Option<usize>,
    /// Firings that have all their inputs, in the order that policies see.
    ready: Vec<Waiting>,
    /// Tombstones that have all their inputs: stage, key, and since when. The source's are counted by its jobs.
    dead: Vec<(usize, TokenKey, u64)>,
    /// Dead slots behind the one that is in `ready`.
    dead_slots: VecDeque<(TokenKey, u64)>,
    /// What policies see of stages, edges, pools and CCDs.
    shown: Shown,
    /// By stage: firings that lack nothing but permits, as they were last judged.
    lack_permits: Vec<u32>,
}

#[derive(Default)]
struct Shown {
    stages: Vec<StageState>,
    edges: Vec<EdgeState>,
    free: Vec<u64>,
    ccds: Vec<u32>,
}

impl Scheduler {
    /// The scheduler of a plan, nothing running. The workspace of the workers is taken from its pools for good.
    ///
    /// # Errors
    /// A pool is too small for the workspace.
    pub fn new(plan: &Plan) -> Result<Self, NeverFits> {
        let mut workspace = Claim::new();
        for stage in &plan.stages {
            let fixed = |bytes: &Bytes| bytes.fixed.saturating_mul(stage.workers.into());
            add_to_claim(&mut workspace, stage.workspace.iter().map(|(pool, bytes)| (*pool, fixed(bytes))));
        }
        let of_role = |role| plan.stages.iter().position(|stage| stage.role == role);
        // Without `dealloc` no slot would ever come home. One that is freed is home when its memory has gone: what waits for
        // that is memory too, which the plan has promised not to exceed.
        let bounded = of_role(Role::Dealloc).is_some();
        let mut pools = plan.pools.clone();
        let mut stages = Vec::with_capacity(plan.stages.len());
        for (position, stage) in plan.stages.iter().enumerate() {
            let slots = stage.slots.filter(|_| bounded && stage.role != Role::Dealloc);
            let pool = slots.map(|slots| {
                let name = format!("slots of {}", stage.name);
                pools.push(Pool { name, size: u64::from(slots), unit: Unit::Count });
                pools.len() - 1
            });
            stages.push(Stage::new(plan, position, pool));
        }
        let pools = pools.as_slice();
        let mut scheduler = Self {
            stages,
            edges: plan.edges.iter().map(|edge| Edge { to: edge.to }).collect(),
            permits: Permits::new(pools).without(&workspace)?,
            held: vec![0; pools.len()],
            largest_need: vec![0; pools.len()],
            running: 0,
            jobs: VecDeque::new(),
            source: of_role(Role::Source),
            dealloc: of_role(Role::Dealloc),
            ready: Vec::new(),
            dead: Vec::new(),
            dead_slots: VecDeque::new(),
            shown: Shown::default(),
            lack_permits: vec![0; plan.stages.len()],
        };
        scheduler.shown.stages = scheduler.stages.iter().map(Stage::idle).collect();
        scheduler.shown.edges = plan.edges.iter().map(|edge| EdgeState { used: 0, capacity: edge.capacity }).collect();
        scheduler.shown.free = (0..pools.len()).map(|pool| scheduler.permits.free(pool)).collect();
        scheduler.refresh_rest();
        Ok(scheduler)
    }

    /// Says where the workers are, so that policies see what runs on which of `ccds` CCDs.
    #[must_use]
    pub fn placed(mut self, workers: &[WorkerPlace], ccds: usize) -> Self {
        self.shown.ccds = vec![0; ccds];
        for place in workers {
            let stage = &mut self.stages[place.stage];
            stage.ccds.resize(stage.lanes.len(), Vec::new());
            stage.ccds[place.worker as usize].clone_from(&place.ccds);
        }
        self
    }

    /// Takes a job in: its partitions wait at the source. Jobs come in the order of their numbers.
    ///
    /// # Errors
    /// A partition holds more bytes than a pool has, so that waiting would never end.
    ///
    /// # Panics
    /// A job of this or a higher number is there already.
    pub fn submit(
        &mut self,
        job: JobId,
        partitions: u32,
        sizes: &Sizes,
        priority: Priority,
        now_ns: u64,
    ) -> Result<(), NeverFits> {
        assert!(self.jobs.back().is_none_or(|(last, _)| *last < job), "jobs come in the order of their numbers");
        let state = Job::new(&self.stages, self.source, partitions, sizes, priority, now_ns);
        for needs in &state.needs {
            // While any of its stages runs, a partition's whole path is held.
            let mut claim = needs.to_vec();
            add_to_claim(&mut claim, state.all_holds.iter().copied());
            self.permits.ever_fits(&claim)?;
        }
        for (pool, need) in state.needs.iter().flat_map(|needs| needs.iter()) {
            self.largest_need[*pool] = self.largest_need[*pool].max(*need);
        }
        self.jobs.push_back((job, Box::new(state)));
        self.show_source(job);
        Ok(())
    }

    /// Keeps the partitions of a job that was just submitted from the source, until [`Self::let_go`]. A job that fails
    /// meanwhile ends as any other.
    pub fn hold_back(&mut self, job: JobId) {
        let (Some(source), Some(at)) = (self.source, self.job_at(job)) else { return };
        self.jobs[at].1.held_back = true;
        self.ready.retain(|firing| firing.key.job != job || firing.stage != source);
    }

    /// Lets the partitions of a job that was held back come to the source.
    pub fn let_go(&mut self, job: JobId) {
        let Some(at) = self.job_at(job) else { return };
        if std::mem::replace(&mut self.jobs[at].1.held_back, false) {
            self.show_source(job);
        }
    }

    /// Whether the job is not over: a partition of it has not come to the sink.
    #[must_use]
    pub fn has_job(&self, job: JobId) -> bool {
        self.job_at(job).is_some()
    }

    /// A token (or its tombstone) was put on an edge.
    pub fn arrived(&mut self, edge: usize, key: TokenKey, dead: bool, now_ns: u64) {
        let to = self.edges[edge].to;
        let Some(at) = self.job_at(key.job) else { return };
        let dead = dead || self.jobs[at].1.failed;
        let stage = &mut self.stages[to];
        let arrival = Arrival { key, arrived: 1, dead };
        let complete = if stage.ports <= 1 { Some(arrival) } else { stage.join(arrival) };
        match complete {
            Some(Arrival { dead: true, .. }) => self.dead.push((to, key, now_ns)),
            Some(_) => {
                let job = &self.jobs[at].1;
                let (priority, claim) = (job.priority, Arc::clone(&job.claims[to]));
                self.insert(Waiting { stage: to, key, priority, since_ns: now_ns, claim, ccd: None, blocked: None });
            }
            None => {}
        }
    }

    /// A slot lost its last reader: `dealloc` has work.
    pub fn slot_died(&mut self, key: TokenKey, now_ns: u64) {
        if self.dealloc.is_some() {
            self.dead_slots.push_back((key, now_ns));
            self.show_dead_slot();
        }
    }

    /// A granted firing is over, and what it put out has been reported by [`Self::arrived`]: worker and permits are
    /// free again. What a token holds stays taken until [`Self::hold_came_home`]; a tombstone holds nothing.
    pub fn ended(&mut self, grant: &Grant, output: Output, now_ns: u64) {
        let stage = &mut self.stages[grant.stage];
        stage.lanes[grant.worker as usize] += 1;
        let shown = &mut self.shown.stages[grant.stage];
        (shown.lanes_free, shown.running) = (shown.lanes_free + 1, shown.running - 1);
        if let Some(ccds) = stage.ccds.get(grant.worker as usize) {
            ccds.iter().for_each(|ccd| self.shown.ccds[*ccd as usize] -= 1);
        }
        self.running -= 1;
        let is_sink = stage.role == Role::Sink;
        if !grant.dead && stage.learn(now_ns.saturating_sub(grant.granted_ns)) {
            self.shown.stages[grant.stage].mean_ns = self.stages[grant.stage].mean_ns();
            self.refresh_rest();
        }
        let at = self.job_at(grant.key.job);
        if !grant.dead {
            // A dead slot may outlive its job, so `dealloc` needs what the plan says.
            let needs = match at.filter(|_| Some(grant.stage) != self.dealloc) {
                Some(at) => &self.jobs[at].1.needs[grant.stage],
                None => &self.stages[grant.stage].needs,
            };
            self.permits.give_back(needs);
            needs.iter().for_each(|(pool, weight)| self.shown.free[*pool] += weight);
        }
        if !grant.dead && output == Output::Tombstone {
            // It took a slot, and no token keeps it.
            let slot = Arc::clone(&self.stages[grant.stage].slot);
            self.hold_came_home(&slot);
        }
        let Some(at) = at.filter(|_| Some(grant.stage) != self.dealloc) else { return };
        let job = &mut self.jobs[at].1;
        let reserved = output == Output::Tombstone && job.has_reserved(grant.key.partition);
        let hold = if reserved { Arc::clone(&job.holds[grant.stage]) } else { no_claim() };
        if is_sink {
            job.left -= 1;
            if job.left == 0 {
                self.jobs.remove(at);
                self.refresh_largest_need();
            }
        }
        self.hold_came_home(&hold);
    }

    /// What the output of `stage` holds until it is home.
    #[must_use]
    pub fn hold_of(&self, stage: usize, job: JobId) -> Claim {
        let mut claim = self.job_at(job).map(|at| self.jobs[at].1.holds[stage].to_vec()).unwrap_or_default();
        claim.extend_from_slice(&self.stages[stage].slot);
        claim
    }

    /// A token is home, and gives back what [`Self::hold_of`] said when it was made.
    pub fn hold_came_home(&mut self, claim: &[(usize, u64)]) {
        self.permits.give_back(claim);
        for (pool, weight) in claim {
            self.held[*pool] -= weight;
            self.shown.free[*pool] += weight;
        }
    }

    /// The job failed or was cancelled: all its firings that wait become tombstones.
    pub fn fail(&mut self, job: JobId) {
        let Some(at) = self.job_at(job) else { return };
        if std::mem::replace(&mut self.jobs[at].1.failed, true) {
            return;
        }
        let (source, dealloc) = (self.source, self.dealloc);
        let dead = &mut self.dead;
        self.ready.retain(|firing| {
            let dies = firing.key.job == job && Some(firing.stage) != dealloc;
            // The source's tombstones are made one by one, as its partitions are.
            if dies && Some(firing.stage) != source {
                dead.push((firing.stage, firing.key, firing.since_ns));
            }
            !dies
        });
    }

    /// Whether no job is left and every permit, place and worker is free: nothing leaked.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.jobs.is_empty()
            && self.permits.all_home()
            && self.shown.edges.iter().all(|edge| edge.used == 0)
            && self.ready.is_empty()
            && self.dead.is_empty()
            && self.running == 0
            && self.stages.iter().all(|stage| stage.joining.is_empty())
    }

    /// Firings that were granted and have not ended.
    #[must_use]
    pub fn running(&self) -> usize {
        self.running
    }

    /// What policies see of the stages now.
    #[must_use]
    pub fn stages(&self) -> &[StageState] {
        &self.shown.stages
    }

    /// What policies see of the edges now.
    #[must_use]
    pub fn edges(&self) -> &[EdgeState] {
        &self.shown.edges
    }

    /// Free units by pool; behind the plan's pools come those of the slots.
    #[must_use]
    pub fn free(&self) -> &[u64] {
        &self.shown.free
    }

    fn job_at(&self, job: JobId) -> Option<usize> {
        self.jobs.binary_search_by_key(&job, |(id, _)| *id).ok()
    }
}

#[cfg(test)]
mod tests;
