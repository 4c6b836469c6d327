//! What a token is called.

use std::fmt;

/// One submitted job. Numbers are given in the order of submission and never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct JobId(pub u64);

/// One token: a partition of a job. The order is the order of age: older jobs first, then lower partitions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TokenKey {
    /// The job that the token belongs to.
    pub job: JobId,
    /// The partition of that job, counted from 0.
    pub partition: u32,
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "job {}", self.0)
    }
}

impl fmt::Display for TokenKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} partition {}", self.job, self.partition)
    }
}
