//! The engine's lock under shuttle.
#![allow(missing_docs, dead_code, unused_imports)] // The sources are those of the runtime, where all of them is used and documented.

#[path = "common/capability.rs"]
mod capability;
#[path = "common/channel.rs"]
mod channel;
mod common;
#[path = "../../src/exec"]
mod exec {
    pub mod double;
    pub mod edge;
    pub mod engine;
    pub mod firing;
    pub mod guard;
    pub mod handle;
    pub mod ports;
    pub mod room;
    pub mod worker;
}
#[path = "../../src/arena.rs"]
mod arena;
#[path = "../../src/slot.rs"]
mod slot;
#[path = "../../src/stage.rs"]
mod stage;

mod sync {
    pub use shuttle::sync::atomic::{AtomicBool, Ordering};
    pub use shuttle::sync::{Condvar, Mutex, MutexGuard};

    pub use crate::channel::{Receiver, Sender, bounded, unbounded};
}

use pipeline_runtime::{admission, error, event, job, key, limits, permits, placement, plan, policy, scheduler, tags};

use common::stages::Work;
use common::{see_to_the_end, start};

use std::sync::Arc;

use shuttle::thread;

/// Random interleavings of two owners of jobs and two workers for each stage.
#[test]
fn jobs_of_several_owners_end_once_and_nothing_leaks() {
    shuttle::check_random(
        || {
            let (engine, threads, asked) = start(2, 1, 2, false);
            let workers: Vec<_> = threads.into_iter().map(thread::spawn).collect();
            let other = Arc::clone(&engine);
            let owner = thread::spawn(move || {
                let handle = other.submit(Work { partitions: 3, fails_on: Some(1) }, None).unwrap();
                assert!(handle.wait().is_err());
                let handle = other.submit(Work { partitions: 2, fails_on: None }, None).unwrap();
                handle.cancel();
                drop(handle.wait());
            });
            let handle = engine.submit(Work { partitions: 3, fails_on: None }, None).unwrap();
            assert_eq!(handle.wait().unwrap().len(), 3);
            owner.join().unwrap();
            engine.wait_until_idle();
            assert!(engine.is_idle(), "every permit and place is home");
            assert!(asked.load(std::sync::atomic::Ordering::Relaxed) > 6, "the policy was asked");
            engine.send_workers_home();
            workers.into_iter().for_each(|worker| worker.join().unwrap());
        },
        2000,
    );
}

/// Few preemptions, at random places: where bugs of depth three hide.
#[test]
fn one_owner_under_few_preemptions() {
    shuttle::check_pct(
        || {
            let (engine, threads, _) = start(1, 2, 1, false);
            let workers: Vec<_> = threads.into_iter().map(thread::spawn).collect();
            see_to_the_end(&engine, Work { partitions: 4, fails_on: None }, false);
            see_to_the_end(&engine, Work { partitions: 2, fails_on: Some(1) }, false);
            engine.send_workers_home();
            workers.into_iter().for_each(|worker| worker.join().unwrap());
        },
        2000,
        3,
    );
}
