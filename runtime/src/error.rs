//! What a stage answers when it fails, and what the job's owner reads.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::key::TokenKey;

/// A stage's refusal: one sentence for the person who must act. The runtime adds stage and partition.
///
/// Two refusals are equal if they read the same.
#[derive(Debug, Clone)]
pub struct StageError {
    text: String,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl StageError {
    /// A refusal that reads `what`.
    pub fn new(what: impl fmt::Display) -> Self {
        Self { text: what.to_string(), source: None }
    }

    /// A refusal that reads as `error` does, and lets the job's owner have it back with [`Self::source_as`].
    pub fn of(error: impl Error + Send + Sync + 'static) -> Self {
        Self { text: error.to_string(), source: Some(Arc::new(error)) }
    }

    /// The error that the stage gave, if it is an `E`.
    #[must_use]
    pub fn source_as<E: Error + 'static>(&self) -> Option<&E> {
        self.source.as_ref()?.downcast_ref()
    }
}

impl fmt::Display for StageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for StageError {}

impl PartialEq for StageError {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for StageError {}

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

impl Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::JobId;

    #[test]
    fn a_failure_names_job_partition_stage_and_cause() {
        let key = TokenKey { job: JobId(3), partition: 1 };
        let failure = |stage: Option<&str>, cause| Failure { key, stage: stage.map(str::to_owned), cause }.to_string();
        let refused = || Cause::Failed(StageError::new("row 7 is not satisfied"));
        assert_eq!(failure(Some("spmv"), refused()), "job 3 partition 1: stage `spmv` failed: row 7 is not satisfied");
        assert_eq!(failure(None, refused()), "job 3 failed: row 7 is not satisfied");
        assert_eq!(
            failure(Some("spmv"), Cause::Panicked("index".into())),
            "job 3 partition 1: stage `spmv` panicked: index"
        );
        assert_eq!(failure(None, Cause::Cancelled), "job 3 was cancelled");
        assert_eq!(failure(None, Cause::ShutDown), "job 3 was stopped: the pipeline was shut down");
    }

    #[test]
    fn the_stage_s_own_error_can_be_had_back() {
        let error = StageError::of(fmt::Error);
        assert_eq!(error.source_as::<fmt::Error>(), Some(&fmt::Error));
        assert!(StageError::new("text").source_as::<fmt::Error>().is_none());
    }
}
