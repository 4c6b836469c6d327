//! The scheduler: which firing may start, on which worker.
//!
//! A plain state machine over a [`Plan`]: no threads, no clock, no payloads. It is told what happened (a job came, a
//! token arrived, a firing ended, a slot died) and answers with grants. [`crate::exec`] drives it with wall time.
//!
//! A firing takes its worker, its permits and the places of its output at once, when all its inputs are there, and
//! never waits after that. Two rules make this free of deadlock: the places of a join's edges are reserved by the fork
//! before it ([`crate::plan::Edge::reserved_by`]), and what the stages of a token `hold` is reserved by the source.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::key::{JobId, TokenKey};
use crate::permits::{Claim, NeverFits, Permits, add_to_claim};
use crate::plan::{Bytes, Plan, Role};
use crate::policy::{Blocked, Policy, State, Waiting};
use crate::stage::{Priority, Sizes};

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
    /// Firings that were granted and have not ended.
    running: usize,
    jobs: HashMap<JobId, Job>,
}

struct Stage {
    name: String,
    role: Role,
    ports: u32,
    needs: Claim,
    /// Edges whose places a firing of this stage reserves.
    reserves: Vec<usize>,
    inputs: Vec<usize>,
    holds: Vec<(usize, Bytes)>,
    workspace: Vec<(usize, Bytes)>,
    /// Free lanes by worker: how many firings it may begin now.
    lanes: Vec<u32>,
    waiting: BTreeMap<(TokenKey, u32), Entry>,
    /// Distinguishes several dead slots of one token.
    serial: u32,
}

struct Entry {
    arrived: u32,
    dead: bool,
    since_ns: u64,
}

struct Edge {
    to: usize,
    capacity: u32,
    /// Places that are reserved or occupied.
    used: u32,
}

struct Job {
    priority: Priority,
    /// What a firing takes for its own time, by stage: permits, and workspace that depends on the circuit.
    needs: Vec<Claim>,
    /// What each partition holds, by stage: reserved by the source, given back by the stages' tokens.
    holds: Vec<Claim>,
    all_holds: Claim,
    /// Partitions for which `all_holds` was taken: those that the source did not skip.
    reserved: HashSet<u32>,
    /// Partitions that the sink has not seen yet.
    left: u32,
    failed: bool,
}

impl Scheduler {
    /// The scheduler of a plan, nothing running. The workspace of the workers is taken from its pools for good.
    ///
    /// # Errors
    /// A pool is too small for the workspace.
    pub fn new(plan: &Plan) -> Result<Self, NeverFits> {
        let stage = |(position, stage): (usize, &crate::plan::StagePlan)| Stage {
            name: stage.name.clone(),
            role: stage.role,
            ports: u32::try_from(stage.inputs.len()).unwrap_or(u32::MAX),
            needs: stage.needs.clone(),
            reserves: (0..plan.edges.len()).filter(|edge| plan.edges[*edge].reserved_by == position).collect(),
            inputs: stage.inputs.clone(),
            holds: stage.holds.clone(),
            workspace: stage.workspace.clone(),
            lanes: vec![stage.in_flight.max(1); stage.workers as usize],
            waiting: BTreeMap::new(),
            serial: 0,
        };
        let mut workspace = Claim::new();
        for stage in &plan.stages {
            let fixed = |bytes: &Bytes| bytes.fixed.saturating_mul(stage.workers.into());
            add_to_claim(&mut workspace, stage.workspace.iter().map(|(pool, bytes)| (*pool, fixed(bytes))));
        }
        Ok(Self {
            stages: plan.stages.iter().enumerate().map(stage).collect(),
            edges: plan.edges.iter().map(|edge| Edge { to: edge.to, capacity: edge.capacity, used: 0 }).collect(),
            permits: Permits::new(&plan.pools).without(&workspace)?,
            held: vec![0; plan.pools.len()],
            running: 0,
            jobs: HashMap::new(),
        })
    }

