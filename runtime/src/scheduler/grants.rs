//! From what waits to grants.

use std::sync::Arc;

use super::{Grant, IllegalChoice, Scheduler};
use crate::key::{JobId, TokenKey};
use crate::plan::Role;
use crate::policy::{Blocked, Policy, State, Waiting};

impl Scheduler {
    /// Grants all that the policy lets go now, in its order.
    ///
    /// # Errors
    /// The policy chose a firing that is not there or not legal. Grants made before that are in `grants`.
    ///
    /// # Panics
    /// The permits of a firing that was found legal are not free: the scheduler contradicts itself.
    pub fn grant(
        &mut self,
        policy: &mut dyn Policy,
        now_ns: u64,
        grants: &mut Vec<Grant>,
    ) -> Result<(), IllegalChoice> {
        self.grant_tombstones(now_ns, grants);
        while self.judge_all() {
            let state = State {
                now_ns,
                waiting: &self.ready,
                free: &self.shown.free,
                stages: &self.shown.stages,
                edges: &self.shown.edges,
                ccds: &self.shown.ccds,
            };
            let Some(chosen) = policy.choose(&state) else {
                return self.may_rest(policy);
            };
            if let Some(problem) = self.illegal(chosen) {
                return Err(IllegalChoice { policy: policy.name().to_owned(), chosen: problem });
            }
            let firing = self.ready.remove(chosen);
            let taken = self.permits.take(&firing.claim);
            assert!(taken, "a legal firing's permits are free");
            firing.claim.iter().for_each(|(pool, weight)| self.shown.free[*pool] -= weight);
            grants.extend(self.start(firing.stage, firing.key, false, firing.since_ns, now_ns));
        }
        Ok(())
    }

    /// By stage: how many firings waited for permits alone when all were judged last. Of dead slots it is one at most, that
    /// whose turn it is.
    pub(crate) fn lack_permits(&self) -> &[u32] {
        &self.lack_permits
    }

    /// Says of every firing that waits whether it may start; whether one may.
    fn judge_all(&mut self) -> bool {
        let mut any = false;
        self.lack_permits.fill(0);
        for position in 0..self.ready.len() {
            let firing = &self.ready[position];
            let (stage, blocked) = (firing.stage, self.judge(firing));
            any |= blocked.is_none();
            self.lack_permits[stage] += u32::from(blocked == Some(Blocked::Permits));
            self.ready[position].blocked = blocked;
        }
        if !self.shown.ccds.is_empty() {
            self.say_ccds();
        }
        any
    }

    fn judge(&self, firing: &Waiting) -> Option<Blocked> {
        if self.shown.stages[firing.stage].lanes_free == 0 {
            return Some(Blocked::Worker);
        }
        let is_source = Some(firing.stage) == self.source;
        if !self.places_free(firing.stage)
            || !self.slot_free(firing.stage)
            || (is_source && !self.leaves_room(firing.key.job))
        {
            return Some(Blocked::Tokens);
        }
        let lacks = firing.claim.iter().any(|(pool, weight)| self.shown.free[*pool] < *weight);
        lacks.then_some(Blocked::Permits)
    }

    /// Tells policies which CCD a firing would run on.
    fn say_ccds(&mut self) {
        for firing in &mut self.ready {
            let stage = &self.stages[firing.stage];
            let ccds = stage.free_worker().and_then(|worker| stage.ccds.get(worker));
            firing.ccd = match ccds.map(Vec::as_slice) {
                Some([ccd]) => Some(*ccd),
                _ => None,
            };
        }
    }

    /// Tombstones need no permits and ask no policy: a worker of their stage passes them on.
    fn grant_tombstones(&mut self, now_ns: u64, grants: &mut Vec<Grant>) {
        if let Some(source) = self.source {
            for at in 0..self.jobs.len() {
                while self.jobs[at].1.failed && self.jobs[at].1.next < self.jobs[at].1.partitions {
                    let (job, state) = (self.jobs[at].0, &self.jobs[at].1);
                    let (key, since) = (TokenKey { job, partition: state.next }, state.since_ns);
                    let Some(grant) = self.start_dead(source, key, since, now_ns) else { break };
                    grants.push(grant);
                }
            }
        }
        if self.dead.is_empty() {
            return;
        }
        self.dead.sort_unstable();
        let (mut position, mut full) = (0, None);
        while let Some(&(stage, key, since)) = self.dead.get(position) {
            let grant = if full == Some(stage) { None } else { self.start_dead(stage, key, since, now_ns) };
            match grant {
                Some(grant) => {
                    grants.push(grant);
                    self.dead.remove(position);
                }
                None => {
                    full = Some(stage);
                    position += 1;
                }
            }
        }
    }

