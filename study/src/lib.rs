//! Graphs in virtual time: what `sim`, `sweep`, `tune` and `calibrate` share.

mod calibrate;
mod doubts;
mod error;
mod fields;
mod free;
mod from_traces;
mod lawful;
mod moved;
pub mod numbers;
mod place;
mod plan_of_graph;
mod read;
mod rewrite;
mod settings;
mod sweep;
mod table;
mod trace;
mod tune;
mod would_run;

use std::path::{Path, PathBuf};

use pipeline_graph::plan::Plan as GraphPlan;
use pipeline_graph::words::nearest;
use pipeline_runtime::event::Observer;
use pipeline_runtime::plan::{Plan, Sku};
use pipeline_runtime::policy;
use pipeline_runtime::sim::{Costs, Load, MachineSpec, Report, Setup, StageCost, simulate};
use pipeline_runtime::topology::Machine;

pub use calibrate::{Fitted, RowError, fit, judge_rows, leave_one_out};
pub use doubts::{doubts_of_traces, expect_usable};
pub use error::StudyError;
pub use free::free_fields;
pub use from_traces::{TracedOn, TracedRow, fit_traces, name_of_machine, no_costs};
pub use moved::{Moved, move_graph};
pub use numbers::Kind;
pub use plan_of_graph::{plan_of_graph, sizes_of, sku_of};
pub use read::{costs_text, read_costs, read_sku};
pub use rewrite::rewrite;
pub use settings::SettingError;
pub use sweep::{Axis, MOST_POINTS, Point, sweep};
pub use table::{Busy, Fit, Free, Row, read_fit};
pub use trace::{Firing, JobSpan, Trace, read_trace};
pub use tune::{Change, Goal, Limits, Tuned, Wanted, tune};

/// What implementations there are; the same file that `pipeline!` reads.
const CATALOGUE: &str = include_str!("../../stages/catalogue.ron");

/// No run has more firings: some minutes of simulation.
pub const MOST_FIRINGS: u64 = 50_000_000;

/// A graph, a machine and a cost model.
#[derive(Clone)]
pub struct Study {
    file: PathBuf,
    graph: GraphPlan,
    /// The names of the stages that the graph's catalogue has.
    catalogue: Vec<String>,
    sku: Option<Sku>,
    machine: Option<MachineSpec>,
    /// The same machine, as the start of a pipeline sees it.
    topology: Option<Machine>,
    costs: Costs,
    /// Costs that are not as they were read: paths of settings.
    changed: Vec<String>,
}

/// How much is submitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Submitted {
    /// Jobs in all.
    pub jobs: u32,
    /// Jobs in flight.
    pub concurrency: u32,
    /// Partitions of a job; `None`: as the graph's `load` says, else 1.
    pub partitions: Option<u32>,
}

/// How a study is run.
#[derive(Clone, Copy)]
pub struct Conditions<'a> {
    /// Whether work that runs at once slows each other down.
    pub contention: bool,
    /// For costs that are spread.
    pub seed: u64,
    /// Who looks at what happens.
    pub observer: Option<&'a dyn Observer>,
}

impl Default for Conditions<'_> {
    fn default() -> Self {
        Self { contention: true, seed: 0, observer: None }
    }
}

impl Study {
    /// Reads a graph and its costs: `costs`, or the file `costs.ron` beside the graph.
    ///
    /// # Errors
    /// A file cannot be read, or has faults.
    pub fn read(graph: &Path, costs: Option<&Path>) -> Result<Self, StudyError> {
        // First, so that a graph that is not there is not said to lack costs.
        let study = Self::with_costs(graph, no_costs())?;
        let beside = graph.with_file_name("costs.ron");
        let costs = match costs {
            Some(file) => read_costs(file)?,
            None if beside.is_file() => read_costs(&beside)?,
            None => return Err(StudyError::NoCosts { graph: graph.to_owned() }),
        };
        let study = Self { costs, ..study };
        study.expect_costs()?;
        Ok(study)
    }

    /// Whether every stage has costs. One that costs nothing is in the file all the same, as `"collect": ()`: what was
    /// forgotten must not be taken for free.
    pub(crate) fn expect_costs(&self) -> Result<(), StudyError> {
        let known = self.costs_of_graph().stages;
        let missing: Vec<&str> = self
            .graph
            .stages
            .iter()
            .map(|stage| stage.name.as_str())
            .filter(|name| !known.contains_key(*name))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let stages = missing.iter().map(|name| match self.meant_by(name) {
            Some(key) => format!("`{name}` (is it `{key}` in the file?)"),
            None => format!("`{name}`"),
        });
        Err(StudyError::NoCostsOf { graph: self.file.clone(), stages: stages.collect::<Vec<_>>().join(", ") })
    }

    /// A name in the costs that no stage of the graph has, and that is nearly this stage's.
    fn meant_by(&self, stage: &str) -> Option<&str> {
        let unused = self.costs.stages.keys().map(String::as_str).filter(|key| !self.has_stage(stage_of_key(key)));
        nearest(stage, unused)
    }