    /// Takes a job in: its partitions wait at the source.
    ///
    /// # Errors
    /// A partition holds more bytes than a pool has, so that waiting would never end.
    pub fn submit(
        &mut self,
        job: JobId,
        partitions: u32,
        sizes: &Sizes,
        priority: Priority,
        now_ns: u64,
    ) -> Result<(), NeverFits> {
        let holds: Vec<Claim> = self.stages.iter().map(|stage| claim_of(&stage.holds, sizes)).collect();
        let needs: Vec<Claim> = self.stages.iter().map(|stage| stage.needs_for(sizes)).collect();
        let mut all_holds = Claim::new();
        for claim in &holds {
            add_to_claim(&mut all_holds, claim.iter().copied());
        }
        for needs in &needs {
            // While any of its stages runs, a partition's whole path is held.
            let mut claim = needs.clone();
            add_to_claim(&mut claim, all_holds.iter().copied());
            self.permits.ever_fits(&claim)?;
        }
        let reserved = HashSet::new();
        self.jobs.insert(job, Job { priority, needs, holds, all_holds, reserved, left: partitions, failed: false });
        for source in self.stages.iter_mut().filter(|stage| stage.role == Role::Source) {
            for partition in 0..partitions {
                let entry = Entry { arrived: 0, dead: false, since_ns: now_ns };
                source.waiting.insert((TokenKey { job, partition }, 0), entry);
            }
        }
        Ok(())
    }

    /// A token (or its tombstone) was put on an edge.
    pub fn arrived(&mut self, edge: usize, key: TokenKey, dead: bool, now_ns: u64) {
        let dead = dead || self.jobs.get(&key.job).is_some_and(|job| job.failed);
        let stage = &mut self.stages[self.edges[edge].to];
        let fresh = Entry { arrived: 0, dead: false, since_ns: now_ns };
        let entry = stage.waiting.entry((key, 0)).or_insert(fresh);
        entry.arrived += 1;
        entry.dead |= dead;
        entry.since_ns = now_ns;
    }

    /// A slot lost its last reader: `dealloc` has work.
    pub fn slot_died(&mut self, key: TokenKey, now_ns: u64) {
        for stage in self.stages.iter_mut().filter(|stage| stage.role == Role::Dealloc) {
            stage.serial = stage.serial.wrapping_add(1);
            let entry = Entry { arrived: 0, dead: false, since_ns: now_ns };
            stage.waiting.insert((key, stage.serial), entry);
        }
    }

    /// A granted firing is over, and what it put out has been reported by [`Self::arrived`]: worker and permits are
    /// free again. What a token holds stays taken until [`Self::hold_came_home`]; a tombstone holds nothing.
    pub fn ended(&mut self, grant: &Grant, output: Output) {
        if !grant.dead {
            let needs = self.needs(grant.stage, grant.key);
            self.permits.give_back(&needs);
        }
        let stage = &mut self.stages[grant.stage];
        stage.lanes[grant.worker as usize] += 1;
        self.running -= 1;
        let Some(job) = self.jobs.get_mut(&grant.key.job) else {
            return;
        };
        let reserved = output == Output::Tombstone && job.reserved.contains(&grant.key.partition);
        let hold = if reserved { job.holds[grant.stage].clone() } else { Claim::new() };
        if stage.role == Role::Sink {
            job.left -= 1;
            if job.left == 0 {
                self.jobs.remove(&grant.key.job);
            }
        }
        self.hold_came_home(&hold);
    }

    /// What the output of `stage` holds until it is home.
    #[must_use]
    pub fn hold_of(&self, stage: usize, job: JobId) -> Claim {
        self.jobs.get(&job).map(|job| job.holds[stage].clone()).unwrap_or_default()
    }

    /// A token is home, and gives back what [`Self::hold_of`] said when it was made.
    pub fn hold_came_home(&mut self, claim: &[(usize, u64)]) {
        self.permits.give_back(claim);
        for (pool, weight) in claim {
            self.held[*pool] -= weight;
        }
    }

    /// The job failed or was cancelled: all its firings that wait become tombstones.
    pub fn fail(&mut self, job: JobId) {
        let Some(state) = self.jobs.get_mut(&job) else { return };
        state.failed = true;
        for stage in self.stages.iter_mut().filter(|stage| stage.role != Role::Dealloc) {
            let of_job = (TokenKey { job, partition: 0 }, 0)..=(TokenKey { job, partition: u32::MAX }, u32::MAX);
            for (_, entry) in stage.waiting.range_mut(of_job) {
                entry.dead = true;
            }
        }
    }

