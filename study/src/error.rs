//! Why a study cannot be read or run.

use std::path::PathBuf;

use pipeline_runtime::policy;
use pipeline_runtime::sim::SimError;

use crate::SettingError;

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
    /// A file is not what is wanted: too large, no text, or of another kind.
    #[error("{}: {why}", file.display())]
    NoText {
        /// The file.
        file: PathBuf,
        /// What it is, and what is wanted.
        why: String,
    },
    /// A load is too large.
    #[error(
        "{jobs} jobs of {partitions} partitions are {} firings, more than the {most} that are simulated; lower --jobs or \
         --partitions", u64::from(*jobs) * u64::from(*partitions) * stages
    )]
    TooManyFirings {
        /// Jobs.
        jobs: u32,
        /// Partitions of each.
        partitions: u32,
        /// Stages.
        stages: u64,
        /// The most firings.
        most: u64,
    },
    /// A graph has errors: their text.
    #[error("{0}")]
    Graph(String),
    /// A file of costs, or of what to fit to what, cannot be understood.
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
    TraceText {
        /// The file.
        file: PathBuf,
        /// The line.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// A trace says what cannot be.
    #[error("{}: {what}: {why}", file.display())]
    Trace {
        /// The file.
        file: PathBuf,
        /// The record, or the trace as a whole.
        what: String,
        /// What is wrong.
        why: String,
    },
    /// A trace is of another graph.
    #[error(
        "the trace is of graph `{traced}` (digest {traced_digest:.12}), {} is graph `{graph}` (digest {digest:.12}): give the \
         graph that was run, as it was; the digest changes with the file, its SKU and its catalogue",
        file.display()
    )]
    OtherGraph {
        /// The graph that the trace names.
        traced: String,
        /// Its digest.
        traced_digest: String,
        /// The graph that it was to be fitted to.
        graph: String,
        /// Its digest.
        digest: String,
        /// Its file.
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
    /// Stages have no costs.
    #[error(
        "the costs have nothing for these stages of {}: {stages}; measure them (`proofline calibrate --trace`), give other \
         --costs, or write a stage that costs nothing as `\"NAME\": ()`",
        graph.display()
    )]
    NoCostsOf {
        /// The graph.
        graph: PathBuf,
        /// The stages, in words.
        stages: String,
    },
    /// There is no such SKU.
    #[error("there is no SKU `{name}` in {}; there is {}", folder.display(), known.join(", "))]
    NoSku {
        /// Its name.
        name: String,
        /// Where it was looked for.
        folder: PathBuf,
        /// What there is.
        known: Vec<String>,
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
    /// The circuit has no constraints, and the costs are in proportion to them.
    #[error(
        "the graph's `sizes` of \"{circuit}\" state no `constraints`, and the costs are those of {measured} constraints: add \
         the number to the graph file, or write `constraints: 0` in the costs"
    )]
    NoConstraints {
        /// The circuit.
        circuit: String,
        /// The constraints that the costs were measured on.
        measured: u64,
    },
    /// The graph names a policy that there is not.
    #[error("there is no policy `{name}`; there is {}", policy::NAMES.join(", "))]
    NoSuchPolicy {
        /// The name.
        name: String,
    },
    /// What was measured makes no model.
    #[error("{0}")]
    NoModel(String),
    /// A search found no graph that runs.
    #[error("none of the {tried} graphs that were tried is lawful and runs; as it is, {why}")]
    NothingRuns {
        /// Graphs that were tried.
        tried: usize,
        /// Why the first of them does not.
        why: String,
    },
    /// The machine that is simulated would not start a graph.
    #[error("the machine would not start it: {0}")]
    WouldNotStart(String),
    /// A search found no graph within the limits.
    #[error(
        "none of the {tried} graphs that were tried is within the limits: the one that is nearest takes {takes}; raise the \
         limit, lower --concurrency, or let more fields be free"
    )]
    NothingFits {
        /// Graphs that were tried.
        tried: usize,
        /// What the graph that is nearest takes too much of, in words.
        takes: String,
    },
    /// What a graph names cannot be had from where it is to be written.
    #[error("the graph cannot be written to {}: {why}", file.display())]
    NotFromThere {
        /// The file that was to be written.
        file: PathBuf,
        /// What it names, and what to do.
        why: String,
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
