//! Stages that only cost: for tests of policies and graphs.
//!
//! [`mock_all`] gives every stage of a plan a cost of one core-second; [`Mock`]s say otherwise. [`Mocked::run`] runs it in
//! virtual time, [`Mocked::start`] with the threads of the pipeline that is compiled from the graph: the same types, the
//! same wiring, workers and edges, and a [`Gate`] in place of the stages' functions. The plan, the permits, the places and
//! the policy are the real ones in both, and [`lockstep`] checks that both grant the same.
//!
//! ```
//! use pipeline_runtime::mock::{Mock, mock_all};
//! use pipeline_runtime::policy::OldestFirst;
//! # let plan = pipeline_runtime::mock::example_plan();
//!
//! let run = mock_all(&plan)
//!     .with(Mock::stage("left").core_s(2.0).threads(8))
//!     .with(Mock::stage("right").core_s(30.0).threads(32).spread(0.1))
//!     .jobs(20, 15)
//!     .run(&mut OldestFirst)
//!     .unwrap();
//! assert_eq!(run.report.jobs, 20);
//! assert!(run.stage("right").inflation() < 1.5);
//! ```

mod example;
mod lockstep;
mod stage;
mod threads;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::event::{Event, Observer};
use crate::key::{JobId, TokenKey};
use crate::plan::{Plan, Role};
use crate::policy::Policy;
use crate::sim::{
    CcdSpec, Costs, DeviceSpec, Fate, Host, Load, MachineSpec, Report, Setup, SimError, StageReport, simulate,
};
use crate::stage::{Priority, Sizes};

pub use example::example_plan;
pub use lockstep::{Divergence, lockstep};
pub use stage::Mock;
pub use threads::{AnyJob, Gate, Nothing};

/// A plan all of whose stages are mocks.
#[derive(Clone, Debug)]
pub struct Mocked<'a> {
    plan: &'a Plan,
    mocks: Vec<Mock>,
    host: Host,
    machine: MachineSpec,
    load: Load,
    seed: u64,
    contention: bool,
}

/// Every stage of `plan` costs one core-second on one thread, on the plan's machine or, for `sku: any`, on one CCD of 16
/// cores with memory of 100 GB/s and a device; one job of one partition.
#[must_use]
pub fn mock_all(plan: &Plan) -> Mocked<'_> {
    let machine = plan.sku.as_ref().map_or_else(
        || MachineSpec {
            ccds: vec![CcdSpec { cores: 16, l3_bytes: 32e6 }],
            threads_per_core: 2,
            dram_bytes_per_s: 100e9,
            ram_bytes: 64 << 30,
            devices: vec![DeviceSpec { vram_bytes: 16 << 30 }],
        },
        MachineSpec::of_sku,
    );
    let sizes = Sizes { constraints: 1, aux: 1, inputs: 1, domain: 1, a_density: 1, b_density: 1 };
    let mocks = plan.stages.iter().filter(|stage| stage.role != Role::Dealloc);
    Mocked {
        plan,
        mocks: mocks.map(|stage| Mock::stage(&stage.name).core_s(1.0)).collect(),
        host: Host::default(),
        machine,
        load: Load { jobs: 1, concurrency: 1, partitions: 1, sizes, priorities: Vec::new() },
        seed: 0,
        contention: true,
    }
}

/// What happened in a mocked run.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    /// The figures.
    pub report: Report,
    /// Every event, with its time.
    pub events: Vec<(Duration, Event)>,
}

impl Run {
    /// The figures of a stage.
    ///
    /// # Panics
    /// There is no such stage.
    #[must_use]
    #[track_caller]
    pub fn stage(&self, name: &str) -> &StageReport {
        let stage = self.report.stages.iter().find(|stage| stage.name == name);
        let Some(stage) = stage else {
            panic!("{}", no_stage(name, self.report.stages.iter().map(|stage| stage.name.as_str())))
        };
        stage
    }

    /// When each job was over, in the order of their ends.
    pub fn finished(&self) -> impl Iterator<Item = (JobId, Duration)> {
        self.events.iter().filter_map(|(at, event)| match event {
            Event::Finished { job, .. } => Some((*job, *at)),
            _ => None,
        })
    }
}

/// What a test is told that names a stage that there is not.
fn no_stage<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<String> = known.map(|stage| format!("`{stage}`")).collect();
    format!("the plan has no stage `{name}`; it has {}", known.join(", "))
}

