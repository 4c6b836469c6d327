//! Graphs in virtual time: what `sim`, `sweep`, `tune` and `calibrate` share.

mod calibrate;
mod from_traces;
mod plan_of_graph;
mod rewrite;
mod settings;
mod sweep;
mod trace;
mod tune;

use std::path::{Path, PathBuf};

use pipeline_graph::diagnostic::Report as Faults;
use pipeline_graph::plan::Plan as GraphPlan;
use pipeline_graph::source::Sources;
use pipeline_graph::{Outcome, Source, Style, load_file, render};
use pipeline_runtime::event::Observer;
use pipeline_runtime::plan::{Plan, Sku};
use pipeline_runtime::policy;
use pipeline_runtime::sim::{Costs, Load, MachineSpec, Report, Setup, SimError, StageCost, simulate};

pub use calibrate::{Busy, CalibrateError, Fit, Fitted, Free, Row, RowError, fit, judge_rows, leave_one_out, read_fit};
pub use from_traces::{TracedOn, TracedRow, fit_traces, name_of_machine, no_costs};
pub use rewrite::rewrite;
pub use settings::SettingError;
pub use sweep::{Axis, MOST_POINTS, Point, sweep};
pub use trace::{Firing, JobSpan, Trace, read_trace};
pub use tune::{Change, Goal, Limits, Tuned, Wanted, free_fields, tune};

pub use plan_of_graph::{plan_of_graph, sizes_of, sku_of};

/// What implementations there are; the same file that `pipeline!` reads.
const CATALOGUE: &str = include_str!("../../stages/catalogue.ron");

/// A study could not be read or run.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// A file cannot be read.
    #[error("{}: cannot be read: {why}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system said.
        why: std::io::Error,
    },
    /// A graph has errors: their text.
    #[error("{0}")]
    Graph(String),
    /// A file of costs cannot be understood.
    #[error("{}:{line}:{column}: {why}", file.display())]
    Costs {
        /// The file.
        file: PathBuf,
        /// The line.
        line: usize,
        /// The column.
        column: usize,
        /// What is wrong.
        why: String,
    },
    /// A trace cannot be understood.
    #[error("{}:{line}: {why}", file.display())]
    Trace {
        /// The file.
        file: PathBuf,
        /// The line.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// A trace is of another graph.
    #[error("the trace is of graph `{graph}`: it has a stage `{stage}`, which {} has not", file.display())]
    OtherGraph {
        /// A stage of the trace.
        stage: String,
        /// The graph that the trace names.
        graph: String,
        /// The graph that it was to be fitted to.
        file: PathBuf,
    },
    /// There are no costs.
    #[error(
        "there are no costs for {}: give --costs FILE, or put a file costs.ron beside the graph (`proofline calibrate` \
         writes one)",
        graph.display()
    )]
    NoCosts {
        /// The graph.
        graph: PathBuf,
    },
    /// The machine is not known.
    #[error("the graph is for any machine: say which one to simulate, --sku NAME or --machine TEXT")]
    NoMachine,
    /// The graph states no circuit, and the costs are in proportion to one.
    #[error(
        "the graph states no `sizes`, and the costs are those of a circuit: add the circuit's numbers to the graph file, or \
         write `constraints: 0` in the costs"
    )]
    NoSizes,
    /// The graph names a policy that there is not.
    #[error("there is no policy `{name}`; there is {}", policy::NAMES.join(", "))]
    NoSuchPolicy {
        /// The name.
        name: String,
    },
    /// A search found no graph that runs.
    #[error("none of the {tried} graphs that were tried is lawful and runs; begin with one that does")]
    NothingRuns {
        /// Graphs that were tried.
        tried: usize,
    },
    /// A sweep is too large.
    #[error("there are more than {most} combinations; narrow the ranges or take larger steps: PATH=1..16:5")]
    TooMany {
        /// The most that are tried.
        most: usize,
    },
    /// A setting does not fit the graph.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The simulation.
    #[error(transparent)]
    Sim(#[from] SimError),
}

