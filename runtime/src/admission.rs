//! Which jobs there is memory for: a plain state machine, without threads and clock.
//!
//! A job takes *shares* of the process' memory: the program itself, keys and matrices, the slots and workspaces for
//! circuits of its size. Jobs share them; a share counts once, for as long as somebody uses it. Slots and workspaces stay
//! when nobody does, and so does what a [`Keeper`] keeps, until their memory is wanted: then the oldest goes first.

use crate::plan::MemoryRow;
use crate::stage::Sizes;

/// What a share is a share of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// The program, its heap and its stacks.
    Program,
    /// Something that a job brings along, by a number that is the same for all jobs that bring it.
    Brought(usize),
    /// Slots and workspaces for circuits of this size.
    Slots(Sizes),
}

/// A share of memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Share {
    /// What it is.
    pub what: What,
    /// Its bytes.
    pub bytes: u64,
}

/// Who keeps what jobs brought along after the last of them, for those that come: keys and matrices, say.
pub trait Keeper: Send + Sync {
    /// Whether it keeps the thing of this number ([`Brought::number`](crate::stage::Brought::number)).
    fn keeps(&self, number: usize) -> bool;

    /// Lets it go: no job uses it, and its memory is wanted. Called on the thread of a `dealloc` stage, behind its permits.
    fn let_go(&self, number: usize);
}

/// The shares that are taken.
#[derive(Clone, Debug)]
pub struct Ledger {
    limit: u64,
    taken: Vec<Taken>,
    /// Counts releases, so that the oldest idle share is known.
    released: u64,
}

#[derive(Clone, Debug)]
struct Taken {
    share: Share,
    users: u32,
    /// The number of the release that left it without users.
    idle_since: u64,
    /// It is being given back.
    leaving: bool,
}

/// What is to be done for a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Its shares were taken.
    Admitted,
    /// This is idle, and is to go first.
    After(What),
    /// Jobs that run, or slots that are going, will make room.
    Wait,
}

impl Ledger {
    /// Nothing is taken of so many bytes.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self { limit, taken: Vec::new(), released: 0 }
    }

    /// The bytes that there are.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The bytes that are taken.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.taken.iter().fold(0, |sum, taken| sum.saturating_add(taken.share.bytes))
    }

    /// Whether the shares would fit if nobody else had any.
    #[must_use]
    pub fn ever_fits(&self, shares: &[Share]) -> bool {
        shares.iter().fold(0_u64, |sum, share| sum.saturating_add(share.bytes)) <= self.limit
    }

    /// Takes the shares if there is room for those that nobody has; else says what makes room.
    pub fn admit(&mut self, shares: &[Share]) -> Verdict {
        // A share that is going cannot be held on to: its owner comes again when it is gone.
        let has = |share: &Share| self.taken.iter().any(|taken| taken.share.what == share.what && !taken.leaving);
        if shares.iter().any(|share| self.taken.iter().any(|taken| taken.leaving && taken.share.what == share.what)) {
            return Verdict::Wait;
        }
        let new = shares.iter().filter(|share| !has(share)).fold(0_u64, |sum, share| sum.saturating_add(share.bytes));
        let wanted = self.taken().saturating_add(new);
        if wanted <= self.limit {
            for share in shares {
                match self.taken.iter_mut().find(|taken| taken.share.what == share.what) {
                    Some(taken) => taken.users += 1,
                    None => self.taken.push(Taken { share: share.clone(), users: 1, idle_since: 0, leaving: false }),
                }
            }
            return Verdict::Admitted;
        }
        let going = self.taken.iter().filter(|taken| taken.leaving);
        if wanted.saturating_sub(going.fold(0, |sum, taken| sum + taken.share.bytes)) <= self.limit {
            return Verdict::Wait;
        }
        let idle = self.taken.iter_mut().filter(|taken| {
            let wanted = shares.iter().any(|share| share.what == taken.share.what);
            taken.users == 0 && !taken.leaving && !wanted
        });
        match idle.min_by_key(|taken| taken.idle_since) {
            Some(Taken { share, leaving, .. }) => {
                *leaving = true;
                Verdict::After(share.what)
            }
            None => Verdict::Wait,
        }
    }

    /// A job that was admitted with these shares is over. Slots stay, and so does what is kept, by its number; all else
    /// goes with its last user.
    pub fn release(&mut self, shares: &[Share], kept: impl Fn(usize) -> bool) {
        self.released += 1;
        for share in shares {
            if let Some(taken) = self.taken.iter_mut().find(|taken| taken.share.what == share.what) {
                taken.users = taken.users.saturating_sub(1);
                taken.idle_since = self.released;
            }
        }
        self.taken.retain(|taken| {
            let stays = match taken.share.what {
                What::Program => false,
                What::Brought(number) => kept(number),
                What::Slots(_) => true,
            };
            taken.users > 0 || stays
        });
    }

    /// What [`Self::admit`] sent away is gone.
    pub fn left(&mut self, what: &What) {
        self.taken.retain(|taken| !(taken.leaving && taken.share.what == *what));
    }
}

/// The program, its heap, its stacks, what the kernel keeps for it, and the rounding of buffers to whole pages.
pub const PROGRAM_BYTES: u64 = 64 << 20;