    /// Grants all that the policy lets go now, in its order.
    ///
    /// # Errors
    /// The policy chose a firing that is not there or not legal. Grants made before that are in `grants`.
    pub fn grant(
        &mut self,
        policy: &mut dyn Policy,
        now_ns: u64,
        grants: &mut Vec<Grant>,
    ) -> Result<(), IllegalChoice> {
        self.grant_tombstones(now_ns, grants);
        loop {
            let waiting = self.waiting();
            if waiting.is_empty() {
                return Ok(());
            }
            let claims: Vec<Claim> = waiting.iter().map(|(stage, key)| self.claim(*stage, key.0)).collect();
            let shown: Vec<Waiting<'_>> =
                waiting.iter().zip(&claims).map(|((stage, key), claim)| self.show(*stage, *key, claim)).collect();
            let free: Vec<u64> = self.free();
            let Some(chosen) = policy.choose(&State { waiting: &shown, free: &free }) else {
                return self.may_rest(policy, &shown);
            };
            if let Some(problem) = self.illegal(chosen, &shown) {
                return Err(IllegalChoice { policy: policy.name().to_owned(), chosen: problem });
            }
            let (stage, key) = waiting[chosen];
            let taken = self.permits.take(&claims[chosen]);
            assert!(taken, "a legal firing's permits are free");
            grants.extend(self.start(stage, key, now_ns));
        }
    }

