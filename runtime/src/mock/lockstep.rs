//! The threads and the simulator side by side.

use std::collections::BTreeSet;
use std::fmt;

use super::threads::Id;
use super::{Gate, Run};
use crate::event::{Ending, Event};
use crate::exec::Running;
use crate::plan::Role;
use crate::slot::Travels;
use crate::stage::Job;

/// The threads granted something else than the simulator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Divergence {
    /// How many firings had ended.
    pub after: usize,
    /// What only the threads started: stage and token.
    pub threads_only: Vec<Id>,
    /// What only the simulator started.
    pub simulator_only: Vec<Id>,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "after {} ends ", self.after)?;
        let list = |ids: &[Id]| {
            let words = ids.iter().map(|(stage, key)| format!("stage {stage} for {key}"));
            words.collect::<Vec<_>>().join(", ")
        };
        match (self.threads_only.as_slice(), self.simulator_only.as_slice()) {
            (threads, []) => write!(f, "the threads started {}, the simulator did not", list(threads)),
            ([], simulator) => write!(f, "the simulator started {}, the threads did not", list(simulator)),
            (threads, simulator) => {
                write!(f, "the threads started {}, the simulator {}", list(threads), list(simulator))
            }
        }
    }
}

impl std::error::Error for Divergence {}

/// Lets the firings of a mocked pipeline end in the order of a simulated run, and compares after every end which firings
/// have been started. All jobs of the run have been submitted to `running`, nothing has been released, and every stage's
/// cost is more than nothing. How many ends were compared.
///
/// # Errors
/// The first difference. The gate is open then, so that the pipeline ends.
pub fn lockstep<J: Job, O: Travels>(run: &Run, running: &Running<J, O>, gate: &Gate) -> Result<usize, Divergence> {
    let dealloc = running.plan().stages.iter().position(|stage| stage.role == Role::Dealloc);
    let steps = steps(run, dealloc);
    for (after, (ended, started)) in steps.iter().enumerate() {
        if let Some((stage, key)) = *ended {
            gate.release(stage, key);
        }
        gate.settle(running);
        let came = gate.came();
        if came != *started {
            gate.open();
            let threads_only = came.difference(started).copied().collect();
            let simulator_only = started.difference(&came).copied().collect();
            return Err(Divergence { after, threads_only, simulator_only });
        }
    }
    Ok(steps.len() - 1)
}

/// What ended, and all that had been started by then and before the next end. Tombstones pass by themselves.
fn steps(run: &Run, dealloc: Option<usize>) -> Vec<(Option<Id>, BTreeSet<Id>)> {
    let mut tombstones = BTreeSet::new();
    for (_, event) in &run.events {
        if let Event::Ended { stage, key, busy, ending: Ending::Skipped, .. } = *event
            && busy.is_zero()
        {
            tombstones.insert((stage, key));
        }
    }
    let counts = |id: &Id| Some(id.0) != dealloc && !tombstones.contains(id);
    let mut steps: Vec<(Option<Id>, BTreeSet<Id>)> = vec![(None, BTreeSet::new())];
    let mut started = BTreeSet::new();
    for (_, event) in &run.events {
        match *event {
            Event::Started { stage, key, .. } if counts(&(stage, key)) => {
                started.insert((stage, key));
                if let Some((_, last)) = steps.last_mut() {
                    last.clone_from(&started);
                }
            }
            Event::Ended { stage, key, .. } if counts(&(stage, key)) => {
                steps.push((Some((stage, key)), started.clone()));
            }
            _ => {}
        }
    }
    steps
}