    fn start_dead(&mut self, stage: usize, key: TokenKey, since_ns: u64, now_ns: u64) -> Option<Grant> {
        if !self.places_free(stage) {
            return None;
        }
        self.start(stage, key, true, since_ns, now_ns)
    }

    /// A policy may let everything wait while something runs, whose end asks it again. After that nobody would.
    fn may_rest(&self, policy: &dyn Policy) -> Result<(), IllegalChoice> {
        match self.ready.iter().find(|firing| firing.is_legal()) {
            Some(firing) if self.running == 0 => {
                let stage = &self.stages[firing.stage].name;
                let wish = self.wish_of(policy).map_or_else(String::new, |wish| format!(": {wish}"));
                let key = firing.key;
                let chosen = format!("nothing, though nothing runs and stage `{stage}` could start for {key}{wish}");
                Err(IllegalChoice { policy: policy.name().to_owned(), chosen })
            }
            _ => Ok(()),
        }
    }

    /// What a policy lets everything wait for, in words.
    pub(crate) fn wish_of(&self, policy: &dyn Policy) -> Option<String> {
        let (number, decision) = policy.waits_for()?;
        let what = match self.stages.get(decision.stage) {
            Some(stage) => format!("stage `{}` for {}", stage.name, decision.key),
            None => format!("stage number {}, which there is not", decision.stage),
        };
        Some(format!("it waits for decision {number} of its log, `{decision}`: {what}"))
    }

    fn illegal(&self, chosen: usize) -> Option<String> {
        let Some(firing) = self.ready.get(chosen) else {
            return Some(format!("firing number {chosen} of {} that wait", self.ready.len()));
        };
        let stage = &self.stages[firing.stage].name;
        let reason = match firing.blocked? {
            Blocked::Worker => "all its workers are busy".to_owned(),
            Blocked::Permits => match self.permits.lacking(&firing.claim) {
                Some(pool) => {
                    let needs = firing.claim.iter().find(|(other, _)| *other == pool).map_or(0, |(_, needs)| *needs);
                    let (name, free) = (self.permits.name(pool), self.permits.free(pool));
                    format!("it needs {needs} of pool `{name}`, which has {free} free")
                }
                None => "it lacks permits".to_owned(),
            },
            Blocked::Tokens if !self.slot_free(firing.stage) => "no slot of its output is home".to_owned(),
            Blocked::Tokens if self.places_free(firing.stage) => {
                "its token would take the room of running stages".to_owned()
            }
            Blocked::Tokens => "its output has no place".to_owned(),
        };
        Some(format!("stage `{stage}` for {}, which cannot start: {reason}", firing.key))
    }

    /// Whether what tokens hold still leaves room for the largest firing, if the source fires for `job`: else tokens
    /// that hold everything could wait for workspace that never comes free.
    fn leaves_room(&self, job: JobId) -> bool {
        let Some(at) = self.job_at(job) else { return true };
        self.jobs[at].1.all_holds.iter().all(|(pool, weight)| {
            let taken = self.held[*pool].saturating_add(*weight).saturating_add(self.largest_need[*pool]);
            taken <= self.permits.size(*pool)
        })
    }

    /// Whether a slot for the output is home. There are as many as tokens that can be alive, so where its places are free
    /// and no slot is, one is on its way through `dealloc`, which waits for nothing that this firing could keep.
    fn slot_free(&self, stage: usize) -> bool {
        self.permits.lacking(&self.stages[stage].slot).is_none()
    }

    fn places_free(&self, stage: usize) -> bool {
        let free = |edge: &usize| self.shown.edges[*edge].used < self.shown.edges[*edge].capacity;
        self.stages[stage].reserves.iter().all(free)
    }

