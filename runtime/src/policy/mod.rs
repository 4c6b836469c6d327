//! Scheduling policies: which of the waiting firings goes first.
//!
//! A policy is a function of the state that it is shown. It decides order only: what is legal (permits, places,
//! workers) is the scheduler's business, and every answer is validated. A new policy is one file here and one line in
//! [`by_name`]; a policy of a user's own is handed to [`crate::exec::Options`] or to the simulator.

mod critical_path;
pub mod facts;
mod from_fn;
mod logged;
mod oldest_first;
mod order;
mod priority;
mod random_legal;
mod replay;
mod shortest_stage_first;
mod state;

pub use critical_path::CriticalPath;
pub use from_fn::{FromFn, from_fn};
pub use logged::{Decision, Log, Logged};
pub use oldest_first::OldestFirst;
pub use order::first_by;
pub use priority::PriorityAging;
pub use random_legal::RandomLegal;
pub use replay::{BadLog, Replay};
pub use shortest_stage_first::ShortestStageFirst;
pub use state::{Blocked, EdgeState, StageState, State, Waiting};

/// A scheduling policy.
pub trait Policy: Send {
    /// The name in graph files.
    fn name(&self) -> &str;

    /// The position in [`State::waiting`] of the firing to grant next, `None` to let everything wait. Only legal
    /// firings may be chosen. Asked when at least one firing is legal, and again after each grant until it answers
    /// `None` or nothing is legal any more.
    fn choose(&mut self, state: &State<'_>) -> Option<usize>;

    /// The decision that it lets everything wait for, and its number, counted from 0: what a run that stands still is told
    /// with. `None`, as for most: it waits for nothing of its own.
    fn waits_for(&self) -> Option<(usize, Decision)> {
        None
    }
}

impl<P: Policy + ?Sized> Policy for Box<P> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn choose(&mut self, state: &State<'_>) -> Option<usize> {
        (**self).choose(state)
    }

    fn waits_for(&self) -> Option<(usize, Decision)> {
        (**self).waits_for()
    }
}

/// The policies that graphs can name, with their arguments.
pub const NAMES: &[&str] = &[
    "oldest_first",
    "priority(SECONDS)",
    "critical_path",
    "shortest_stage_first",
    "random_legal(SEED)",
    "replay(LOG)",
];

/// The policy that a graph names; the argument of one that takes any follows in parentheses: `random_legal(7)`.
///
/// `priority` without an argument ages by [`PriorityAging::DEFAULT_STEP_SECONDS`]; `replay` takes a [`Log`] as text.
/// `None` if there is no such policy, or its argument is not what it takes.
#[must_use]
pub fn by_name(name: &str) -> Option<Box<dyn Policy>> {
    let (word, argument) = match name.split_once('(') {
        Some((word, rest)) => (word.trim(), Some(rest.strip_suffix(')')?.trim())),
        None => (name, None),
    };
    Some(match (word, argument) {
        ("oldest_first", None) => Box::new(OldestFirst),
        ("priority", None) => Box::new(PriorityAging::default()),
        ("priority", Some(seconds)) => Box::new(PriorityAging::new(seconds.parse().ok()?)?),
        ("critical_path", None) => Box::new(CriticalPath),
        ("shortest_stage_first", None) => Box::new(ShortestStageFirst),
        ("random_legal", Some(seed)) => Box::new(RandomLegal::new(seed.parse().ok()?)),
        ("replay", Some(log)) => Box::new(Replay::new(log.parse().ok().filter(|log: &Log| !log.0.is_empty())?)),
        _ => return None,
    })
}

#[cfg(test)]
pub(crate) mod testing {
    use std::sync::Arc;

    use super::*;
    use crate::key::{JobId, TokenKey};
    use crate::stage::Priority;

    /// A firing of stage `stage` for a job as old as its number.
    pub(crate) fn firing(stage: usize, job: u64, claim: &[(usize, u64)], blocked: Option<Blocked>) -> Waiting {
        let key = TokenKey { job: JobId(job), partition: 0 };
        let claim: Arc<[(usize, u64)]> = claim.into();
        Waiting { stage, key, priority: Priority::Normal, since_ns: 0, claim, ccd: None, blocked }
    }

    /// A stage whose firings take `mean_ns` and from whose start it is `rest_ns` to the sink's end.
    pub(crate) fn stage(mean_ns: u64, rest_ns: u64) -> StageState {
        StageState { running: 0, lanes_free: 1, mean_ns: Some(mean_ns), rest_ns }
    }

    /// What a policy answers to `waiting`, at time 0 with one unit free in each of two pools.
    pub(crate) fn choose(policy: &mut dyn Policy, waiting: &[Waiting], stages: &[StageState]) -> Option<usize> {
        choose_at(policy, 0, waiting, stages)
    }

    /// As [`choose`], at `now_ns`.
    pub(crate) fn choose_at(
        policy: &mut dyn Policy,
        now_ns: u64,
        waiting: &[Waiting],
        stages: &[StageState],
    ) -> Option<usize> {
        policy.choose(&State { now_ns, waiting, free: &[1, 1], stages, edges: &[], ccds: &[] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_name_is_a_policy_of_that_name() {
        for name in NAMES {
            let word = name.split('(').next().unwrap();
            let named = name.replace("SECONDS", "30").replace("SEED", "7").replace("LOG", "0:0.0 1:0.0");
            assert_eq!(by_name(&named).map(|policy| policy.name().to_owned()).as_deref(), Some(word), "{named}");
        }
        assert_eq!(by_name("priority").map(|policy| policy.name().to_owned()).as_deref(), Some("priority"));
    }

    #[test]
    fn what_is_no_policy_is_none() {
        for name in ["", "oldest", "oldest_first()", "random_legal", "random_legal(x)", "random_legal(7", "priority(0)"]
        {
            assert!(by_name(name).is_none(), "{name}");
        }
    }
}
