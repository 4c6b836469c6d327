//! Stages that only cost: for tests of policies and graphs, in virtual time.
//!
//! [`mock_all`] gives every stage of a plan a cost of one core-second; [`Mock`]s say otherwise. The plan, the permits,
//! the places and the policy are the real ones, so what a test finds holds for the pipeline that is compiled from the
//! same graph.
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

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::event::{Event, Observer};
use crate::key::{JobId, TokenKey};
use crate::plan::{Edge, Plan, Pool, Role, StagePlan, Unit};
use crate::policy::Policy;
use crate::sim::{
    CcdSpec, Costs, DeviceSpec, Fate, Host, Load, MachineSpec, Report, Setup, SimError, StageCost, StageReport, Work,
    simulate,
};
use crate::stage::{Priority, Sizes};
use crate::tags::Tags;

/// A stage that only costs. One piece of work; [`Mock::then`] begins another after it.
#[derive(Clone, PartialEq, Debug)]
pub struct Mock {
    stage: String,
    cost: StageCost,
    fails: HashSet<TokenKey>,
}

impl Mock {
    /// A stage that costs nothing.
    #[must_use]
    pub fn stage(name: &str) -> Self {
        let work = Work { name: "0".into(), threads: 1, ..Work::default() };
        Self { stage: name.into(), cost: StageCost { work: vec![work], spread: 0.0 }, fails: HashSet::new() }
    }

    /// The whole cost at once.
    #[must_use]
    pub fn cost(mut self, cost: StageCost) -> Self {
        self.cost = cost;
        self
    }

    /// Core-seconds.
    #[must_use]
    pub fn core_s(self, core_s: f64) -> Self {
        self.last(|work| work.core_s = core_s)
    }

    /// Threads that share them.
    #[must_use]
    pub fn threads(self, threads: u32) -> Self {
        self.last(|work| work.threads = threads)
    }

    /// Memory traffic in bytes, and the part of the undisturbed time that is spent waiting for it.
    #[must_use]
    pub fn dram(self, bytes: f64, stall: f64) -> Self {
        self.last(|work| (work.dram_bytes, work.stall) = (bytes, stall))
    }

    /// Bytes that stay in the L3 of each CCD, and the traffic that becomes memory traffic when they do not fit.
    #[must_use]
    pub fn l3(self, bytes: f64, traffic_bytes: f64) -> Self {
        self.last(|work| (work.l3_bytes, work.l3_traffic_bytes) = (bytes, traffic_bytes))
    }

    /// Seconds of the stage's device.
    #[must_use]
    pub fn gpu_s(self, gpu_s: f64) -> Self {
        self.last(|work| work.gpu_s = gpu_s)
    }

    /// Bytes over the device's link.
    #[must_use]
    pub fn pcie(self, bytes: f64) -> Self {
        self.last(|work| work.pcie_bytes = bytes)
    }

    /// Under the device's lock.
    #[must_use]
    pub fn locked(self) -> Self {
        self.last(|work| work.lock = true)
    }

    /// Another piece of work, after what there is.
    #[must_use]
    pub fn then(mut self) -> Self {
        let after = self.cost.work.last().map(|work| work.name.clone());
        let name = self.cost.work.len().to_string();
        self.cost.work.push(Work { name, threads: 1, after: after.into_iter().collect(), ..Work::default() });
        self
    }

    /// Each firing takes between 1 − `part` and 1 + `part` times as long, drawn from the seed.
    #[must_use]
    pub fn spread(mut self, part: f64) -> Self {
        self.cost.spread = part;
        self
    }

    /// The firing for this partition of this job fails: an error or a panic, to the scheduler they are the same.
    #[must_use]
    pub fn fails_on(mut self, job: u64, partition: u32) -> Self {
        self.fails.insert(TokenKey { job: JobId(job), partition });
        self
    }

    fn last(mut self, change: impl FnOnce(&mut Work)) -> Self {
        if self.cost.work.is_empty() {
            self.cost.work.push(Work { name: "0".into(), threads: 1, ..Work::default() });
        }
        if let Some(work) = self.cost.work.last_mut() {
            change(work);
        }
        self
    }
}

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
    pub fn stage(&self, name: &str) -> &StageReport {
        let stage = self.report.stages.iter().find(|stage| stage.name == name);
        stage.unwrap_or_else(|| panic!("the plan has no stage `{name}`"))
    }

    /// When each job was over, in the order of their ends.
    pub fn finished(&self) -> impl Iterator<Item = (JobId, Duration)> {
        self.events.iter().filter_map(|(at, event)| match event {
            Event::Finished { job, .. } => Some((*job, *at)),
            _ => None,
        })
    }
}

impl Mocked<'_> {
    /// Another mock in place of the one that the stage has.
    ///
    /// # Panics
    /// The plan has no stage of that name.
    #[must_use]
    pub fn with(mut self, mock: Mock) -> Self {
        let known = self.plan.stages.iter().any(|stage| stage.name == mock.stage);
        assert!(known, "the plan has no stage `{}`", mock.stage);
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
        let fate = |stage: usize, key: TokenKey| {
            let name = &self.plan.stages[stage].name;
            let fails = self.mocks.iter().any(|mock| mock.stage == *name && mock.fails.contains(&key));
            if fails { Fate::Fails } else { Fate::Succeeds }
        };
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
}

#[derive(Default)]
struct Collected(Mutex<Vec<(Duration, Event)>>);

impl Observer for Collected {
    fn event(&self, at: Duration, event: &Event) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((at, *event));
    }
}

/// A small plan for documentation and tests: source → {left, right} → sink, both branches with a permit of `heavy`.
#[must_use]
pub fn example_plan() -> Plan {
    let stage = |name: &str, role, workers, heavy: bool, inputs: &[usize], outputs: &[usize]| StagePlan {
        name: name.into(),
        backend: "host".into(),
        tags: Tags::NONE,
        role,
        group: None,
        device: None,
        workers,
        threads: None,
        in_flight: 1,
        needs: if heavy { vec![(0, 1)] } else { Vec::new() },
        holds: Vec::new(),
        workspace: Vec::new(),
        inputs: inputs.to_vec(),
        outputs: outputs.to_vec(),
    };
    let edge = |from, to, port| Edge { from, to, port, token: "Word".into(), capacity: 4, reserved_by: 0 };
    Plan {
        graph: "example".into(),
        file: "example.ron".into(),
        digest: String::new(),
        sku: None,
        pools: vec![Pool { name: "heavy".into(), size: 2, unit: Unit::Count }],
        groups: Vec::new(),
        stages: vec![
            stage("source", Role::Source, 2, false, &[], &[0, 1]),
            stage("left", Role::Inner, 2, true, &[0], &[2]),
            stage("right", Role::Inner, 2, true, &[1], &[3]),
            stage("sink", Role::Sink, 1, false, &[2, 3], &[]),
            stage("dealloc", Role::Dealloc, 1, false, &[], &[]),
        ],
        edges: vec![edge(0, 1, 0), edge(0, 2, 0), edge(1, 3, 0), edge(2, 3, 1)],
        policy: "oldest_first".into(),
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
    #[should_panic(expected = "the plan has no stage `sprmv`")]
    fn a_name_that_is_wrong_is_said() {
        let plan = example_plan();
        let _ = mock_all(&plan).with(Mock::stage("sprmv"));
    }
}
