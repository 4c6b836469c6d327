//! The engine's lock under loom.
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
    pub use loom::sync::atomic::{AtomicBool, Ordering};
    pub use loom::sync::{Condvar, Mutex, MutexGuard};

    pub use crate::channel::{Receiver, Sender, bounded, unbounded};
}

use pipeline_runtime::{admission, error, event, job, key, limits, permits, placement, plan, policy, scheduler, tags};

use common::stages::{Word, Work};
use common::{see_to_the_end, start};
use exec::edge::{Packet, edge};

use std::sync::Arc;

/// Every interleaving with at most two preemptions.
fn explore(run: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(run);
}

/// A main thread and a worker for each stage.
fn check(permits: u64, capacity: u32, job: fn() -> Work, cancel: bool) {
    explore(move || {
        let (engine, threads, _) = start(permits, capacity, 1, job().fails_on.is_none() && !cancel);
        let workers: Vec<_> = threads.into_iter().map(loom::thread::spawn).collect();
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

fn key(partition: u32) -> key::TokenKey {
    key::TokenKey { job: key::JobId(0), partition }
}

fn memory() -> Arc<arena::Memory> {
    Arc::new(arena::Memory::new(plan::Dealloc::Recycle, plan::GiveBack::Unmap, arena::Slots::AllFirst, None))
}

/// Sends slots home at once.
struct StraightHome;

impl slot::WayHome for StraightHome {
    fn send(&self, _: key::TokenKey, dead: slot::Dead) {
        dead.go_home();
    }
}

/// A firing is granted when its token is on the edge. Two of them, who take at the same time out of one channel, get each
/// their own.
#[test]
fn whoever_takes_first_takes_the_token_of_its_own_key() {
    explore(|| {
        let (out, end) = edge::<Word>(0, 3);
        let (free, ends) = (slot::FreeList::new(2, &memory()), Arc::new((out, end)));
        let firing = |number: u32| {
            let (free, ends) = (Arc::clone(&free), Arc::clone(&ends));
            move || {
                let way_home: Arc<dyn slot::WayHome> = Arc::new(StraightHome);
                let word = slot::Shared::new(key(number), Word(number), &free, &way_home, None);
                ends.0.put(key(number), Packet::Live(word)).unwrap();
                match ends.1.take(key(number)).unwrap() {
                    Packet::Live(word) => assert_eq!(word.0, number),
                    Packet::Tombstone => panic!("a token was put"),
                }
            }
        };
        let others = [1, 2].map(|number| loom::thread::spawn(firing(number)));
        firing(0)();
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

/// Two readers let a token go while a third party asks for a slot: it goes home once, wiped, and is given to one only.
#[test]
fn the_last_reader_sends_the_slot_home_once() {
    explore(|| {
        let free = slot::FreeList::new(1, &memory());
        let way_home: Arc<dyn slot::WayHome> = Arc::new(StraightHome);
        let word = slot::Shared::new(key(0), Word(7), &free, &way_home, None);
        let readers = [0, 1].map(|_| {
            let (word, free) = (word.clone(), Arc::clone(&free));
            loom::thread::spawn(move || {
                // A slot of its own, put back: the list is in use while the token dies.
                let own = slot::Slot::new(&free, job::Sizes::NONE, None).take(&());
                assert_eq!((word.0, own.0), (7, Word::NOTHING), "what is read is not given away");
                free.put(own);
            })
        });
        drop(word);
        let taken = slot::Slot::new(&free, job::Sizes::NONE, None).take(&());
        assert_eq!(taken.0, Word::NOTHING, "what comes again was wiped");
        readers.into_iter().for_each(|reader| reader.join().unwrap());
        free.put(taken);
        assert_eq!(slot::Slot::new(&free, job::Sizes::NONE, None).take(&()).0, Word::NOTHING);
    });
}
