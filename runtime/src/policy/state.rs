//! What a policy sees: plain data, so that a test writes it down.

use std::sync::Arc;

use crate::key::TokenKey;
use crate::stage::Priority;

/// A firing whose inputs are all there.
///
/// The source has one for each job, its lowest partition that has not started; `dealloc` has one for all dead slots.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// The stage, by its position in the plan.
    pub stage: usize,
    /// The token: job and partition.
    pub key: TokenKey,
    /// The priority of the job.
    pub priority: Priority,
    /// When the last input came, in nanoseconds of the clock that drives the scheduler.
    pub since_ns: u64,
    /// The permits that it takes: pool and weight.
    pub claim: Arc<[(usize, u64)]>,
    /// The CCD of the worker that would run it; `None` where that is no single one.
    pub ccd: Option<u32>,
    /// Why it cannot start now; `None`: it can.
    pub blocked: Option<Blocked>,
}

impl Waiting {
    /// Whether it may start now.
    #[must_use]
    pub fn is_legal(&self) -> bool {
        self.blocked.is_none()
    }
}

/// Why a waiting firing cannot start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blocked {
    /// Every worker of its stage is busy. To keep permits for it would leave them idle.
    Worker,
    /// It lacks permits that running firings will give back. To keep younger firings off them is fair.
    Permits,
    /// Its output has no place, or its token would take the room of running stages. What it waits for comes free by
    /// the progress of other tokens, so to keep anything from them would stop everybody.
    Tokens,
}

/// A stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StageState {
    /// Firings that run.
    pub running: u32,
    /// Firings that its workers could begin now.
    pub lanes_free: u32,
    /// How long a firing takes from grant to end, on average so far; `None` before the first ended. Refreshed at the
    /// firings number 1, 2, 4, 8, …
    pub mean_ns: Option<u64>,
    /// The longest way from the start of a firing to the end of the sink: the sum of the means on it, with 1 for a
    /// stage that has none yet, so that before the first measurements it counts stages.
    pub rest_ns: u64,
}

/// An edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EdgeState {
    /// Places that are reserved or occupied: the depth of the queue, with what is on its way into it.
    pub used: u32,
    /// Places.
    pub capacity: u32,
}

/// What a policy sees.
#[derive(Clone, Copy, Debug)]
pub struct State<'a> {
    /// The time, in nanoseconds of the clock that drives the scheduler.
    pub now_ns: u64,
    /// The waiting firings, oldest token first, and for one token in the order of the stages.
    pub waiting: &'a [Waiting],
    /// Free units by pool.
    pub free: &'a [u64],
    /// The stages, by their positions in the plan.
    pub stages: &'a [StageState],
    /// The edges, by their positions in the plan.
    pub edges: &'a [EdgeState],
    /// Firings that run on each CCD, a packed one on all of its own; empty where nothing is placed.
    pub ccds: &'a [u32],
}
