//! The life of a firing: from its grant over its pieces to its end.

use super::*;

impl World<'_> {
    /// Starts a granted firing; a tombstone is over at once.
    pub(super) fn begin(&mut self, grant: Grant) -> Result<(), SimError> {
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
        let makes = !grant.dead && stage.role != Role::Dealloc;
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

    /// A piece is over; whether its firing is.
    pub(super) fn end_piece(&mut self, at: usize, piece: usize) -> bool {
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

    pub(super) fn end(&mut self, at: usize) -> Result<(), SimError> {
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
            Role::Sink => {
                // What leaves the graph is its taker's.
                alive_output.into_iter().for_each(|token| drop(self.ledger.release(token)));
                self.scheduler.ended(&grant, Output::Tombstone, self.now_ns);
            }
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
}
