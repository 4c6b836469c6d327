//! The diamond `source → {left, right} → sink` with tokens that carry their own key: a join that paired the wrong
//! partitions, or a recycled slot that kept another job's word, shows in the output.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::*;
use crate::error::{Cause, StageError};
use crate::event::{Ending, Event};
use crate::exec::firing::Firing;
use crate::exec::wiring::{InEnd, OutEnd};
use crate::key::{JobId, TokenKey};
use crate::plan::{Ccds, Group, Role, Share};
use crate::slot::{Dead, Shared, Token};
use crate::stage::{DeallocStage, Port, Sizes, Stage, TakesAt};
use crate::testing::{connect, diamond, empty_plan, stage};

/// What a job does to one of its firings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    Error,
    Panic,
}

struct TestJob {
    partitions: u32,
    salt: u64,
    size: usize,
    faults: Vec<(&'static str, u32, Fault)>,
    delay_seed: Option<u64>,
    /// Blocks the source until the other end is dropped.
    gate: Option<crossbeam_channel::Receiver<()>>,
}

impl TestJob {
    fn new(salt: u64, partitions: u32) -> Self {
        Self { partitions, salt, size: 4, faults: Vec::new(), delay_seed: None, gate: None }
    }

    fn act(&self, stage: &'static str, key: TokenKey) -> Result<(), StageError> {
        if let Some(seed) = self.delay_seed {
            let mix = (seed ^ u64::from(key.partition) << 8 ^ stage.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            std::thread::sleep(Duration::from_micros(mix >> 56));
        }
        let fault = self.faults.iter().find(|(at, partition, _)| (*at, *partition) == (stage, key.partition));
        match fault {
            Some((_, _, Fault::Error)) => Err(StageError::new("as told")),
            Some((_, _, Fault::Panic)) => panic!("as told, loudly"),
            None => Ok(()),
        }
    }

    fn word(&self, key: TokenKey) -> u64 {
        self.salt * 1000 + u64::from(key.partition)
    }
}

impl Job for TestJob {
    fn partitions(&self) -> u32 {
        self.partitions
    }
    fn sizes(&self) -> Sizes {
        Sizes { aux: self.size as u64, ..Sizes::default() }
    }
}

/// A slot of words.
struct Words(Vec<u64>);

impl Token for Words {
    const NAME: &'static str = "Words";
    type Shape = usize;
    fn with_shape(shape: &usize) -> Self {
        Self(vec![0; *shape])
    }
    fn shape(&self) -> usize {
        self.0.len()
    }
    fn bytes(&self) -> u64 {
        8 * self.0.len() as u64
    }
    fn wipe(&mut self) {
        self.0.fill(0);
    }
}

macro_rules! test_stage {
    ($name:ident, $text:literal, $in:ty, |$inputs:ident| $words:expr) => {
        struct $name;

        impl Stage for $name {
            type Job = TestJob;
            type In = $in;
            type Out = Words;
            type Pending = Words;
            const NAME: &'static str = $text;
            const BACKEND: &'static str = "host";
            const TAGS: Tags = Tags::NONE;
            const PORTS: &'static [Port] = &[];

            fn start(firing: &Firing<'_, Self>, inputs: &$in) -> Result<Words, StageError> {
                let job = firing.job();
                if $text == "source"
                    && let Some(gate) = &job.gate
                {
                    // Ends when the test drops its end.
                    let _ = gate.recv();
                }
                job.act($text, firing.key())?;
                let $inputs = inputs;
                let expected = job.word(firing.key());
                let words: Vec<u64> = $words;
                let mut out = firing.slot().take(&job.size);
                let whole = words.iter().all(|word| *word == expected);
                out.0.fill(if whole || words.is_empty() { expected } else { u64::MAX });
                Ok(out)
            }

            fn finish(_: &Firing<'_, Self>, _: &$in, pending: Words) -> Result<Words, StageError> {
                Ok(pending)
            }
        }
    };
}

test_stage!(Source, "source", (), |_inputs| Vec::new());
test_stage!(Left, "left", (Shared<Words>,), |inputs| inputs.0.0.clone());
test_stage!(Right, "right", (Shared<Words>,), |inputs| inputs.0.0.clone());
test_stage!(Sink, "sink", (Shared<Words>, Shared<Words>), |inputs| {
    inputs.0.0.iter().chain(&inputs.1.0).copied().collect()
});

impl TakesAt<0> for Left {
    type Takes = Words;
}

struct Home;

impl DeallocStage for Home {
    const BACKEND: &'static str = "host";
    const TAGS: Tags = Tags::UNMAPS;
    fn dealloc(dead: Dead, _: &crate::capability::DeallocPermit) -> Result<(), StageError> {
        dead.go_home();
        Ok(())
    }
}

/// A diamond of one capacity, number of workers, number of `heavy` permits.
struct Diamond<const CAPACITY: u32, const WORKERS: u32, const HEAVY: u64>;

impl<const CAPACITY: u32, const WORKERS: u32, const HEAVY: u64> Graph for Diamond<CAPACITY, WORKERS, HEAVY> {
    type Job = TestJob;
    type Output = Words;

    fn plan() -> Plan {
        diamond(CAPACITY, WORKERS, HEAVY)
    }

