//! What a stage answers when it fails, and what the job's owner reads.

use std::fmt;

use crate::key::TokenKey;

/// A stage's refusal: one sentence for the person who must act. The runtime adds stage and partition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StageError(String);

impl StageError {
    /// An error that reads `what`.
    pub fn new(what: impl fmt::Display) -> Self {
        Self(what.to_string())
    }
}

/// Why a partition came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// The stage returned an error.
    Failed(StageError),
    /// The stage panicked; the message of the panic.
    Panicked(String),
    /// The job was cancelled.
    Cancelled,
    /// The pipeline was shut down at once, before the partition was done.
    ShutDown,
}

/// The one error that a failed job gives: the first partition that failed, where, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The token that failed; partition 0 where the job failed as a whole.
    pub key: TokenKey,
    /// The stage in which it failed; `None` where it was not in a stage.
    pub stage: Option<String>,
    /// Why.
    pub cause: Cause,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match &self.stage {
            Some(stage) => format!("{}: stage `{stage}`", self.key),
            None => self.key.job.to_string(),
        };
        match &self.cause {
            Cause::Failed(error) => write!(f, "{place} failed: {error}"),
            Cause::Panicked(message) => write!(f, "{place} panicked: {message}"),
            Cause::Cancelled => write!(f, "{place} was cancelled"),
            Cause::ShutDown => write!(f, "{place} was stopped: the pipeline was shut down"),
        }
    }
}

impl std::error::Error for Failure {}