/// A row of a job's table.
#[must_use]
pub fn row(what: String, count: u64, each: u64) -> MemoryRow {
    MemoryRow { what, count, each, bytes: count.saturating_mul(each), on: crate::plan::MemoryPlace::Everywhere }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(domain: u64, bytes: u64) -> Share {
        Share { what: What::Slots(Sizes { domain, ..Sizes::NONE }), bytes }
    }

    fn nothing(_: usize) -> bool {
        false
    }

    fn key(number: usize, bytes: u64) -> Share {
        Share { what: What::Brought(number), bytes }
    }

    #[test]
    fn what_jobs_share_counts_once() {
        let mut ledger = Ledger::new(100);
        let job = [key(1, 50), slots(1, 50)];
        assert!(ledger.ever_fits(&job));
        assert_eq!([ledger.admit(&job), ledger.admit(&job)], [Verdict::Admitted; 2]);
        assert_eq!(ledger.taken(), 100);
        ledger.release(&job, nothing);
        assert_eq!(ledger.taken(), 100, "the other job is still there");
        ledger.release(&job, nothing);
        assert_eq!(ledger.taken(), 50, "slots stay, the key goes with its last job");
        assert!(!ledger.ever_fits(&[key(1, 51), slots(1, 50)]));
    }

    #[test]
    fn slots_that_nobody_uses_make_room_oldest_first() {
        let mut ledger = Ledger::new(100);
        for domain in [1, 2, 1] {
            assert_eq!(ledger.admit(&[slots(domain, 40)]), Verdict::Admitted);
            ledger.release(&[slots(domain, 40)], nothing);
        }
        let sizes = |domain| What::Slots(Sizes { domain, ..Sizes::NONE });
        assert_eq!(ledger.admit(&[slots(3, 60)]), Verdict::After(sizes(2)), "those of size 1 were used after them");
        assert_eq!(ledger.admit(&[slots(3, 60)]), Verdict::Wait, "they are on their way");
        assert_eq!(ledger.admit(&[slots(2, 40)]), Verdict::Wait, "and cannot be had meanwhile");
        ledger.left(&sizes(2));
        assert_eq!(ledger.admit(&[slots(3, 60)]), Verdict::Admitted);
        assert_eq!(ledger.admit(&[slots(2, 40)]), Verdict::After(sizes(1)));
        ledger.left(&sizes(1));
        assert_eq!(ledger.admit(&[slots(2, 40)]), Verdict::Admitted);
    }

    #[test]
    fn what_is_kept_stays_until_its_memory_is_wanted_oldest_first() {
        let mut ledger = Ledger::new(100);
        let everything = |_| true;
        for number in [1, 2, 1] {
            assert_eq!(ledger.admit(&[key(number, 40)]), Verdict::Admitted);
            ledger.release(&[key(number, 40)], everything);
        }
        assert_eq!(ledger.taken(), 80, "both keys are idle");
        assert_eq!(ledger.admit(&[key(1, 40), key(3, 30)]), Verdict::After(What::Brought(2)), "what is wanted stays");
        ledger.left(&What::Brought(2));
        assert_eq!(ledger.admit(&[key(1, 40), key(3, 30)]), Verdict::Admitted);
        assert_eq!(ledger.admit(&[key(2, 40)]), Verdict::Wait, "what is used never goes");
        ledger.release(&[key(1, 40), key(3, 30)], |number| number == 3);
        assert_eq!(ledger.taken(), 30, "nobody keeps the first any more");
    }

    #[test]
    fn what_is_used_is_never_sent_away() {
        let mut ledger = Ledger::new(100);
        assert_eq!(ledger.admit(&[key(1, 30), slots(1, 40)]), Verdict::Admitted);
        assert_eq!(ledger.admit(&[key(2, 30), slots(2, 40)]), Verdict::Wait);
        ledger.release(&[key(1, 30), slots(1, 40)], nothing);
        assert_eq!(
            ledger.admit(&[key(2, 30), slots(1, 40)]),
            Verdict::Admitted,
            "idle slots of the size are used again"
        );
        assert_eq!(ledger.taken(), 70);
    }

    /// Every order of up to six arrivals and ends of three kinds of job: what is taken never exceeds the limit, and when all
    /// jobs are over the next one is admitted after at most as many departures as there are sizes.
    #[test]
    fn every_short_history_stays_within_the_limit_and_ends() {
        let jobs: Vec<Vec<Share>> = (1..=3_u64).map(|size| vec![key(1, 20), slots(size, 30 * size.min(2))]).collect();
        let mut histories = 0;
        for code in 0..6_u32.pow(6) {
            let (mut ledger, mut live) = (Ledger::new(100), Vec::new());
            let mut rest = code;
            for _ in 0..6 {
                let (action, kind) = (rest % 6 / 3, (rest % 3) as usize);
                rest /= 6;
                if action == 0 {
                    match ledger.admit(&jobs[kind]) {
                        Verdict::Admitted => live.push(kind),
                        Verdict::After(what) => ledger.left(&what),
                        Verdict::Wait => assert!(!live.is_empty(), "nothing runs and nothing goes"),
                    }
                } else if let Some(at) = live.iter().position(|one| *one == kind) {
                    live.remove(at);
                    ledger.release(&jobs[kind], nothing);
                }
                assert!(ledger.taken() <= 100);
            }
            live.drain(..).for_each(|kind| ledger.release(&jobs[kind], nothing));
            for job in &jobs {
                let mut departures = 0;
                while let Verdict::After(what) = ledger.admit(job) {
                    ledger.left(&what);
                    departures += 1;
                }
                assert!(departures <= 3);
                assert!(job.iter().all(|share| ledger.taken.iter().any(|taken| taken.share == *share)));
                ledger.release(job, nothing);
            }
            histories += 1;
        }
        assert_eq!(histories, 46_656);
    }
}
