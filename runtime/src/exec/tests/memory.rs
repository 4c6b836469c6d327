//! Memory that is wanted while slots are still on their way.

use std::sync::{Mutex, PoisonError};

use crossbeam_channel::{Receiver, Sender};

use super::*;
use crate::admission::PROGRAM_BYTES;
use crate::error::Cause;
use crate::event::{Event, Observer};
use crate::key::JobId;
use crate::stage::{Brought, Thing};

/// The diamond with two workers of `dealloc`, of which one is kept from its first slot.
struct Slow;

static GATE: Mutex<Option<Receiver<()>>> = Mutex::new(None);

struct WaitsOnce;

impl DeallocStage for WaitsOnce {
    const BACKEND: &'static str = "host";
    const TAGS: Tags = Tags::UNMAPS;
    fn dealloc(dead: Dead, _: &crate::capability::DeallocPermit) -> Result<(), StageError> {
        let gate = GATE.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Ends when the other end is dropped.
        gate.map(|gate| gate.recv());
        dead.free();
        Ok(())
    }
}

impl Graph for Slow {
    type Job = TestJob;
    type Output = Words;

    fn plan() -> Plan {
        let mut plan = diamond(1, 1, 1);
        plan.stages[DEALLOC].workers = 2;
        plan
    }

    fn wire(wiring: &mut Wiring<'_, TestJob, Words>) {
        wire_diamond::<WaitsOnce>(wiring);
    }
}

/// Notes firings; the end of the one that sends idle memory away opens the gate.
struct Notes {
    seen: Mutex<Vec<(&'static str, usize, JobId)>>,
    gate: Mutex<Option<Sender<()>>>,
}

/// What belongs to no job is called after the next one.
const IDLE: JobId = JobId(2);

impl Observer for Notes {
    fn event(&self, _: Duration, event: &Event) {
        let note = match *event {
            Event::Started { stage, key, .. } => ("started", stage, key.job),
            Event::Ended { stage, key, .. } => ("ended", stage, key.job),
            _ => return,
        };
        self.seen.lock().unwrap().push(note);
        if note == ("ended", DEALLOC, IDLE) {
            drop(self.gate.lock().unwrap().take());
        }
    }
}

/// The kernel's files of a control group of version 2 with so much beside the program.
fn system(bytes: u64) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| {
        let file = root.path().join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    };
    write("proc/self/cgroup", "0::/jobs\n");
    write("sys/fs/cgroup/jobs/memory.max", &(PROGRAM_BYTES + bytes).to_string());
    root
}

/// What was idle counts until slots that died before it are gone too, in whosoever hands they are.
#[test]
fn a_job_waits_for_the_slots_of_the_size_that_makes_room_for_it() {
    let (opens, gate) = crossbeam_channel::bounded(1);
    *GATE.lock().unwrap() = Some(gate);
    let notes = Arc::new(Notes { seen: Mutex::default(), gate: Mutex::new(Some(opens)) });
    let root = system(100);
    let observer: Arc<dyn Observer> = Arc::<Notes>::clone(&notes);
    let options = Options { system: root.path().to_owned(), observer, ..Options::default() };
    let running = Running::start::<Slow>(options).unwrap();
    let job = |salt, size| TestJob { size, memory: 80, ..TestJob::new(salt, 1) };
    for (salt, size) in [(1, 4), (2, 5)] {
        assert_eq!(words(running.submit(job(salt, size)).unwrap().wait()), expected(salt, 1));
    }
    running.drain();
    let seen = notes.seen.lock().unwrap();
    let position = |note| seen.iter().position(|seen| *seen == note).unwrap();
    let last_slot = seen.iter().rposition(|seen| *seen == ("ended", DEALLOC, JobId(0))).unwrap();
    assert!(position(("ended", DEALLOC, IDLE)) < last_slot, "it was kept from its end until then: {seen:?}");
    assert!(last_slot < position(("started", 0, JobId(1))), "{seen:?}");
}

