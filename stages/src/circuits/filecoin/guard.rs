//! Calls into the network's crates, which assert what others return.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::Error;

/// Runs their code; its errors and panics are faults of this program.
pub(super) fn guarded<T>(what: &str, work: impl FnOnce() -> anyhow::Result<T>) -> Result<T, Error> {
    caught(work).map_err(|fault| Error::Internal(format!("{what}: {fault}")))
}

/// Runs their code on what somebody else made; its errors and panics come back as text.
pub(super) fn caught<T>(work: impl FnOnce() -> anyhow::Result<T>) -> Result<T, String> {
    // What is borrowed is dropped or thrown away by the callers when this fails.
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(|fault| format!("{fault:#}")),
        Err(panic) => Err(text_of(panic.as_ref())),
    }
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("an assertion failed").to_owned()
}
