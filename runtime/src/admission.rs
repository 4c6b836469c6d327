//! Which jobs there is memory for: a plain state machine, without threads and clock.
//!
//! A job takes *shares* of the process' memory: the program itself, keys and matrices, the slots and workspaces for
//! circuits of its size. Jobs share them; a share counts once, for as long as somebody uses it. Slots and workspaces stay
//! when nobody does, and so does what a [`Keeper`] keeps, until their memory is wanted: then the oldest goes first.
//!
//! Who is about to load what a [`Keeper`] will keep takes its share before: [`Line`] has jobs and such reservations in
//! their order.

mod line;

pub use line::{Line, Step};

use crate::plan::MemoryRow;
use crate::stage::{Sizes, Thing};

/// What a share is a share of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// The program, its heap and its stacks.
    Program,
    /// Something that a job brings along.
    Brought(Thing),
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

/// Who keeps what jobs brought along after the last of them, for those that come: keys and matrices, say. Each thing has a
/// place of its own, before it is loaded and after it was let go too.
pub trait Keeper: Send + Sync {
    /// The place of the thing that lies at this address ([`Thing::At`]), if it has one.
    fn place_of(&self, address: usize) -> Option<u64>;

    /// Whether there is something in this place.
    fn keeps(&self, place: u64) -> bool;

    /// Whether somebody else has what is in this place, so that to let go of it would free nothing.
    fn is_held(&self, place: u64) -> bool;

    /// Lets go of what is in this place: no job uses it, and its memory is wanted. Called on the thread of a `dealloc` stage,
    /// behind its permits.
    fn let_go(&self, place: u64);
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

    /// Takes the shares, each of another thing, if there is room for those that nobody has; else says what makes room: of what
    /// is idle, the oldest, but last what is to go `last`.
    pub fn admit(&mut self, shares: &[Share], last: impl Fn(&What) -> bool) -> Verdict {
        let wants = |what: &What| shares.iter().any(|share| share.what == *what);
        // A share that is going cannot be held on to: its owner comes again when it is gone.
        if self.taken.iter().any(|taken| taken.leaving && wants(&taken.share.what)) {
            return Verdict::Wait;
        }
        let others = self.taken.iter().filter(|taken| !wants(&taken.share.what)).map(|taken| taken.share.bytes);
        let own = shares.iter().map(|share| self.with(share));
        let wanted = others.chain(own).fold(0_u64, u64::saturating_add);
        if wanted <= self.limit {
            for share in shares {
                let bytes = self.with(share);
                match self.taken.iter_mut().find(|taken| taken.share.what == share.what) {
                    Some(taken) => (taken.users, taken.share.bytes) = (taken.users + 1, bytes),
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
            let idle = taken.users == 0 && !taken.leaving;
            idle && !wants(&taken.share.what)
        });
        // Of what one job left, slots first: a key takes longer to come back.
        let order = |taken: &&mut Taken| {
            let what = &taken.share.what;
            (last(what), taken.idle_since, matches!(what, What::Brought(_)))
        };
        match idle.min_by_key(order) {
            Some(Taken { share, leaving, .. }) => {
                *leaving = true;
                Verdict::After(share.what)
            }
            None => Verdict::Wait,
        }
    }

    /// The bytes of a share once one more has it. Jobs know what they bring: the last word counts. Of slots they may differ, for
    /// workspaces of keys of another kind: the most counts while anybody has them, and the newest word of idle ones.
    fn with(&self, share: &Share) -> u64 {
        let taken = self.taken.iter().find(|taken| taken.share.what == share.what && taken.users > 0);
        match (taken, share.what) {
            (Some(taken), What::Slots(_)) => taken.share.bytes.max(share.bytes),
            _ => share.bytes,
        }
    }

    /// A share as it counts already, if somebody has it: for who only supposes how large it is.
    pub(super) fn supposed(&self, share: &Share) -> Share {
        let taken = self.taken.iter().find(|taken| taken.share.what == share.what && taken.users > 0);
        taken.map_or_else(|| share.clone(), |taken| taken.share.clone())
    }

    /// What was supposed of these shares is known now.
    pub(super) fn restate(&mut self, shares: &[Share]) {
        for share in shares.iter().filter(|share| matches!(share.what, What::Brought(_))) {
            if let Some(taken) = self.taken.iter_mut().find(|taken| taken.share.what == share.what && taken.users > 0) {
                taken.share.bytes = share.bytes;
            }
        }
    }

    /// Somebody who was admitted with these shares has no use for them any more. Slots stay, and so does what is kept, by its
    /// place; all else goes with its last user.
    pub fn release(&mut self, shares: &[Share], kept: impl Fn(u64) -> bool) {
        self.released += 1;
        for share in shares {
            if let Some(taken) = self.taken.iter_mut().find(|taken| taken.share.what == share.what) {
                taken.users = taken.users.saturating_sub(1);
                taken.idle_since = self.released;
            }
        }
        self.taken.retain(|taken| {
            let stays = match taken.share.what {
                What::Program | What::Brought(Thing::At(_)) => false,
                What::Brought(Thing::Kept(place)) => kept(place),
                What::Slots(_) => true,
            };
            // What is on its way out goes when it has arrived there.
            taken.users > 0 || taken.leaving || stays
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
mod tests;
