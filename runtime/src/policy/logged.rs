//! Writes down what another policy decides, as a text that can be replayed.

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Policy, State};
use crate::key::{JobId, TokenKey};
use crate::policy::BadLog;

/// One grant that a policy chose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// The stage, by its position in the plan.
    pub stage: usize,
    /// The token.
    pub key: TokenKey,
}

/// The decisions of a run, in order. As text: `stage:job.partition`, separated by spaces.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Log(pub Vec<Decision>);

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}.{}", self.stage, self.key.job.0, self.key.partition)
    }
}

impl fmt::Display for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, decision) in self.0.iter().enumerate() {
            let separator = if position == 0 { "" } else { " " };
            write!(f, "{separator}{decision}")?;
        }
        Ok(())
    }
}

impl FromStr for Log {
    type Err = BadLog;

    fn from_str(text: &str) -> Result<Self, BadLog> {
        let decision = |(number, word): (usize, &str)| {
            let parsed = || {
                let (stage, key) = word.split_once(':')?;
                let (job, partition) = key.split_once('.')?;
                let key = TokenKey { job: JobId(job.parse().ok()?), partition: partition.parse().ok()? };
                Some(Decision { stage: stage.parse().ok()?, key })
            };
            parsed().ok_or_else(|| BadLog { number, word: word.to_owned() })
        };
        text.split_whitespace().enumerate().map(decision).collect::<Result<_, _>>().map(Self)
    }
}

/// Decides as another policy does and writes it down.
#[derive(Clone, Debug)]
pub struct Logged<P> {
    inner: P,
    log: Arc<Mutex<Log>>,
}

impl<P: Policy> Logged<P> {
    /// Wraps `inner`.
    #[must_use]
    pub fn new(inner: P) -> Self {
        Self { inner, log: Arc::default() }
    }

    /// The log, which goes on growing while the policy decides.
    #[must_use]
    pub fn log(&self) -> Arc<Mutex<Log>> {
        Arc::clone(&self.log)
    }
}

impl<P: Policy> Policy for Logged<P> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn choose(&mut self, state: &State<'_>) -> Option<usize> {
        let chosen = self.inner.choose(state);
        if let Some(firing) = chosen.and_then(|position| state.waiting.get(position)) {
            let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
            log.0.push(Decision { stage: firing.stage, key: firing.key });
        }
        chosen
    }

    fn waits_for(&self) -> Option<(usize, Decision)> {
        self.inner.waits_for()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{choose, firing};
    use super::super::{OldestFirst, RandomLegal, Replay, Waiting};
    use super::*;

    #[test]
    fn a_log_reads_back_as_it_was_written() {
        let log: Log = "0:3.1 4:0.0".parse().unwrap();
        assert_eq!((log.0.len(), log.to_string().as_str()), (2, "0:3.1 4:0.0"));
        let error = "0:3.1 4:0".parse::<Log>().unwrap_err();
        assert_eq!(error.to_string(), "decision number 1 of the log is `4:0`; write stage:job.partition, `2:0.7` say");
    }

    #[test]
    fn what_was_logged_can_be_replayed() {
        let mut waiting: Vec<Waiting> = (0..9).map(|job| firing(0, job, &[], None)).collect();
        let mut logged = Logged::new(RandomLegal::new(3));
        let log = logged.log();
        let mut run = |policy: &mut dyn Policy| {
            let mut waiting = std::mem::take(&mut waiting);
            let order: Vec<u64> =
                (0..9).map(|_| waiting.remove(choose(policy, &waiting, &[]).unwrap()).key.job.0).collect();
            (0..9).for_each(|job| waiting.push(firing(0, job, &[], None)));
            (order, waiting)
        };
        let (order, again) = run(&mut logged);
        waiting = again;
        let text = log.lock().unwrap().to_string();
        let mut replay = Replay::new(text.parse().unwrap());
        let replayed: Vec<u64> =
            (0..9).map(|_| waiting.remove(choose(&mut replay, &waiting, &[]).unwrap()).key.job.0).collect();
        assert_eq!(order, replayed);
        assert_eq!(Logged::new(OldestFirst).name(), "oldest_first");
    }
}
