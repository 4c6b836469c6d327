//! What the owner of a job sees of it, and what an observer does.

use std::sync::Mutex;

use super::*;
use crate::error::Cause;
use crate::event::{Ending, Event};
use crate::key::JobId;

#[test]
fn drop_runs_what_was_accepted_to_its_end() {
    let running = start::<Diamond<1, 1, 1>>();
    let handles: Vec<_> = (0..5).map(|salt| running.submit(TestJob::new(salt, 3)).unwrap()).collect();
    drop(running);
    for (salt, handle) in (0..).zip(handles) {
        assert!(handle.is_settled());
        assert_eq!(words(handle.wait()), expected(salt, 3));
    }
}

#[test]
fn abort_fails_what_is_not_done_and_takes_no_more() {
    let running = start::<Diamond<1, 1, 1>>();
    let (open, gate) = bounded(0);
    let stuck = running.submit(TestJob { gate: Some(gate), ..TestJob::new(1, 2) }).unwrap();
    let queued = running.submit(TestJob::new(2, 1)).unwrap();
    running.abort();
    assert_eq!(stuck.wait().err().unwrap().cause, Cause::ShutDown);
    assert_eq!(queued.wait().err().unwrap().cause, Cause::ShutDown);
    assert!(matches!(running.submit(TestJob::new(3, 1)), Err(SubmitError::Closed(_))));
    drop(open);
    running.drain();
    assert!(running.is_idle());
}

#[test]
fn a_cancelled_job_answers_while_its_stage_still_runs() {
    let running = start::<Diamond<1, 1, 1>>();
    let (open, gate) = bounded(0);
    let stuck = running.submit(TestJob { gate: Some(gate), ..TestJob::new(1, 1) }).unwrap();
    let stuck = stuck.wait_for(Duration::from_millis(1)).err().unwrap();
    stuck.cancel();
    assert_eq!(stuck.wait().err().unwrap().to_string(), "job 0 was cancelled");
    assert!(!running.is_idle(), "the source has not come back");
    drop(open);
    running.drain();
}

#[test]
fn a_handle_can_be_awaited() {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let running = start::<Diamond<1, 1, 1>>();
    let (open, gate) = bounded(0);
    let mut handle = running.submit(TestJob { gate: Some(gate), ..TestJob::new(3, 2) }).unwrap();
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut context = std::task::Context::from_waker(&waker);
    let mut poll = || std::pin::Pin::new(&mut handle).poll(&mut context);
    assert!(poll().is_pending());
    drop(open);
    let result = loop {
        match poll() {
            std::task::Poll::Ready(result) => break result,
            std::task::Poll::Pending => std::thread::park(),
        }
    };
    assert_eq!(words(result), expected(3, 2));
}

#[test]
fn jobs_that_can_never_run_are_refused() {
    let running = start::<Diamond<1, 1, 1>>();
    assert_eq!(running.submit(TestJob::new(1, 0)).err(), Some(SubmitError::Empty));
    let huge = TestJob { size: 1 << 20, ..TestJob::new(1, 1) };
    let error = running.submit(huge).err().unwrap().to_string();
    assert!(error.contains("needs 2097152 of pool `ram`, which has 1048576"), "{error}");
}

#[test]
fn a_limit_beyond_the_clock_is_no_limit() {
    let running = start::<Diamond<1, 1, 1>>();
    let handle = running.submit(TestJob::new(1, 2)).unwrap();
    assert_eq!(words(handle.wait_for(Duration::MAX).ok().unwrap()), expected(1, 2));
}

#[test]
fn the_observer_sees_every_firing_once() {
    #[derive(Default)]
    struct Log(Mutex<Vec<Event>>);
    impl Observer for Log {
        fn event(&self, _: Duration, event: &Event) {
            self.0.lock().unwrap().push(*event);
        }
    }
    let log = Arc::new(Log::default());
    let observer: Arc<dyn Observer> = Arc::<Log>::clone(&log);
    let running = Running::start::<Diamond<2, 2, 2>>(Options { observer, ..Options::default() }).unwrap();
    let handle = running.submit(TestJob::new(1, 5)).unwrap();
    handle.wait().unwrap();
    running.drain();
    let events = log.0.lock().unwrap();
    let succeeded = |at| {
        let is =
            |event: &&Event| matches!(event, Event::Ended { stage, ending: Ending::Succeeded, .. } if *stage == at);
        events.iter().filter(is).count()
    };
    // Three tokens of each partition die: the source's, the left one and the right one.
    assert_eq!([0, 1, 2, 3, 4].map(succeeded), [5, 5, 5, 5, 15]);
    assert_eq!(events[0], Event::Accepted { job: JobId(0), partitions: 5 });
    assert!(events.contains(&Event::Finished { job: JobId(0), succeeded: true }));
}

/// Whoever has the result of a job submits the next one: the end of the first comes before that in every log.
#[test]
fn a_job_s_end_is_told_before_its_owner_has_the_result() {
    #[derive(Default)]
    struct Log(Mutex<Vec<Event>>);
    impl Observer for Log {
        fn event(&self, _: Duration, event: &Event) {
            // The owner gets every chance to be first.
            if matches!(event, Event::Finished { .. }) {
                std::thread::yield_now();
            }
            self.0.lock().unwrap().push(*event);
        }
    }
    let log = Arc::new(Log::default());
    let observer: Arc<dyn Observer> = Arc::<Log>::clone(&log);
    let running = Running::start::<Diamond<2, 2, 2>>(Options { observer, ..Options::default() }).unwrap();
    for job in 0..200 {
        running.submit(TestJob::new(job, 1)).unwrap().wait().unwrap();
    }
    running.drain();
    let jobs = log
        .0
        .lock()
        .unwrap()
        .iter()
        .filter_map(|event| match event {
            Event::Accepted { .. } => Some(true),
            Event::Finished { .. } => Some(false),
            _ => None,
        })
        .collect::<Vec<_>>();
    assert_eq!(jobs.len(), 400);
    assert!(jobs.chunks(2).all(|pair| pair == [true, false]), "{jobs:?}");
}
