//! The engine's lock under shuttle.
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
    pub use shuttle::sync::atomic::{AtomicBool, Ordering};
    pub use shuttle::sync::{Condvar, Mutex, MutexGuard};

    pub use crate::channel::{Receiver, Sender, unbounded};
}

use pipeline_runtime::{error, event, key, permits, placement, plan, policy, scheduler, stage};

use common::{Work, see_to_the_end, start, work};

use std::sync::Arc;

use shuttle::thread;

/// Random interleavings of two owners of jobs and two workers for each stage.
#[test]
fn jobs_of_several_owners_end_once_and_nothing_leaks() {
    shuttle::check_random(
        || {
            let (engine, receivers, asked) = start(2, 1, 2, false);
            let spawn = |grants| {
                let engine = Arc::clone(&engine);
                thread::spawn(move || work(&engine, &grants))
            };
            let workers: Vec<_> = receivers.into_iter().map(spawn).collect();
            let other = Arc::clone(&engine);
            let owner = thread::spawn(move || {
                let handle = other.submit(Work { partitions: 3, fails_on: Some(1) }).unwrap();
                assert!(handle.wait().is_err());
                let handle = other.submit(Work { partitions: 2, fails_on: None }).unwrap();
                handle.cancel();
                drop(handle.wait());
            });
            let handle = engine.submit(Work { partitions: 3, fails_on: None }).unwrap();
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
            let (engine, receivers, _) = start(1, 2, 1, false);
            let spawn = |grants| {
                let engine = Arc::clone(&engine);
                thread::spawn(move || work(&engine, &grants))
            };
            let workers: Vec<_> = receivers.into_iter().map(spawn).collect();
            see_to_the_end(&engine, Work { partitions: 4, fails_on: None }, false);
            see_to_the_end(&engine, Work { partitions: 2, fails_on: Some(1) }, false);
            engine.send_workers_home();
            workers.into_iter().for_each(|worker| worker.join().unwrap());
        },
        2000,
        3,
    );
}
