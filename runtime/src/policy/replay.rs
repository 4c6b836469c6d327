//! Decides as a log says.

use super::{Decision, Log, OldestFirst, Policy, State};

/// A word of a log that is no decision.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("decision number {number} of the log is `{word}`; write stage:job.partition, `2:0.7` say")]
pub struct BadLog {
    /// Its number, counted from 0.
    pub number: usize,
    /// The word.
    pub word: String,
}

/// Grants in the order of a log, waiting where what comes next is not legal yet. Where the log is at its end it goes
/// on as [`OldestFirst`].
#[derive(Clone, Debug)]
pub struct Replay {
    log: Log,
    next: usize,
}

impl Replay {
    /// Replays `log`.
    #[must_use]
    pub fn new(log: Log) -> Self {
        Self { log, next: 0 }
    }
}

impl Policy for Replay {
    fn name(&self) -> &'static str {
        "replay"
    }

    fn choose(&mut self, state: &State<'_>) -> Option<usize> {
        let Some(decision) = self.log.0.get(self.next) else {
            return OldestFirst.choose(state);
        };
        let named = |firing: &super::Waiting| (firing.stage, firing.key) == (decision.stage, decision.key);
        let position = state.waiting.iter().position(|firing| firing.is_legal() && named(firing))?;
        self.next += 1;
        Some(position)
    }

    fn waits_for(&self) -> Option<(usize, Decision)> {
        self.log.0.get(self.next).map(|decision| (self.next, *decision))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Blocked;
    use super::super::testing::{choose, firing};
    use super::*;

    #[test]
    fn it_waits_for_what_the_log_says_and_goes_on_by_age() {
        let mut replay = Replay::new("0:1.0".parse().unwrap());
        assert_eq!(choose(&mut replay, &[firing(0, 0, &[], None)], &[]), None, "job 1 has not come");
        let blocked = firing(0, 1, &[], Some(Blocked::Worker));
        assert_eq!(choose(&mut replay, &[firing(0, 0, &[], None), blocked], &[]), None, "job 1 has no worker");
        assert_eq!(choose(&mut replay, &[firing(0, 0, &[], None), firing(0, 1, &[], None)], &[]), Some(1));
        assert_eq!(choose(&mut replay, &[firing(0, 0, &[], None), firing(0, 2, &[], None)], &[]), Some(0));
    }
}