    /// Takes a worker and the places for a firing that is in no list any more; `None` if no worker is free.
    fn start(&mut self, position: usize, key: TokenKey, dead: bool, since_ns: u64, now_ns: u64) -> Option<Grant> {
        let stage = &mut self.stages[position];
        let worker = stage.free_worker()?;
        stage.lanes[worker] -= 1;
        let shown = &mut self.shown.stages[position];
        (shown.lanes_free, shown.running) = (shown.lanes_free - 1, shown.running + 1);
        if let Some(ccds) = stage.ccds.get(worker) {
            ccds.iter().for_each(|ccd| self.shown.ccds[*ccd as usize] += 1);
        }
        self.running += 1;
        stage.inputs.iter().for_each(|edge| self.shown.edges[*edge].used -= 1);
        stage.reserves.iter().for_each(|edge| self.shown.edges[*edge].used += 1);
        if !dead {
            stage.slot.iter().for_each(|(pool, weight)| self.held[*pool] += weight);
        }
        let role = stage.role;
        if role == Role::Source {
            self.source_fired(key, dead);
        } else if role == Role::Dealloc {
            self.dead_slots.pop_front();
            self.show_dead_slot();
        }
        let waited_ns = now_ns.saturating_sub(since_ns);
        let worker = u32::try_from(worker).unwrap_or(u32::MAX);
        Some(Grant { stage: position, worker, key, dead, waited_ns, granted_ns: now_ns })
    }

    fn source_fired(&mut self, key: TokenKey, dead: bool) {
        let Some(at) = self.job_at(key.job) else { return };
        let job = &mut self.jobs[at].1;
        job.next = key.partition + 1;
        if !dead {
            job.reserve(key.partition);
            job.all_holds.iter().for_each(|(pool, weight)| self.held[*pool] += weight);
            self.show_source(key.job);
        }
    }

    /// Lets the next partition of a job wait at the source.
    pub(super) fn show_source(&mut self, job: JobId) {
        let (Some(stage), Some(at)) = (self.source, self.job_at(job)) else { return };
        let state = &self.jobs[at].1;
        if state.next < state.partitions && !state.failed && !state.held_back {
            let (key, claim) = (TokenKey { job, partition: state.next }, Arc::clone(&state.source_claim));
            let (priority, since_ns) = (state.priority, state.since_ns);
            self.insert(Waiting { stage, key, priority, since_ns, claim, ccd: None, blocked: None });
        }
    }

    /// Lets the oldest dead slot wait, if none does.
    pub(super) fn show_dead_slot(&mut self) {
        let Some(stage) = self.dealloc else { return };
        let Some(&(key, since_ns)) = self.dead_slots.front() else { return };
        if self.ready.iter().any(|firing| firing.stage == stage) {
            return;
        }
        let claim = Arc::clone(&self.stages[stage].needs);
        let priority = self.job_at(key.job).map(|at| self.jobs[at].1.priority).unwrap_or_default();
        self.insert(Waiting { stage, key, priority, since_ns, claim, ccd: None, blocked: None });
    }

    /// Puts a firing where its age belongs. The youngest come last, so the place is near the end.
    pub(super) fn insert(&mut self, firing: Waiting) {
        let order = |other: &Waiting| (other.key, other.stage);
        let behind = self.ready.iter().rev().take_while(|other| order(other) > order(&firing)).count();
        self.ready.insert(self.ready.len() - behind, firing);
    }

    /// The longest way from each stage to the end; stages are in topological order.
    pub(super) fn refresh_rest(&mut self) {
        for position in (0..self.stages.len()).rev() {
            let behind = self.stages[position].readers.iter().map(|reader| self.shown.stages[*reader].rest_ns).max();
            let own = self.shown.stages[position].mean_ns.unwrap_or(1);
            self.shown.stages[position].rest_ns = own.saturating_add(behind.unwrap_or(0));
        }
    }

    pub(super) fn refresh_largest_need(&mut self) {
        self.largest_need.fill(0);
        for (pool, need) in self.jobs.iter().flat_map(|(_, job)| job.needs.iter()).flat_map(|needs| needs.iter()) {
            self.largest_need[*pool] = self.largest_need[*pool].max(*need);
        }
    }
}