    fn wire(wiring: &mut Wiring<'_, TestJob, Words>) {
        let (to_left, left) = wiring.edge::<Words>(0);
        let (to_right, right) = wiring.edge::<Words>(1);
        let (from_left, sink_left) = wiring.edge::<Words>(2);
        let (from_right, sink_right) = wiring.edge::<Words>(3);
        wiring.stage::<Source, _>(0, (), vec![to_left, to_right]);
        wiring.stage::<Left, _>(1, (left,), vec![from_left]);
        wiring.stage::<Right, _>(2, (right,), vec![from_right]);
        wiring.sink::<Sink>(3, (sink_left, sink_right));
        wiring.dealloc::<Home>(4);
    }
}

fn start<G: Graph<Job = TestJob, Output = Words>>() -> Running<TestJob, Words> {
    Running::start::<G>(Options::default()).unwrap()
}

fn words(result: Result<Vec<Words>, crate::error::Failure>) -> Vec<u64> {
    result.unwrap().into_iter().map(|words| words.0[0]).collect()
}

fn expected(salt: u64, partitions: u32) -> Vec<u64> {
    (0..u64::from(partitions)).map(|partition| salt * 1000 + partition).collect()
}

#[test]
fn outputs_come_in_the_order_of_the_partitions() {
    let running = start::<Diamond<2, 3, 2>>();
    let handle = running.submit(TestJob::new(7, 20)).unwrap();
    assert_eq!(words(handle.wait()), expected(7, 20));
    running.drain();
    assert!(running.is_idle());
}

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

/// A stage of two functions on one worker, `start` to be called for the second token before `finish` for the first.
struct Overlap;

static STARTED_BEFORE_FIRST_FINISH: AtomicUsize = AtomicUsize::new(0);

impl Stage for Split {
    type Job = TestJob;
    type In = ();
    type Out = Words;
    type Pending = u64;
    const NAME: &'static str = "split";
    const BACKEND: &'static str = "host";
    const TAGS: Tags = Tags::NONE;
    const PORTS: &'static [Port] = &[];

    fn start(firing: &Firing<'_, Self>, (): &()) -> Result<u64, StageError> {
        STARTED_BEFORE_FIRST_FINISH.fetch_add(1, Ordering::SeqCst);
        Ok(firing.job().word(firing.key()))
    }

    fn finish(firing: &Firing<'_, Self>, (): &(), pending: u64) -> Result<Words, StageError> {
        if firing.key().partition == 0 && STARTED_BEFORE_FIRST_FINISH.load(Ordering::SeqCst) < 2 {
            return Err(StageError::new("the second token was not started first"));
        }
        let mut out = firing.slot().take(&firing.job().size);
        out.0.fill(pending);
        Ok(out)
    }
}

struct Split;

impl Graph for Overlap {
    type Job = TestJob;
    type Output = Words;

    fn plan() -> Plan {
        let mut plan = empty_plan(0, 0);
        let mut split = stage("split", Role::Source, 1, 0, false);
        split.in_flight = 2;
        plan.stages = vec![split, stage("left", Role::Sink, 1, 0, false), stage("dealloc", Role::Dealloc, 1, 0, false)];
        connect(&mut plan, 0, 1, 2, 0, "Words");
        plan
    }

    fn wire(wiring: &mut Wiring<'_, TestJob, Words>) {
        let (out, end): (OutEnd<Words>, InEnd<Words>) = wiring.edge(0);
        wiring.stage::<Split, _>(0, (), vec![out]);
        wiring.sink::<Left>(1, (end,));
        wiring.dealloc::<Home>(2);
    }
}

#[test]
fn a_stage_of_two_functions_starts_the_next_token_before_it_finishes_the_first() {
    let running = start::<Overlap>();
    // Both partitions are granted in one go, as the stage has two lanes.
    assert_eq!(words(running.submit(TestJob::new(1, 2)).unwrap().wait()), expected(1, 2));
}

/// The diamond's stages in a group of one CCD of this machine.
struct Pinned<const DEMAND: bool>;

impl<const DEMAND: bool> Graph for Pinned<DEMAND> {
    type Job = TestJob;
    type Output = Words;

    fn plan() -> Plan {
        let mut plan = diamond(1, 1, 1);
        let insist = if DEMAND { Insist::Demand } else { Insist::Prefer };
        plan.groups = vec![Group {
            name: "msm".into(),
            ccds: Ccds::All,
            share: Share::Pack,
            exclusive: false,
            insist,
            smt: false,
        }];
        plan.stages[1].group = Some(0);
        plan.stages[1].tags = Tags::CCD_PINNED;
        plan
    }

    fn wire(wiring: &mut Wiring<'_, TestJob, Words>) {
        Diamond::<1, 1, 1>::wire(wiring);
    }
}

#[test]
fn bindings_are_read_back() {
    let running = start::<Pinned<true>>();
    let pinned = running.bindings().iter().find(|binding| binding.stage == "left").unwrap();
    assert_eq!(pinned.bound, Some(Bound::Holds(pinned.cpus.clone())));
    assert!(pinned.threads > 0);
    let free = running.bindings().iter().find(|binding| binding.stage == "right").unwrap();
    assert_eq!(free.bound, None);
}

#[test]
fn a_demanded_binding_that_cannot_be_had_fails_the_start() {
    let machine = Some(Hwloc::synthetic("l3:2 core:2 pu:1").unwrap());
    let error = Running::start::<Pinned<true>>(Options { machine, ..Options::default() }).err().unwrap();
    assert_eq!(
        error.to_string(),
        "stage `left` worker 0: this machine is only described, its threads cannot be bound; the group demands its \
         binding: write `insist: Prefer` to go without"
    );
}

#[test]
fn a_preferred_binding_that_cannot_be_had_is_noted_and_the_work_done() {
    let machine = Some(Hwloc::synthetic("l3:2 core:2 pu:1").unwrap());
    let running = Running::start::<Pinned<false>>(Options { machine, ..Options::default() }).unwrap();
    assert_eq!(
        running.notes(),
        ["group `msm` prefers its binding, but this machine is only described, its threads cannot be bound"]
    );
    assert_eq!(words(running.submit(TestJob::new(1, 2)).unwrap().wait()), expected(1, 2));
}
