//! Who waits for memory, in what order.

use std::collections::VecDeque;

use super::{Ledger, Share, Verdict, What};
use crate::key::JobId;
use crate::stage::Thing;

/// Jobs that wait for their memory, those that have it, and who reserved some for what is about to be loaded.
///
/// The order is strict: who is overtaken could wait for ever. Only while something is being loaded for a reservation do jobs
/// behind it go on, where there is room, and reservations of the same.
///
/// **Why nobody waits for ever.** Jobs that have their memory end without waiting for this, and what is reserved is used or given
/// up. Those in line that have something stand before all that have nothing, and none of them has anything that one before
/// him has not. So the first in line waits for jobs that end and for what is idle, and all that he wants fits alone.
#[derive(Clone, Debug)]
pub struct Line {
    ledger: Ledger,
    /// Jobs that have their memory.
    admitted: Vec<(JobId, Vec<Share>)>,
    waiting: VecDeque<Waiter>,
    reservations: u64,
}

#[derive(Clone, Debug)]
struct Waiter {
    who: Who,
    wants: Vec<Share>,
    /// What it has already, if it is a granted reservation or came in the place of one.
    has: Option<Vec<Share>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Who {
    Job(JobId),
    Reservation(u64),
}

/// What is to be done next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// This job has its memory, and may start.
    Admitted(JobId),
    /// This reservation is granted.
    Reserved(u64),
    /// This is idle, and is to go first.
    After(What),
    /// Nothing, until a job has ended, a reservation was used or given up, or something has gone.
    Wait,
}

