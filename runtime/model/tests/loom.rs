//! The engine's lock under loom.
#![allow(missing_docs, dead_code)] // The sources are those of the runtime, where all of them is used and documented.

#[path = "common/channel.rs"]
mod channel;
mod common;
#[path = "../../src/exec"]
mod exec {
    pub mod engine;
    pub mod guard;
    pub mod handle;
}
#[path = "common/slot.rs"]
mod slot;

mod sync {
    pub use loom::sync::atomic::{AtomicBool, Ordering};
    pub use loom::sync::{Condvar, Mutex, MutexGuard};

    pub use crate::channel::{Receiver, Sender, unbounded};
}

use pipeline_runtime::{error, event, key, permits, placement, plan, policy, scheduler, stage};

use common::{Work, see_to_the_end, start, work};

use std::sync::Arc;

/// Every interleaving with at most two preemptions of a main thread and a worker for each stage.
fn check(permits: u64, capacity: u32, job: fn() -> Work, cancel: bool) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(move || {
        let (engine, receivers, _) = start(permits, capacity, 1, job().fails_on.is_none() && !cancel);
        let workers: Vec<_> = receivers
            .into_iter()
            .map(|grants| {
                let engine = Arc::clone(&engine);
                loom::thread::spawn(move || work(&engine, &grants))
            })
            .collect();
        see_to_the_end(&engine, job(), cancel);
        engine.send_workers_home();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}

#[test]
fn no_wake_up_is_lost_and_every_permit_comes_home() {
    check(1, 1, || Work { partitions: 2, fails_on: None }, false);
    check(2, 1, || Work { partitions: 3, fails_on: None }, false);
}

#[test]
fn a_failure_gives_back_what_it_took() {
    check(1, 1, || Work { partitions: 2, fails_on: Some(0) }, false);
}

#[test]
fn a_cancelled_job_ends_once() {
    check(1, 1, || Work { partitions: 1, fails_on: None }, true);
}