impl Mocked<'_> {
    /// Another mock in place of the one that the stage has.
    ///
    /// # Panics
    /// The plan has no stage of that name.
    #[must_use]
    #[track_caller]
    pub fn with(mut self, mock: Mock) -> Self {
        let known = self.plan.stages.iter().any(|stage| stage.name == mock.stage);
        assert!(known, "{}", no_stage(&mock.stage, self.plan.stages.iter().map(|stage| stage.name.as_str())));
        self.mocks.retain(|other| other.stage != mock.stage);
        self.mocks.push(mock);
        self
    }

    /// Another machine.
    #[must_use]
    pub fn on(mut self, machine: MachineSpec) -> Self {
        self.machine = machine;
        self
    }

    /// How the host behaves when it is shared.
    #[must_use]
    pub fn host(mut self, host: Host) -> Self {
        self.host = host;
        self
    }

    /// So many jobs, so many of them at once.
    #[must_use]
    pub fn jobs(mut self, jobs: u32, concurrency: u32) -> Self {
        (self.load.jobs, self.load.concurrency) = (jobs, concurrency);
        self
    }

    /// Partitions of a job.
    #[must_use]
    pub fn partitions(mut self, partitions: u32) -> Self {
        self.load.partitions = partitions;
        self
    }

    /// The jobs' priorities, in turn.
    #[must_use]
    pub fn priorities(mut self, priorities: &[Priority]) -> Self {
        self.load.priorities = priorities.to_vec();
        self
    }

    /// For mocks that are spread.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Nothing slows anything down.
    #[must_use]
    pub fn without_contention(mut self) -> Self {
        self.contention = false;
        self
    }

    /// Runs it.
    ///
    /// # Errors
    /// As [`simulate`].
    pub fn run(&self, policy: &mut dyn Policy) -> Result<Run, SimError> {
        let stages = self.mocks.iter().map(|mock| (mock.stage.clone(), mock.cost.clone())).collect();
        let costs = Costs { version: 1, host: self.host, stages, ..Costs::default() };
        let fates = self.fates();
        let fate = |stage: usize, key: TokenKey| fates[stage].get(&key).copied().unwrap_or_default();
        let events = Collected::default();
        let setup = Setup {
            plan: self.plan,
            costs: &costs,
            machine: &self.machine,
            token_bytes: &[],
            resident_bytes: 0.0,
            load: &self.load,
            contention: self.contention,
            seed: self.seed,
            fate: Some(&fate),
            observer: Some(&events),
        };
        let report = simulate(&setup, policy)?;
        Ok(Run { report, events: events.0.into_inner().unwrap_or_else(PoisonError::into_inner) })
    }

    /// How firings end that do not succeed, by stage.
    fn fates(&self) -> Vec<BTreeMap<TokenKey, Fate>> {
        let of = |name: &str| self.mocks.iter().find(|mock| mock.stage == name).map(|mock| mock.fates.clone());
        self.plan.stages.iter().map(|stage| of(&stage.name).unwrap_or_default()).collect()
    }
}

#[derive(Default)]
struct Collected(Mutex<Vec<(Duration, Event)>>);

impl Observer for Collected {
    fn event(&self, at: Duration, event: &Event) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((at, *event));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{OldestFirst, PriorityAging};

    #[test]
    fn a_failure_ends_its_job_and_no_other() {
        let plan = example_plan();
        let run = mock_all(&plan).with(Mock::stage("left").fails_on(1, 0)).jobs(3, 3).run(&mut OldestFirst).unwrap();
        let failed: Vec<u64> = run
            .events
            .iter()
            .filter_map(|(_, event)| match event {
                Event::Finished { job, succeeded: false } => Some(job.0),
                _ => None,
            })
            .collect();
        assert_eq!((failed, run.report.jobs), (vec![1], 3));
    }

    #[test]
    fn urgent_jobs_overtake_and_low_ones_come_in_the_end() {
        use Priority::{Critical, Low};
        let plan = example_plan();
        let mocked = mock_all(&plan).jobs(12, 12).partitions(3).priorities(&[Low, Critical]);
        let by_age = mocked.run(&mut OldestFirst).unwrap();
        let by_priority = mocked.run(&mut PriorityAging::new(600.0).unwrap()).unwrap();
        let mean = |run: &Run, odd: u64| {
            let ends = run.finished().filter(|(job, _)| job.0 % 2 == odd).map(|(_, at)| at.as_secs_f64());
            ends.sum::<f64>() / 6.0
        };
        assert!(mean(&by_priority, 1) < 0.8 * mean(&by_age, 1), "critical jobs gain");
        assert_eq!(by_priority.finished().count(), 12, "low ones come to their end too");
    }

    #[test]
    fn pieces_follow_one_another() {
        let plan = example_plan();
        let mock = Mock::stage("left").core_s(3.0).then().core_s(8.0).threads(4);
        let run = mock_all(&plan).with(mock).run(&mut OldestFirst).unwrap();
        assert!((run.stage("left").busy_s - 5.0).abs() < 1e-6);
    }

