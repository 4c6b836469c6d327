//! A stage of two functions.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::exec::wiring::{InEnd, OutEnd};
use crate::plan::Role;
use crate::testing::{connect, empty_plan, stage};

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