/// A graph, a machine and a cost model.
#[derive(Clone)]
pub struct Study {
    file: PathBuf,
    graph: GraphPlan,
    sku: Option<Sku>,
    machine: Option<MachineSpec>,
    costs: Costs,
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
        let beside = graph.with_file_name("costs.ron");
        let costs = match costs {
            Some(file) => read_costs(file)?,
            None if beside.is_file() => read_costs(&beside)?,
            None => return Err(StudyError::NoCosts { graph: graph.to_owned() }),
        };
        Self::with_costs(graph, costs)
    }

    /// Reads a graph.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn with_costs(graph: &Path, costs: Costs) -> Result<Self, StudyError> {
        let plan = read_graph(graph)?;
        let sku = plan.sku.as_ref().map(sku_of);
        let machine = sku.as_ref().map(MachineSpec::of_sku);
        Ok(Self { file: graph.to_owned(), graph: plan, sku, machine, costs })
    }

    /// Simulates another machine than the graph's.
    pub fn on(&mut self, machine: MachineSpec, sku: Option<Sku>) {
        (self.machine, self.sku) = (Some(machine), sku);
    }

    /// Changes a number of the graph: `stages.spmv.workers=7`.
    ///
    /// # Errors
    /// There is no such field, or it cannot have that value.
    pub fn set(&mut self, setting: &str) -> Result<(), StudyError> {
        Ok(settings::set(&mut self.graph, &mut self.costs, setting)?)
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
        let plan = self.plan();
        let mut policy =
            policy::by_name(&plan.policy).ok_or_else(|| StudyError::NoSuchPolicy { name: plan.policy.clone() })?;
        let partitions = self.graph.load.map_or(1, |load| load.partitions);
        let load = Load {
            jobs: submitted.jobs,
            concurrency: submitted.concurrency,
            partitions: submitted.partitions.unwrap_or(partitions),
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

/// Reads a SKU by its name, from the folder `skus` beside the graph or beside its folder.
///
/// # Errors
/// There is none, or it has faults.
pub fn read_sku(graph: &Path, name: &str) -> Result<Sku, StudyError> {
    let file = skus_of(graph).join(format!("{name}.ron"));
    let shown = file.display().to_string();
    let source = Source::read(&file, &shown).map_err(|why| StudyError::Unreadable { file: file.clone(), why })?;
    let (mut sources, mut report) = (Sources::default(), Faults::default());
    let at = sources.add(source);
    let tree = pipeline_graph::ron::read(at, &sources, &mut report);
    let sku = pipeline_graph::decode::sku(name, &tree, &mut report);
    let faults =
        report.into_sorted().iter().map(|found| render::diagnostic(found, &sources, Style::Plain)).collect::<Vec<_>>();
    sku.as_ref().map(sku_of).filter(|_| faults.is_empty()).ok_or_else(|| StudyError::Graph(faults.join("\n\n")))
}

/// The folder of the SKUs: beside the graph, or beside its folder.
fn skus_of(graph: &Path) -> PathBuf {
    let graph = &std::path::absolute(graph).unwrap_or_else(|_| graph.to_owned());
    let beside = graph.with_file_name("skus");
    let above = graph.parent().and_then(Path::parent).map(|folder| folder.join("skus"));
    above.filter(|above| !beside.is_dir() && above.is_dir()).unwrap_or(beside)
}

/// No file of a study is larger: a trace of a million firings has some 200 MB.
const MOST_BYTES: u64 = 1 << 31;

/// The text of a file. A pipe or a device, which would be waited for or never ends, is refused.
pub(crate) fn text_of(file: &Path) -> Result<String, StudyError> {
    let read = || {
        let metadata = std::fs::metadata(file)?;
        if !metadata.is_file() || metadata.len() > MOST_BYTES {
            return Err(std::io::Error::other(format!("it is no regular file of at most {MOST_BYTES} bytes")));
        }
        std::fs::read_to_string(file)
    };
    read().map_err(|why| StudyError::Unreadable { file: file.to_owned(), why })
}

/// Reads a file of costs.
///
/// # Errors
/// It cannot be read or understood.
pub fn read_costs(file: &Path) -> Result<Costs, StudyError> {
    let text = text_of(file)?;
    let costs: Costs = options().from_str(&text).map_err(|error| StudyError::Costs {
        file: file.to_owned(),
        line: error.span.start.line,
        column: error.span.start.col,
        why: error.code.to_string(),
    })?;
    if costs.version == 1 {
        return Ok(costs);
    }
    let why = format!("version {} of the format is not known; this program reads version 1", costs.version);
    Err(StudyError::Costs { file: file.to_owned(), line: 1, column: 1, why })
}

/// A cost model as the text of a file; `made_by` is its first line.
///
/// # Errors
/// A number in it is none.
pub fn costs_text(costs: &Costs, made_by: &str) -> Result<String, ron::Error> {
    let pretty = ron::ser::PrettyConfig::new()
        .struct_names(false)
        .indentor("    ")
        .extensions(ron::extensions::Extensions::IMPLICIT_SOME);
    Ok(format!("// Made by `{made_by}`.\n{}\n", ron::ser::to_string_pretty(costs, pretty)?))
}

fn options() -> ron::Options {
    ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME)
}

fn read_graph(file: &Path) -> Result<GraphPlan, StudyError> {
    let shown = file.display().to_string();
    let catalogue = Source::inline("stages/catalogue.ron", CATALOGUE);
    // A bare name has no folder beside whose own folder the SKUs could be.
    let place = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let outcome =
        load_file(&place, &shown, catalogue).map_err(|why| StudyError::Unreadable { file: file.to_owned(), why })?;
    plan_of(outcome)
}

fn plan_of(outcome: Outcome) -> Result<GraphPlan, StudyError> {
    let faults = if outcome.plan.is_none() { faults_of(&outcome) } else { String::new() };
    outcome.plan.ok_or(StudyError::Graph(faults))
}

fn faults_of(outcome: &Outcome) -> String {
    let texts = outcome.errors().map(|found| render::diagnostic(found, &outcome.sources, Style::Plain));
    texts.collect::<Vec<_>>().join("\n\n")
}