    fn has_stage(&self, name: &str) -> bool {
        self.graph.stages.iter().any(|stage| stage.name == name)
    }

    /// What a reader of the figures should know, a sentence each: what the costs say of stages that there are not (a file may
    /// serve many graphs, but only stages that their catalogue has), and what the graph says and is not simulated.
    #[must_use]
    pub fn doubts(&self) -> Vec<String> {
        let of_this_graph = |key: &str| key.split_once('@').is_some_and(|(_, graph)| graph == self.graph.graph);
        let known = |name: &str| self.has_stage(name) || self.catalogue.iter().any(|other| other == name);
        let strange = |key: &&str| {
            let name = stage_of_key(key);
            if of_this_graph(key) { !self.has_stage(name) } else { !known(name) }
        };
        let told = |key: &str| {
            let names = self.graph.stages.iter().map(|stage| stage.name.as_str());
            let names = names.chain(self.catalogue.iter().map(String::as_str));
            let meant =
                nearest(stage_of_key(key), names).map_or_else(String::new, |meant| format!("; is it `{meant}`?"));
            format!(
                "the costs have `{key}`, and {} has no such stage{meant}",
                if of_this_graph(key) { "the graph" } else { "the graph's catalogue" }
            )
        };
        let frees = (self.graph.dealloc == pipeline_graph::model::Dealloc::UnboundedFree).then(|| {
            "the graph's `dealloc: unbounded_free` frees on threads that nobody counts, and is simulated behind the workers and \
             permits of `dealloc`, as `bounded_free` is: raise both to see more at once"
                .to_owned()
        });
        self.costs.stages.keys().map(String::as_str).filter(strange).map(told).chain(frees).collect()
    }

