//! A plan run to its end twice, in virtual time and by threads, with an eye on the tokens that are alive.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pipeline_graph::Plan;
use pipeline_graph::plan::memory::live_tokens;
use pipeline_runtime::event::{Event, Observer};
use pipeline_runtime::exec::{Options, Running};
use pipeline_runtime::key::TokenKey;
use pipeline_runtime::mock::{AnyJob, Gate, Mock, Mocked, Nothing, mock_all};
use pipeline_runtime::plan as rt;
use pipeline_runtime::policy::Policy;
use pipeline_runtime::stage::Sizes;
use pipeline_runtime::topology::hwloc::Hwloc;
use proofline_study::plan_of_graph;

use crate::parts::Random;

const JOBS: u32 = 2;
const PARTITIONS: u32 = 4;

/// In virtual time; firings take between 0.1 and 1.9 seconds.
pub fn simulate(plan: &Plan, policy: &mut dyn Policy, seed: u64) {
    let (made, watch) = (of_the_runtime(plan), Watch::of(plan));
    let run = mocked(&made).seed(seed).run(policy).unwrap_or_else(|error| panic!("graph {seed}: {error}"));
    run.events.iter().for_each(|(at, event)| watch.event(*at, event));
    assert_eq!(run.finished().count(), JOBS as usize);
    watch.all_ended();
}

/// By the pipeline's threads; firings end in a random order, one at a time.
pub fn thread(plan: &Plan, policy: Box<dyn Policy>, random: &mut Random) {
    let mut made = of_the_runtime(plan);
    // A worker that waits at the gate begins nothing else: a firing between its halves is a worker more here.
    made.stages.iter_mut().for_each(|stage| (stage.workers, stage.in_flight) = (stage.workers * stage.in_flight, 1));
    let gate = Gate::new();
    on_threads(plan, &made, policy, &gate, |running| {
        loop {
            gate.settle(running);
            let waiting = gate.waiting();
            if waiting.is_empty() {
                return;
            }
            let chosen = random.below(waiting.len() as u64) as usize;
            let (stage, key) = *waiting.iter().nth(chosen).expect("it is one of them");
            gate.release(stage, key);
        }
    });
}

/// By the pipeline's threads, as fast as they can.
pub fn race(plan: &Plan, policy: Box<dyn Policy>) {
    on_threads(plan, &of_the_runtime(plan), policy, &Gate::opened(), |running| {
        // The end of a firing and the grants that follow are one step: where none is in flight, none will come.
        while running.in_flight() > 0 {
            std::thread::yield_now();
        }
    });
}

/// Submits the jobs and lets `drive` go on until nothing is in flight.
fn on_threads(
    plan: &Plan,
    made: &rt::Plan,
    policy: Box<dyn Policy>,
    gate: &Arc<Gate>,
    drive: impl FnOnce(&Running<AnyJob, Nothing>),
) {
    let (mocked, watch) = (mocked(made), Arc::new(Watch::of(plan)));
    let observer: Arc<dyn Observer> = Arc::<Watch>::clone(&watch);
    let machine = Some(Hwloc::synthetic("l3:1 core:4 pu:1").expect("hwloc reads it"));
    let options = Options { machine, observer, policy: Some(policy), ..Options::default() };
    let running = mocked.start_plan(gate, options).expect("the plan has what it needs");
    let handles: Vec<_> =
        mocked.any_jobs().map(|job| running.submit(job).expect("a partition fits its pools")).collect();
    drive(&running);
    // If a job is not over now, it never will be.
    assert!(running.is_idle(), "it stands still");
    handles.into_iter().for_each(|handle| assert!(handle.wait().is_ok_and(|out| out.len() == PARTITIONS as usize)));
    watch.all_ended();
}

fn of_the_runtime(plan: &Plan) -> rt::Plan {
    // Nothing here departs from the discipline, which the runtime could not follow.
    assert!(plan.stages.iter().all(|stage| stage.opt_outs.none()) && plan.edges.iter().all(|edge| edge.batch == 1));
    plan_of_graph(plan)
}

