//! Scheduling policies: which of the waiting firings goes first.
//!
//! A policy is a pure function of the state that it is shown. It decides order only: what is legal (permits, places,
//! workers) is the scheduler's business, and every answer is validated. A new policy is one file here and one line in
//! [`by_name`].

mod oldest_first;

pub use oldest_first::OldestFirst;

use crate::key::TokenKey;
use crate::stage::Priority;

/// A firing whose inputs are all there and whose stage has a worker free.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waiting<'a> {
    /// The stage, by its position in the plan.
    pub stage: usize,
    /// The token.
    pub key: TokenKey,
    /// The priority of the job.
    pub priority: Priority,
    /// When the last input came, in nanoseconds of the clock that drives the scheduler.
    pub since_ns: u64,
    /// The permits that it takes: pool and weight.
    pub claim: &'a [(usize, u64)],
    /// Why it cannot start now; `None`: it can.
    pub blocked: Option<Blocked>,
}

/// Why a waiting firing cannot start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blocked {
    /// It lacks permits that running firings will give back. To keep younger firings off them is fair.
    Permits,
    /// Its output has no place, or its token would take the room of running stages. What it waits for comes free by
    /// the progress of other tokens, so to keep anything from them would stop everybody.
    Tokens,
}

/// What a policy sees.
#[derive(Debug)]
pub struct State<'a> {
    /// The waiting firings, oldest token first, and for one token in the order of the stages.
    pub waiting: &'a [Waiting<'a>],
    /// Free units by pool.
    pub free: &'a [u64],
}

/// A scheduling policy.
pub trait Policy: Send {
    /// The name in graph files.
    fn name(&self) -> &str;

    /// The position in [`State::waiting`] of the firing to grant next, `None` to let everything wait. Only legal
    /// firings may be chosen. Called again after each grant, until it answers `None`.
    fn choose(&mut self, state: &State<'_>) -> Option<usize>;
}

/// The policies that graphs can name.
pub const NAMES: &[&str] = &["oldest_first"];

/// The policy of that name.
#[must_use]
pub fn by_name(name: &str) -> Option<Box<dyn Policy>> {
    match name {
        "oldest_first" => Some(Box::new(OldestFirst)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_name_is_a_policy_of_that_name() {
        for name in NAMES {
            assert_eq!(by_name(name).map(|policy| policy.name().to_owned()).as_deref(), Some(*name));
        }
    }
}