    /// Reads a graph.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn with_costs(graph: &Path, costs: Costs) -> Result<Self, StudyError> {
        let (plan, catalogue) = read::read_graph(graph)?;
        let sku = plan.sku.as_ref().map(sku_of);
        let (file, changed) = (graph.to_owned(), Vec::new());
        let mut study = Self { file, graph: plan, catalogue, sku: None, machine: None, topology: None, costs, changed };
        if let Some(sku) = sku {
            study.on_sku(sku);
        }
        Ok(study)
    }

    /// Simulates the machine of a SKU instead of the graph's.
    pub fn on_sku(&mut self, sku: Sku) {
        self.machine = Some(MachineSpec::of_sku(&sku));
        self.topology = Some(Machine::of_sku(&sku));
        self.sku = Some(sku);
    }

    /// Simulates a machine that somebody describes instead of the graph's.
    pub fn on_machine(&mut self, machine: Machine) {
        self.machine = Some(MachineSpec::of_topology(&machine));
        self.topology = Some(machine);
        self.sku = None;
    }

    /// Changes a number of the graph: `stages.spmv.workers=7`.
    ///
    /// # Errors
    /// There is no such field, or it cannot have that value.
    pub fn set(&mut self, setting: &str) -> Result<(), StudyError> {
        Ok(self.set_one(setting)?)
    }

    /// The path of a setting in full: `workers` alone is the source's, `permits.NAME` is the pool of that name.
    #[must_use]
    pub fn in_full(&self, path: &str) -> String {
        settings::in_full(&self.graph, path)
    }

    pub(crate) fn set_one(&mut self, setting: &str) -> Result<(), SettingError> {
        let before = self.costs.clone();
        settings::set(&mut self.graph, &mut self.costs, setting)?;
        if self.costs != before {
            self.changed.extend(setting.split_once('=').map(|(path, _)| path.trim().to_owned()));
        }
        Ok(())
    }

    /// Applies settings, each of a field of its own.
    ///
    /// # Errors
    /// As [`Self::set`], or a field is set twice.
    pub fn set_all(&mut self, settings: &[String]) -> Result<(), StudyError> {
        let paths = settings.iter().filter_map(|setting| setting.split_once('=')).map(|(path, _)| self.in_full(path));
        settings::expect_distinct(paths)?;
        settings.iter().try_for_each(|setting| self.set(setting))
    }

    /// Whether no field that is varied is set as well.
    ///
    /// # Errors
    /// One is, and the setting would count for nothing.
    pub fn expect_not_set(&self, axes: &[Axis], settings: &[String]) -> Result<(), StudyError> {
        let set = settings.iter().filter_map(|setting| setting.split_once('=')).map(|(path, _)| self.in_full(path));
        Ok(settings::expect_distinct(axes.iter().map(|axis| axis.path.clone()).chain(set))?)
    }

    /// The same study where these fields are varied: a cost that is varied is not the one that was fitted.
    #[must_use]
    pub fn varied(&self, axes: &[Axis]) -> Self {
        let costs = axes.iter().map(|axis| axis.path.clone()).filter(|path| path.starts_with("costs."));
        Self { changed: self.changed.iter().cloned().chain(costs).collect(), ..self.clone() }
    }

    /// The costs.
    #[must_use]
    pub fn costs(&self) -> &Costs {
        &self.costs
    }

    /// The plan that is simulated.
    #[must_use]
    pub fn plan(&self) -> Plan {
        plan_of_graph(&self.graph)
    }

    /// The graph's file.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The memory of the machine, in bytes.
    #[must_use]
    pub fn ram_bytes(&self) -> Option<u64> {
        self.machine.as_ref().map(|machine| machine.ram_bytes)
    }

    /// The memory of the machine's smallest device, in bytes.
    #[must_use]
    pub fn vram_bytes(&self) -> Option<u64> {
        self.machine.as_ref()?.devices.iter().map(|device| device.vram_bytes).min()
    }

    /// Whether tokens have sizes, so that figures of memory mean something.
    #[must_use]
    pub fn knows_sizes(&self) -> bool {
        !self.graph.sizes.is_empty()
    }

    /// Why seconds mean nothing here; `None`: the costs are calibrated, for this machine.
    #[must_use]
    pub fn uncalibrated(&self) -> Option<String> {
        let Some(calibration) = &self.costs.calibration else {
            return Some("the costs are not calibrated".to_owned());
        };
        if !self.changed.is_empty() {
            return Some(format!("{} was changed and is not as it was fitted", self.changed.join(", ")));
        }
        match &self.sku {
            Some(sku) if sku.name == calibration.sku => None,
            Some(sku) => Some(format!("the costs were measured on {}, this is {}", calibration.sku, sku.name)),
            None => Some(format!("the costs were measured on {}, this is another machine", calibration.sku)),
        }
    }

    /// Runs a load.
    ///
    /// # Errors
    /// The graph lacks machine or sizes, its policy is unknown, or the simulation cannot go on.
    pub fn run(&self, submitted: Submitted, conditions: &Conditions<'_>) -> Result<Report, StudyError> {
        let machine = self.machine.as_ref().ok_or(StudyError::NoMachine)?;
        // Without a circuit tokens have no size: times are right, memory is not known.
        let counts = match self.graph.sizes.first() {
            Some((_, counts)) => counts,
            None if self.costs.constraints == 0 => &[0; 6],
            None => return Err(StudyError::NoSizes),
        };
        if let Some((circuit, [0, ..])) = self.graph.sizes.first()
            && self.costs.constraints > 0
        {
            return Err(StudyError::NoConstraints { circuit: circuit.clone(), measured: self.costs.constraints });
        }
        let plan = self.plan();
        let mut policy =
            policy::by_name(&plan.policy).ok_or_else(|| StudyError::NoSuchPolicy { name: plan.policy.clone() })?;
        let partitions = submitted.partitions.unwrap_or(self.graph.load.map_or(1, |load| load.partitions));
        let (jobs, stages) = (submitted.jobs, plan.stages.len() as u64);
        if u64::from(jobs) * u64::from(partitions) * stages > MOST_FIRINGS {
            return Err(StudyError::TooManyFirings { jobs, partitions, stages, most: MOST_FIRINGS });
        }
        let load = Load {
            jobs,
            concurrency: submitted.concurrency,
            partitions,
            sizes: sizes_of(counts),
            priorities: Vec::new(),
        };
        let output = |stage: &pipeline_graph::plan::StagePlan| {
            stage.output.as_ref().map_or(0.0, |(_, bytes)| bytes.of(counts) as f64)
        };
        let token_bytes: Vec<f64> = self.graph.stages.iter().map(output).collect();
        let resident: f64 = self.graph.resident.iter().map(|(_, bytes)| bytes.of(counts) as f64).sum();
        let setup = Setup {
            plan: &plan,
            costs: &self.costs_of_graph(),
            machine,
            token_bytes: &token_bytes,
            resident_bytes: resident,
            load: &load,
            contention: conditions.contention,
            seed: conditions.seed,
            fate: None,
            observer: conditions.observer,
        };
        Ok(simulate(&setup, &mut *policy)?)
    }

    /// The costs as this graph sees them: `stage@graph` goes before `stage`, since versions of a program may run the
    /// same stage differently.
    fn costs_of_graph(&self) -> Costs {
        let own = |name: &str| -> Option<StageCost> {
            let stages = &self.costs.stages;
            stages.get(&format!("{name}@{}", self.graph.graph)).or_else(|| stages.get(name)).cloned()
        };
        let names = self.graph.stages.iter().map(|stage| stage.name.clone());
        let stages = names.filter_map(|name| own(&name).map(|cost| (name, cost))).collect();
        Costs { stages, ..self.costs.clone() }
    }
}

/// The stage that a name in the costs is of: `spmv` of `spmv@device`.
fn stage_of_key(key: &str) -> &str {
    key.split_once('@').map_or(key, |(stage, _)| stage)
}
