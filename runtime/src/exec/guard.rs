//! Other people's code, called where a panic must not pass: stages, policies, observers, wakers.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::policy::{Decision, Policy, State};

/// What `work` gives, or the message of its panic.
///
/// Whoever calls this gives nothing to `work` that a panic could leave half-made and that is looked at afterwards.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let message = message_of(&*payload);
        // A payload may panic in its own drop, and so may the payload of that panic: the second one stays.
        if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(second);
        }
        message
    })
}

fn message_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

/// A policy whose panic is an illegal choice.
pub(crate) struct GuardedPolicy {
    policy: Box<dyn Policy>,
    /// The message of its panic.
    pub(crate) panicked: Option<String>,
}

impl GuardedPolicy {
    pub(crate) fn new(policy: Box<dyn Policy>) -> Self {
        Self { policy, panicked: None }
    }
}

impl Policy for GuardedPolicy {
    fn name(&self) -> &str {
        guarded(|| self.policy.name()).unwrap_or("whose name panics")
    }

    fn waits_for(&self) -> Option<(usize, Decision)> {
        guarded(|| self.policy.waits_for()).ok().flatten()
    }

    fn choose(&mut self, state: &State<'_>) -> Option<usize> {
        match guarded(|| self.policy.choose(state)) {
            Ok(choice) => choice,
            Err(message) => {
                self.panicked = Some(message);
                // No firing has this number: the scheduler refuses it.
                Some(usize::MAX)
            }
        }
    }
}
