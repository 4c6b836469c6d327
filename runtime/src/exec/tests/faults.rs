//! What stages do wrong, and other people's code: a job fails, the pipeline goes on.

use std::sync::Mutex;

use super::*;
use crate::error::Cause;
use crate::event::Event;

#[test]
fn among_delays_a_failing_a_panicking_and_a_cancelled_job_every_other_output_is_right() {
    for seed in 0..40 {
        let running = start::<Diamond<2, 3, 2>>();
        let job = |salt, size| TestJob { delay_seed: Some(seed * 31 + salt), size, ..TestJob::new(salt, 6) };
        let first = running.submit(job(1, 4)).unwrap();
        let failing = TestJob { faults: vec![("right", 3, Fault::Error)], ..job(2, 4) };
        let failing = running.submit(failing).unwrap();
        let panicking = TestJob { faults: vec![("sink", 5, Fault::Panic)], ..job(3, 9) };
        let panicking = running.submit(panicking).unwrap();
        let cancelled = running.submit(job(4, 4)).unwrap();
        let last = running.submit(job(5, 9)).unwrap();
        cancelled.cancel();

        assert_eq!(words(first.wait()), expected(1, 6), "seed {seed}");
        assert_eq!(words(last.wait()), expected(5, 6), "seed {seed}");
        let failure = failing.wait().err().unwrap();
        assert_eq!(failure.to_string(), "job 1 partition 3: stage `right` failed: as told");
        let failure = panicking.wait().err().unwrap();
        assert_eq!(failure.to_string(), "job 2 partition 5: stage `sink` panicked: as told, loudly");
        assert_eq!(cancelled.wait().err().unwrap().cause, Cause::Cancelled);
        running.drain();
        assert!(running.is_idle(), "seed {seed}");
    }
}

#[test]
fn a_pipeline_goes_on_after_a_panic_in_each_stage() {
    let running = start::<Diamond<1, 1, 1>>();
    for stage in ["source", "left", "right", "sink"] {
        let job = TestJob { faults: vec![(stage, 0, Fault::Panic)], ..TestJob::new(1, 1) };
        let failure = running.submit(job).unwrap().wait().err().unwrap();
        assert_eq!(failure.stage.as_deref(), Some(stage));
    }
    assert_eq!(words(running.submit(TestJob::new(2, 3)).unwrap().wait()), expected(2, 3));
    running.drain();
    assert!(running.is_idle());
}

#[test]
fn an_illegal_policy_fails_the_jobs_and_closes_the_pipeline() {
    struct Beyond;
    impl Policy for Beyond {
        fn name(&self) -> &'static str {
            "beyond"
        }
        fn choose(&mut self, state: &policy::State<'_>) -> Option<usize> {
            Some(state.waiting.len())
        }
    }
    let options = Options { policy: Some(Box::new(Beyond)), ..Options::default() };
    let running = Running::start::<Diamond<1, 1, 1>>(options).unwrap();
    let failure = running.submit(TestJob::new(1, 2)).unwrap().wait().err().unwrap();
    assert_eq!(failure.to_string(), "job 0 failed: policy `beyond` chose firing number 1 of 1 that wait");
    assert!(matches!(running.submit(TestJob::new(1, 1)), Err(SubmitError::Closed(_))));
    running.drain();
    assert!(running.is_idle());
}

/// One that cannot even say what it is called is no worse.
#[test]
fn a_policy_whose_name_panics_too_fails_the_jobs() {
    struct Nameless;
    impl Policy for Nameless {
        fn name(&self) -> &'static str {
            panic!("no name")
        }
        fn choose(&mut self, _: &policy::State<'_>) -> Option<usize> {
            panic!("no choice")
        }
    }
    let options = Options { policy: Some(Box::new(Nameless)), ..Options::default() };
    let running = Running::start::<Diamond<1, 1, 1>>(options).unwrap();
    let failure = running.submit(TestJob::new(1, 3)).unwrap().wait().err().unwrap();
    assert_eq!(failure.to_string(), "job 0 failed: policy `whose name panics` panicked: no choice");
    running.drain();
    assert!(running.is_idle());
}

/// A policy, an observer or a waker that panics is somebody else's fault, and must not stop the pipeline.
#[test]
fn a_policy_that_panics_fails_the_jobs_and_closes_the_pipeline() {
    struct Panics(u32);
    impl Policy for Panics {
        fn name(&self) -> &'static str {
            "panics"
        }
        fn choose(&mut self, state: &policy::State<'_>) -> Option<usize> {
            assert!(self.0 > 0, "as told, loudly");
            self.0 -= 1;
            state.waiting.iter().position(|firing| firing.blocked.is_none())
        }
    }
    for after in 0..12 {
        let options = Options { policy: Some(Box::new(Panics(after))), ..Options::default() };
        let running = Running::start::<Diamond<1, 1, 1>>(options).unwrap();
        let failure = running.submit(TestJob::new(1, 3)).unwrap().wait().err().unwrap();
        assert_eq!(failure.to_string(), "job 0 failed: policy `panics` panicked: as told, loudly");
        running.drain();
        assert!(running.is_idle());
    }
}

#[test]
fn an_observer_that_panics_is_not_asked_again() {
    struct Panics(fn(&Event) -> bool);
    impl Observer for Panics {
        fn event(&self, _: Duration, event: &Event) {
            assert!(!self.0(event), "as told, loudly");
        }
    }
    let kinds: [fn(&Event) -> bool; 4] = [
        |event| matches!(event, Event::Accepted { .. }),
        |event| matches!(event, Event::Started { .. }),
        |event| matches!(event, Event::Ended { .. }),
        |event| matches!(event, Event::Finished { .. }),
    ];
    for kind in kinds {
        let observer = Arc::new(Panics(kind));
        let running = Running::start::<Diamond<1, 1, 1>>(Options { observer, ..Options::default() }).unwrap();
        assert_eq!(words(running.submit(TestJob::new(1, 3)).unwrap().wait()), expected(1, 3));
        running.drain();
        assert!(running.is_idle());
    }
}

#[test]
fn a_waker_that_panics_or_drops_the_pipeline_stops_nobody() {
    struct Bad(Mutex<Option<Running<TestJob, Words>>>);
    impl std::task::Wake for Bad {
        fn wake(self: Arc<Self>) {
            drop(self.0.lock().unwrap().take());
            panic!("as told, loudly");
        }
    }
    let running = start::<Diamond<1, 1, 1>>();
    let (open, gate) = bounded(0);
    let mut handle = running.submit(TestJob { gate: Some(gate), ..TestJob::new(3, 2) }).unwrap();
    let second = running.submit(TestJob::new(4, 2)).unwrap();
    let waker = Arc::new(Bad(Mutex::new(Some(running)))).into();
    let mut context = std::task::Context::from_waker(&waker);
    assert!(std::pin::Pin::new(&mut handle).poll(&mut context).is_pending());
    drop(open);
    assert_eq!(words(handle.wait()), expected(3, 2));
    assert_eq!(words(second.wait()), expected(4, 2));
}

#[test]
fn a_panic_whose_payload_panics_again_is_a_failure_like_any_other() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                std::panic::panic_any(String::from("as told, by the payload"));
            }
        }
    }
    assert_eq!(super::guard::guarded(|| std::panic::panic_any(Bomb)), Err::<(), _>("no message".to_owned()));
}