impl Line {
    /// Nobody is there, and there are so many bytes.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self { ledger: Ledger::new(limit), admitted: Vec::new(), waiting: VecDeque::new(), reservations: 0 }
    }

    /// What is taken.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Whether somebody waits.
    #[must_use]
    pub fn is_waited_in(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// A job comes that takes these shares; alone they fit.
    pub fn job(&mut self, job: JobId, wants: Vec<Share>) {
        self.waiting.push_back(Waiter { who: Who::Job(job), wants: merged(wants), has: None });
    }

    /// Somebody comes who wants to load what takes these shares; alone they fit. The number is the reservation's name.
    pub fn reserve(&mut self, wants: Vec<Share>) -> u64 {
        self.reservations += 1;
        let who = Who::Reservation(self.reservations);
        self.waiting.push_back(Waiter { who, wants: merged(wants), has: None });
        self.reservations
    }

    /// Whether this reservation was granted.
    #[must_use]
    pub fn is_reserved(&self, number: u64) -> bool {
        self.at(number).is_some_and(|at| self.waiting[at].has.is_some())
    }

    /// The shares of a job that comes in the place of a reservation: its own, and what was reserved beside them.
    #[must_use]
    pub fn with_reserved(&self, number: u64, wants: Vec<Share>) -> Vec<Share> {
        let mut wants = merged(wants);
        let has = self.at(number).and_then(|at| self.waiting[at].has.as_deref()).unwrap_or_default();
        let missing: Vec<Share> = has.iter().filter(|share| !contains(&wants, &share.what)).cloned().collect();
        wants.extend(missing);
        wants
    }

    /// A job comes in the place of a reservation, with what [`Self::with_reserved`] says; alone that fits.
    pub fn job_in(&mut self, number: u64, job: JobId, wants: Vec<Share>) {
        match self.at(number) {
            Some(at) => {
                self.ledger.restate(&wants);
                let waiter = &mut self.waiting[at];
                (waiter.who, waiter.wants) = (Who::Job(job), wants);
            }
            None => self.job(job, wants),
        }
    }

    /// A reservation is given up.
    pub fn give_up(&mut self, number: u64, kept: impl Fn(u64) -> bool) {
        if let Some(waiter) = self.at(number).and_then(|at| self.waiting.remove(at)) {
            self.ledger.release(waiter.has.as_deref().unwrap_or_default(), kept);
        }
    }

    /// Of the jobs only those that `live` are still there.
    pub fn ended(&mut self, live: impl Fn(JobId) -> bool, kept: impl Fn(u64) -> bool) {
        let Self { ledger, admitted, waiting, .. } = self;
        admitted.retain(|(job, taken)| {
            let lives = live(*job);
            if !lives {
                ledger.release(taken, &kept);
            }
            lives
        });
        waiting.retain(|waiter| {
            let lives = !matches!(waiter.who, Who::Job(job) if !live(job));
            if !lives {
                ledger.release(waiter.has.as_deref().unwrap_or_default(), &kept);
            }
            lives
        });
    }

    /// Whether [`Self::ended`] has something to do.
    #[must_use]
    pub fn has_ended(&self, live: impl Fn(JobId) -> bool) -> bool {
        self.admitted.iter().any(|(job, _)| !live(*job))
    }

    /// What [`Step::After`] sent away is gone.
    pub fn left(&mut self, what: &What) {
        self.ledger.left(what);
    }

    /// What is to be done next. Asked again and again until it says [`Step::Wait`]. Of what is idle that goes last which others in
    /// line want, or which is `held`, by its place, so that it would free nothing.
    pub fn step(&mut self, held: impl Fn(u64) -> bool) -> Step {
        let Self { ledger, admitted, waiting, .. } = self;
        // Whether a reservation was passed that is not granted yet: it is not overtaken by others.
        let mut passed = false;
        for at in 0..waiting.len() {
            let Waiter { who, wants, has } = &waiting[at];
            if let Who::Reservation(_) = who {
                let before = waiting.range(..at).filter_map(|waiter| waiter.has.as_deref());
                let adds_nothing = |has: &[Share]| wants.iter().all(|share| contains(has, &share.what));
                if has.is_some() {
                    continue;
                }
                if passed || !before.into_iter().all(adds_nothing) {
                    passed = true;
                    continue;
                }
            }
            let wants: &[Share] = match who {
                Who::Job(_) => wants,
                Who::Reservation(_) => &wants.iter().map(|share| ledger.supposed(share)).collect::<Vec<_>>(),
            };
            let last = |what: &What| {
                let mut others = waiting.iter().enumerate().filter(|(other, _)| *other != at);
                let is_held = matches!(what, What::Brought(Thing::Kept(place)) if held(*place));
                is_held || others.any(|(_, waiter)| contains(&waiter.wants, what))
            };
            return match (ledger.admit(wants, last), *who) {
                (Verdict::Admitted, Who::Job(job)) => {
                    if let Some(Waiter { wants, has, .. }) = waiting.remove(at) {
                        // All of these are taken twice now: none of them goes.
                        ledger.release(&has.unwrap_or_default(), |_| true);
                        admitted.push((job, wants));
                    }
                    Step::Admitted(job)
                }
                (Verdict::Admitted, Who::Reservation(number)) => {
                    let waiter = &mut waiting[at];
                    waiter.has = Some(waiter.wants.clone());
                    Step::Reserved(number)
                }
                (Verdict::After(what), _) => Step::After(what),
                (Verdict::Wait, _) => Step::Wait,
            };
        }
        Step::Wait
    }

    fn at(&self, number: u64) -> Option<usize> {
        self.waiting.iter().position(|waiter| waiter.who == Who::Reservation(number))
    }
}

fn contains(shares: &[Share], what: &What) -> bool {
    shares.iter().any(|share| share.what == *what)
}

/// Each thing once: what is named twice is as large as the larger says.
fn merged(shares: Vec<Share>) -> Vec<Share> {
    let mut once: Vec<Share> = Vec::with_capacity(shares.len());
    for share in shares {
        match once.iter_mut().find(|other| other.what == share.what) {
            Some(other) => other.bytes = other.bytes.max(share.bytes),
            None => once.push(share),
        }
    }
    once
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