    /// Whether no job is left and every permit, place and worker is free: nothing leaked.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.jobs.is_empty()
            && self.permits.all_home()
            && self.edges.iter().all(|edge| edge.used == 0)
            && self.stages.iter().all(|stage| stage.waiting.is_empty())
    }

    /// Tombstones need no permits and ask no policy: a worker of their stage passes them on.
    fn grant_tombstones(&mut self, now_ns: u64, grants: &mut Vec<Grant>) {
        for position in 0..self.stages.len() {
            let stage = &self.stages[position];
            let ready: Vec<_> = stage
                .waiting
                .iter()
                .filter(|(_, entry)| entry.dead && entry.arrived == stage.ports)
                .map(|(key, _)| *key)
                .collect();
            for key in ready {
                if self.stages[position].free_worker().is_none() || !self.places_free(position) {
                    break;
                }
                grants.extend(self.start(position, key, now_ns));
            }
        }
    }

    /// The firings that have all their inputs and a free worker, oldest first.
    fn waiting(&self) -> Vec<(usize, (TokenKey, u32))> {
        let mut waiting: Vec<(usize, (TokenKey, u32))> = Vec::new();
        for (position, stage) in self.stages.iter().enumerate().filter(|(_, stage)| stage.free_worker().is_some()) {
            let ready = stage.waiting.iter().filter(|(_, entry)| entry.arrived == stage.ports && !entry.dead);
            waiting.extend(ready.map(|(key, _)| (position, *key)));
        }
        waiting.sort_by_key(|(stage, key)| (key.0, *stage, key.1));
        waiting
    }

    fn show<'a>(&self, stage: usize, key: (TokenKey, u32), claim: &'a Claim) -> Waiting<'a> {
        let state = &self.stages[stage];
        Waiting {
            stage,
            key: key.0,
            priority: self.jobs.get(&key.0.job).map(|job| job.priority).unwrap_or_default(),
            since_ns: state.waiting.get(&key).map_or(0, |entry| entry.since_ns),
            claim,
            blocked: self.blocked(stage, key.0.job, claim),
        }
    }

    fn blocked(&self, stage: usize, job: JobId, claim: &Claim) -> Option<Blocked> {
        if !self.places_free(stage) || !self.leaves_room(stage, job) {
            return Some(Blocked::Tokens);
        }
        self.permits.lacking(claim).map(|_| Blocked::Permits)
    }

    /// A policy may let everything wait while something runs, whose end asks it again. After that nobody would.
    fn may_rest(&self, policy: &dyn Policy, shown: &[Waiting<'_>]) -> Result<(), IllegalChoice> {
        match shown.iter().find(|firing| firing.blocked.is_none()) {
            Some(firing) if self.running == 0 => {
                let stage = &self.stages[firing.stage].name;
                let chosen = format!("nothing, though nothing runs and stage `{stage}` could start for {}", firing.key);
                Err(IllegalChoice { policy: policy.name().to_owned(), chosen })
            }
            _ => Ok(()),
        }
    }

    fn illegal(&self, chosen: usize, shown: &[Waiting<'_>]) -> Option<String> {
        let Some(firing) = shown.get(chosen) else {
            return Some(format!("firing number {chosen} of {} that wait", shown.len()));
        };
        let stage = &self.stages[firing.stage].name;
        let reason = match firing.blocked? {
            Blocked::Permits => match self.permits.lacking(firing.claim) {
                Some(pool) => format!("pool number {pool} has {} free", self.permits.free(pool)),
                None => "it lacks permits".to_owned(),
            },
            Blocked::Tokens if self.places_free(firing.stage) => {
                "its token would take the room of running stages".to_owned()
            }
            Blocked::Tokens => "its output has no place".to_owned(),
        };
        Some(format!("stage `{stage}` for {}, which cannot start: {reason}", firing.key))
    }

    /// What a firing takes for its own time. A dead slot may outlive its job, so `dealloc` needs what the plan says.
    fn needs(&self, stage: usize, key: TokenKey) -> Claim {
        let state = &self.stages[stage];
        match self.jobs.get(&key.job).filter(|_| state.role != Role::Dealloc) {
            Some(job) => job.needs[stage].clone(),
            None => state.needs.clone(),
        }
    }

    /// The permits of a firing: its needs, and at the source what all stages of the token hold.
    fn claim(&self, stage: usize, key: TokenKey) -> Claim {
        let mut claim = self.needs(stage, key);
        if self.stages[stage].role == Role::Source
            && let Some(job) = self.jobs.get(&key.job)
        {
            add_to_claim(&mut claim, job.all_holds.iter().copied());
        }
        claim
    }

    /// Whether what tokens hold still leaves room for the largest firing, if the source fires for `job`: else tokens
    /// that hold everything could wait for workspace that never comes free.
    fn leaves_room(&self, stage: usize, job: JobId) -> bool {
        if self.stages[stage].role != Role::Source {
            return true;
        }
        let Some(job) = self.jobs.get(&job) else { return true };
        job.all_holds.iter().all(|(pool, weight)| {
            let of_pool = |claim: &Claim| claim.iter().find(|(of, _)| of == pool).map_or(0, |(_, needs)| *needs);
            let largest = self.jobs.values().flat_map(|job| job.needs.iter().map(of_pool)).max().unwrap_or(0);
            self.held[*pool].saturating_add(*weight).saturating_add(largest) <= self.permits.size(*pool)
        })
    }

    fn places_free(&self, stage: usize) -> bool {
        self.stages[stage].reserves.iter().all(|edge| self.edges[*edge].used < self.edges[*edge].capacity)
    }

    fn free(&self) -> Vec<u64> {
        (0..).map_while(|pool| self.permits.get_free(pool)).collect()
    }

    fn start(&mut self, position: usize, key: (TokenKey, u32), now_ns: u64) -> Option<Grant> {
        let stage = &mut self.stages[position];
        let worker = stage.free_worker()?;
        let entry = stage.waiting.remove(&key)?;
        stage.lanes[worker] -= 1;
        self.running += 1;
        for edge in &stage.inputs {
            self.edges[*edge].used -= 1;
        }
        for edge in &stage.reserves {
            self.edges[*edge].used += 1;
        }
        if stage.role == Role::Source
            && !entry.dead
            && let Some(job) = self.jobs.get_mut(&key.0.job)
        {
            job.reserved.insert(key.0.partition);
            for (pool, weight) in &job.all_holds {
                self.held[*pool] += weight;
            }
        }
        let waited_ns = now_ns.saturating_sub(entry.since_ns);
        let worker = u32::try_from(worker).unwrap_or(u32::MAX);
        Some(Grant { stage: position, worker, key: key.0, dead: entry.dead, waited_ns })
    }
}

impl Stage {
    fn needs_for(&self, sizes: &Sizes) -> Claim {
        let mut claim = self.needs.clone();
        let varies = |bytes: &Bytes| Bytes { fixed: 0, ..*bytes }.of(sizes);
        let workspace = self.workspace.iter().map(|(pool, bytes)| (*pool, varies(bytes)));
        add_to_claim(&mut claim, workspace.filter(|(_, bytes)| *bytes > 0));
        claim
    }

    /// The worker with the most free lanes, the first of equals.
    fn free_worker(&self) -> Option<usize> {
        let most = self.lanes.iter().copied().max().filter(|free| *free > 0)?;
        self.lanes.iter().position(|free| *free == most)
    }
}

fn claim_of(holds: &[(usize, Bytes)], sizes: &Sizes) -> Claim {
    let mut claim = Claim::new();
    add_to_claim(&mut claim, holds.iter().map(|(pool, bytes)| (*pool, bytes.of(sizes))));
    claim
}

#[cfg(test)]
mod tests;