    #[test]
    fn jobs_may_take_different_times_and_firings_may_be_spread() {
        let plan = example_plan();
        let busy = |mock: Mock, seed| {
            let mocked = mock_all(&plan).with(mock).jobs(4, 1).seed(seed).without_contention();
            mocked.run(&mut OldestFirst).unwrap().stage("left").busy_s
        };
        assert_eq!(busy(Mock::stage("left").core_s(2.0).per_job(&[1.0, 3.0]), 0), 16.0);
        let spread = || Mock::stage("left").core_s(2.0).spread(0.5);
        assert_eq!(busy(spread(), 7), busy(spread(), 7), "the same seed, the same times");
        assert!(busy(spread(), 7) != busy(spread(), 8));
    }

    #[test]
    fn a_device_has_so_much_memory_and_no_more() {
        let mut plan = example_plan();
        plan.stages[1].device = Some(0);
        let run =
            |bytes| mock_all(&plan).with(Mock::stage("left").gpu_s(9.0).vram(bytes)).jobs(4, 4).run(&mut OldestFirst);
        let report = run(6e9).unwrap().report;
        assert_eq!(report.peak_vram_bytes, [12_000_000_000], "two workers at once");
        let error = run(12e9).unwrap_err().to_string();
        assert!(error.starts_with("stage `left` runs out of memory on device 0: 24000000000 bytes"), "{error}");
        let error = mock_all(&plan).with(Mock::stage("right").vram(1.0)).run(&mut OldestFirst).unwrap_err();
        assert!(
            error.to_string().contains("stage `right` costs device time, but the graph gives it no device"),
            "{error}"
        );
    }

    #[test]
    fn on_threads_a_failure_and_a_panic_are_two_things() {
        use crate::error::Cause;
        let plan = example_plan();
        let mocked = mock_all(&plan).with(Mock::stage("left").fails_on(0, 0).panics_on(1, 0)).jobs(3, 3);
        let running = mocked.start_plan(&Gate::opened(), crate::exec::Options::default()).unwrap();
        let handles: Vec<_> = mocked.any_jobs().map(|job| running.submit(job).unwrap()).collect();
        let causes: Vec<_> = handles.into_iter().map(|handle| handle.wait().map_err(|failure| failure.cause)).collect();
        assert!(matches!(causes[0], Err(Cause::Failed(_))), "{:?}", causes[0]);
        assert!(matches!(causes[1], Err(Cause::Panicked(_))), "{:?}", causes[1]);
        assert_eq!(causes[2], Ok(vec![Nothing]));
    }

    #[test]
    fn on_threads_policies_see_what_runs_on_which_ccd() {
        use crate::plan::{Ccds, Group, Insist, Share};
        use crate::policy::State;
        use crate::topology::hwloc::Hwloc;
        use std::sync::Arc;

        struct Looks(Arc<Mutex<Vec<Vec<u32>>>>);
        impl Policy for Looks {
            fn name(&self) -> &str {
                "looks"
            }
            fn choose(&mut self, state: &State<'_>) -> Option<usize> {
                self.0.lock().unwrap().push(state.ccds.to_vec());
                OldestFirst.choose(state)
            }
        }

        let mut plan = example_plan();
        let (ccds, share, insist) = (Ccds::List(vec![1, 2]), Share::Spread, Insist::Demand);
        plan.groups = vec![Group { name: "g".into(), ccds, share, exclusive: false, insist, smt: false }];
        (plan.stages[0].group, plan.stages[0].workers) = (Some(0), 2);
        let (seen, gate) = (Arc::default(), Gate::new());
        let policy: Option<Box<dyn Policy>> = Some(Box::new(Looks(Arc::clone(&seen))));
        let machine = Some(Hwloc::synthetic("l3:4 core:2 pu:1").unwrap());
        let options = crate::exec::Options { machine, policy, ..Default::default() };
        let mocked = mock_all(&plan).jobs(2, 2);
        let running = mocked.start_plan(&gate, options).unwrap();
        let handles: Vec<_> = mocked.any_jobs().map(|job| running.submit(job).unwrap()).collect();
        gate.settle(&running);
        assert_eq!(*seen.lock().unwrap(), [vec![0, 0, 0], vec![0, 1, 0]], "no worker is on CCD 0, none behind 2");
        gate.open();
        handles.into_iter().for_each(|handle| drop(handle.wait().unwrap()));
    }

    #[test]
    #[should_panic(expected = "the plan has no stage `sprmv`; it has `source`, `left`")]
    fn a_name_that_is_wrong_is_said() {
        let plan = example_plan();
        let _ = mock_all(&plan).with(Mock::stage("sprmv"));
    }
}
