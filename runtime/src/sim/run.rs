//! The event loop: scheduler, fluid machine and virtual clock.

mod shape;
mod world;

use std::time::Duration;

use crate::event::Observer;
use crate::key::TokenKey;
use crate::permits::NeverFits;
use crate::plan::Plan;
use crate::policy::Policy;
use crate::scheduler::IllegalChoice;
use crate::stage::{Priority, Sizes};

use super::cost::{Costs, Fate};
use super::machine::MachineSpec;
use super::report::Report;

/// What is submitted: `concurrency` jobs at once, a new one whenever one is over.
#[derive(Clone, PartialEq, Debug)]
pub struct Load {
    /// Jobs in all.
    pub jobs: u32,
    /// Jobs in flight; at least 1.
    pub concurrency: u32,
    /// Partitions of a job.
    pub partitions: u32,
    /// The circuit.
    pub sizes: Sizes,
    /// The jobs' priorities, in turn; empty: all are [`Priority::Normal`].
    pub priorities: Vec<Priority>,
}

/// What a simulation needs.
pub struct Setup<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// What stages cost.
    pub costs: &'a Costs,
    /// The machine.
    pub machine: &'a MachineSpec,
    /// Bytes of a stage's output token, by stage; a stage beyond the end has none.
    pub token_bytes: &'a [f64],
    /// Bytes that are there from the start: keys, matrices.
    pub resident_bytes: f64,
    /// The load.
    pub load: &'a Load,
    /// Whether work that runs at once slows each other down. Without, every firing takes what it takes alone, and
    /// devices have no locks.
    pub contention: bool,
    /// For stages whose cost is spread.
    pub seed: u64,
    /// How a firing ends; `None`: all succeed.
    pub fate: Option<&'a dyn Fn(usize, TokenKey) -> Fate>,
    /// Who looks at what happens.
    pub observer: Option<&'a dyn Observer>,
}

/// A simulation that cannot go on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SimError {
    /// A group wants a CCD that the machine does not have.
    #[error(
        "group `{group}` asks for CCD {wanted}, the machine has {has}; change the group or simulate another machine"
    )]
    NoSuchCcd {
        /// The group.
        group: String,
        /// The CCD.
        wanted: u32,
        /// How many there are.
        has: usize,
    },
    /// A stage's cost needs a device that it is not given.
    #[error("stage `{stage}` costs device time, but {why}")]
    NoDevice {
        /// The stage.
        stage: String,
        /// What is missing.
        why: String,
    },
    /// The pieces of a stage wait for one that is not there, or for each other.
    #[error("the costs of stage `{stage}` cannot be run: piece `{piece}` waits for `{after}`, which {why}")]
    BadOrder {
        /// The stage.
        stage: String,
        /// The piece that waits.
        piece: String,
        /// What it waits for.
        after: String,
        /// What is wrong with that.
        why: String,
    },
    /// A demand is no number, or negative, or takes too long.
    #[error("the costs of stage `{stage}`: piece `{piece}` says {says}; {why}")]
    BadDemand {
        /// The stage.
        stage: String,
        /// The piece.
        piece: String,
        /// The demand, with its number as it was written.
        says: String,
        /// What is wrong with it.
        why: String,
    },
    /// A device has not as much memory as firings want at once.
    #[error(
        "stage `{stage}` runs out of memory on device {device}: {wanted} bytes are wanted at once, it has {has}; lower \
         workers or workspace"
    )]
    OutOfVram {
        /// The stage whose firing was one too many.
        stage: String,
        /// The device.
        device: usize,
        /// What is wanted, in bytes.
        wanted: u64,
        /// What the device has, in bytes.
        has: u64,
    },
    /// A job, or the workspace, never fits.
    #[error("the load does not fit the plan: it {0}")]
    NeverFits(#[from] NeverFits),
    /// The policy is wrong.
    #[error(transparent)]
    Policy(#[from] IllegalChoice),
    /// The clock has come to its end.
    #[error("the load takes more than {years} simulated years, beyond the clock: lower --jobs, or the costs")]
    TooLong {
        /// Years.
        years: u64,
    },
    /// Nothing runs, and jobs are not done.
    #[error("after {seconds} simulated seconds nothing runs and {left} jobs are not done: {why}")]
    Stuck {
        /// When, in whole seconds.
        seconds: u64,
        /// Jobs in flight.
        left: usize,
        /// What they wait for.
        why: String,
    },
}

/// Runs a load through a plan.
///
/// # Errors
/// The costs do not fit the plan, the load does not, or the policy is wrong.
pub fn simulate(setup: &Setup<'_>, policy: &mut dyn Policy) -> Result<Report, SimError> {
    world::World::new(setup)?.run(policy)
}

fn since_start(ns: u64) -> Duration {
    Duration::from_nanos(ns)
}