#[test]
fn what_can_never_be_had_is_refused_before_it_is_read() {
    let root = system(100);
    let plan = diamond(1, 1, 1);
    let brings = |bytes| [Brought { thing: Thing::Kept(0), what: "a key".to_owned(), bytes }];
    let room = |bytes| expect_room(&plan, &brings(bytes), root.path());
    assert_eq!(room(100), Ok(()));
    let refused = room(101).unwrap_err().to_string();
    for part in ["a key", "program, heap, stacks", "the control group of this process"] {
        assert!(refused.contains(part), "no {part} in:\n{refused}");
    }
    assert!(room(u64::MAX).is_err());
}

/// Each job needs the memory that the one before left idle.
fn in_turns(running: &Running<TestJob, Words>) -> Vec<Handle<Words>> {
    let job = |salt| TestJob { size: 4 + salt as usize, memory: 80, ..TestJob::new(salt, 2) };
    (1..=4).map(|salt| running.submit(job(salt)).unwrap()).collect()
}

#[test]
fn a_pipeline_that_is_dropped_while_memory_changes_hands_ends_all_jobs() {
    let root = system(100);
    let options = || Options { system: root.path().to_owned(), ..Options::default() };
    let running = Running::start::<Diamond<1, 1, 1>>(options()).unwrap();
    let handles = in_turns(&running);
    drop(running);
    for (salt, handle) in (1..).zip(handles) {
        assert_eq!(words(handle.wait()), expected(salt, 2));
    }
    // And one that is told to stop fails those that wait, and has nothing left.
    let running = Running::start::<Diamond<1, 1, 1>>(options()).unwrap();
    let handles = in_turns(&running);
    running.abort();
    let ends = handles.into_iter().map(|handle| handle.wait().map(words_of)).collect::<Vec<_>>();
    for (salt, end) in (1..).zip(ends) {
        match end {
            Ok(words) => assert_eq!(words, expected(salt, 2)),
            Err(failure) => assert_eq!(failure.cause, Cause::ShutDown),
        }
    }
    running.drain();
    assert!(running.is_idle());
}

fn words_of(words: Vec<Words>) -> Vec<u64> {
    super::words(Ok(words))
}

/// Whichever waiting job is cancelled, the others come to their turn: what it waited for, and what was sent away for it, is no
/// longer its.
#[test]
fn a_job_that_is_cancelled_while_it_waits_for_memory_keeps_nobody_waiting() {
    let root = system(100);
    for cancelled in 0..4 {
        let options = Options { system: root.path().to_owned(), ..Options::default() };
        let running = Running::start::<Diamond<1, 1, 1>>(options).unwrap();
        let handles = in_turns(&running);
        handles[cancelled].cancel();
        for (at, handle) in handles.into_iter().enumerate() {
            match handle.wait() {
                Ok(words) => assert_eq!(words_of(words), expected(at as u64 + 1, 2)),
                Err(failure) => assert_eq!((at, failure.cause), (cancelled, Cause::Cancelled)),
            }
        }
        running.drain();
        assert!(running.is_idle());
        assert!(running.reserve(&[brought(100)]).is_ok(), "nothing is left behind");
    }
}

fn brought(bytes: u64) -> Brought {
    Brought { thing: Thing::Kept(7), what: "a key".to_owned(), bytes }
}

/// A dropped pipeline's reservation is no harm, and a reservation outlives nobody's job.
#[test]
fn a_reservation_may_outlive_its_pipeline() {
    let root = system(100);
    let options = Options { system: root.path().to_owned(), ..Options::default() };
    let running = Running::start::<Diamond<1, 1, 1>>(options).unwrap();
    let reserved = running.reserve(&[brought(60)]).unwrap();
    let job = || TestJob { memory: 40, ..TestJob::new(1, 1) };
    assert_eq!(words(running.submit(job()).unwrap().wait()), expected(1, 1), "jobs go on beside it");
    let refused = running.submit_in(reserved, TestJob { memory: 41, ..job() }).err().unwrap();
    assert!(refused.to_string().contains("reserved, and not what the job brings"), "{refused}");
    let reserved = running.reserve(&[brought(60)]).unwrap();
    drop(running);
    drop(reserved);
}