fn mocked(made: &rt::Plan) -> Mocked<'_> {
    let live = made.stages.iter().filter(|stage| stage.role != rt::Role::Dealloc);
    let mocked = mock_all(made).jobs(JOBS, JOBS).partitions(PARTITIONS);
    live.fold(mocked, |mocked, stage| mocked.with(Mock::stage(&stage.name).core_s(1.0).spread(0.9)))
}

/// Counts the tokens that are alive, from the start of the firing that makes them to the end of the last that reads them.
struct Watch {
    plan: rt::Plan,
    /// The most tokens of each stage.
    most: Vec<u64>,
    /// The bytes of each stage's token.
    bytes: Vec<u64>,
    /// The bytes of the memory plan.
    planned: u64,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    /// Readers that a token still waits for.
    alive: HashMap<(usize, TokenKey), usize>,
    ended: Vec<u64>,
    /// The first thing that was wrong. Observers must not panic.
    wrong: Option<String>,
}

impl Watch {
    fn of(plan: &Plan) -> Self {
        let made = plan_of_graph(plan);
        let sizes = Sizes { aux: 1, ..Sizes::default() };
        let bytes = plan.stages.iter().zip(&made.stages).map(|(stage, made)| {
            let token = stage.output.as_ref().map_or(0, |(_, bytes)| bytes.of(&plan.sizes[0].1));
            // What a stage holds stands for its token.
            if made.holds.is_empty() { token } else { made.holds.iter().map(|(_, bytes)| bytes.of(&sizes)).sum() }
        });
        let bytes = bytes.collect();
        let planned = made.memory[0].sum();
        let seen = Mutex::new(Seen { ended: vec![0; made.stages.len()], ..Seen::default() });
        Self { plan: made, most: live_tokens(plan), bytes, planned, seen }
    }

    /// # Panics
    /// Something was wrong, or a stage has not fired for every partition.
    fn all_ended(&self) {
        let seen = self.seen.lock().expect("nobody panics with it");
        assert_eq!(seen.wrong, None);
        let live = self.plan.stages.iter().zip(&seen.ended).filter(|(stage, _)| stage.role != rt::Role::Dealloc);
        live.for_each(|(stage, count)| assert_eq!(*count, u64::from(JOBS * PARTITIONS), "{}", stage.name));
    }
}

impl Observer for Watch {
    fn event(&self, _: Duration, event: &Event) {
        let mut seen = self.seen.lock().expect("nobody panics with it");
        match *event {
            Event::Started { stage, key, .. } if self.plan.stages[stage].role != rt::Role::Dealloc => {
                let readers = self.plan.stages[stage].outputs.len().max(1);
                seen.alive.insert((stage, key), readers);
                let count = seen.alive.keys().filter(|(of, _)| *of == stage).count() as u64;
                let bytes: u64 = seen.alive.keys().map(|(stage, _)| self.bytes[*stage]).sum();
                if count > self.most[stage] {
                    let planned = self.most[stage];
                    seen.wrong.get_or_insert(format!("stage {stage} has {count} tokens alive, planned {planned}"));
                }
                if bytes > self.planned {
                    let planned = self.planned;
                    seen.wrong.get_or_insert(format!("{bytes} bytes are alive, planned {planned}"));
                }
            }
            Event::Ended { stage, key, .. } if self.plan.stages[stage].role != rt::Role::Dealloc => {
                seen.ended[stage] += 1;
                if self.plan.stages[stage].role == rt::Role::Sink {
                    seen.alive.remove(&(stage, key));
                }
                for input in &self.plan.stages[stage].inputs {
                    let token = (self.plan.edges[*input].from, key);
                    let left = seen.alive.get(&token).map_or(0, |left| left - 1);
                    if left == 0 {
                        seen.alive.remove(&token)
                    } else {
                        seen.alive.insert(token, left)
                    };
                }
            }
            _ => {}
        }
    }
}
