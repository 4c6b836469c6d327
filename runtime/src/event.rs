//! What happens in a running pipeline, for whoever wants to look: progress bars, statistics, traces.

use std::time::Duration;

use crate::key::{JobId, TokenKey};

/// One thing that happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// A job was accepted.
    Accepted {
        /// The job.
        job: JobId,
        /// Its partitions.
        partitions: u32,
    },
    /// A firing started.
    Started {
        /// The stage, by its position in the plan.
        stage: usize,
        /// The worker of that stage.
        worker: u32,
        /// The token.
        key: TokenKey,
        /// From its last input to its grant: waiting for a worker, permits, places.
        waited: Duration,
    },
    /// A firing ended.
    Ended {
        /// The stage, by its position in the plan.
        stage: usize,
        /// The worker of that stage.
        worker: u32,
        /// The token.
        key: TokenKey,
        /// Time spent in the stage's functions; zero where the stage was skipped.
        busy: Duration,
        /// What came of it.
        ending: Ending,
    },
    /// Large buffers lie on pages of 4 KiB, which costs speed: no pages of 2 MiB are reserved, and transparent ones are
    /// switched off. Said once.
    SmallPages,
    /// A job came to its end.
    Finished {
        /// The job.
        job: JobId,
        /// Whether every partition succeeded.
        succeeded: bool,
    },
}

/// What came of a firing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// A token.
    Succeeded,
    /// An error or a panic.
    Failed,
    /// Nothing: the job had failed or been cancelled before.
    Skipped,
}

/// Looks at what happens. Called on the pipeline's own threads: answer quickly, and do not call the pipeline.
pub trait Observer: Send + Sync {
    /// `event` happened `at` this time after the pipeline's start.
    fn event(&self, at: Duration, event: &Event);
}

/// Looks away.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn event(&self, _: Duration, _: &Event) {}
}
