//! `proofline sim`: a graph in virtual time.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use proofline::Error;
use proofline::runtime::event::{Event, Observer};
use proofline::runtime::sim::Report;
use proofline::runtime::trace::TraceWriter;
use proofline::study::{Conditions, Study, Submitted, numbers, read_sku};
use serde_json::{Value, json};

use super::exit::Fault;
use super::files::{self, WholeFile};

const GIB: f64 = (1_u64 << 30) as f64;

/// A number of jobs or partitions on the command line.
fn count(text: &str) -> Result<u32, String> {
    numbers::count(text).map_err(|allowed| format!("write {allowed}"))
}

/// Runs a graph in virtual time, on a machine that need not be there.
#[derive(Args)]
#[command(after_help = "Examples:\n  proofline sim graphs/study/cuzk-phase12.ron --jobs 20 --concurrency 20\n  \
                  proofline sim graphs/study/cuzk-phase12.ron --set stages.synthesize.workers=7 --json\n\n\
                  Seconds are shown only where the costs were calibrated on the machine that is simulated; elsewhere all \
                  times are in units of the longest stage's firing.")]
pub struct Sim {
    /// The graph file
    graph: PathBuf,
    #[command(flatten)]
    what: What,
    /// Prints JSON
    #[arg(long)]
    json: bool,
    /// Writes a trace of every firing, in the format of Chrome's trace viewer
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

/// What is simulated; `sim` and `sweep` and `tune` share it.
#[derive(Args)]
pub struct What {
    /// The cost model [default: costs.ron beside the graph]
    #[arg(long, value_name = "FILE")]
    pub costs: Option<PathBuf>,
    /// Another machine than the graph's: a SKU
    #[arg(long, value_name = "NAME", conflicts_with = "machine")]
    pub sku: Option<String>,
    /// Another machine than the graph's: hwloc's synthetic notation, a file of hwloc's XML, or `this` one
    #[arg(long, value_name = "TEXT")]
    pub machine: Option<String>,
    /// Jobs in all
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = count, allow_hyphen_values = true)]
    pub jobs: u32,
    /// Jobs in flight
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = count, allow_hyphen_values = true)]
    pub concurrency: u32,
    /// Partitions of a job [default: as the graph's `load` says]
    #[arg(long, value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub partitions: Option<u32>,
    /// Changes a number of the graph, its policy, or a cost: stages.spmv.workers=7, workers=4 (the source's), permits.mem_heavy=2, policy=critical_path
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Nothing slows anything down: every firing takes what it takes alone
    #[arg(long)]
    pub no_contention: bool,
    /// For costs that are spread
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub seed: u64,
}

impl What {
    /// The files that are read.
    pub fn inputs(&self, graph: &Path) -> Vec<(&'static str, PathBuf)> {
        let costs = self.costs.clone().unwrap_or_else(|| graph.with_file_name("costs.ron"));
        let machine = self.machine.iter().map(|text| ("--machine", PathBuf::from(text)));
        [("the graph", graph.to_owned()), ("--costs", costs)].into_iter().chain(machine).collect()
    }

    /// The study of a graph.
    pub fn study(&self, graph: &Path) -> Result<Study, Fault> {
        let mut study = Study::read(graph, self.costs.as_deref())?;
        if let Some(name) = &self.sku {
            study.on_sku(read_sku(graph, name)?);
        }
        if let Some(text) = &self.machine {
            study.on_machine(super::machine::named(text)?);
        }
        study.set_all(&self.set)?;
        study.doubts().iter().for_each(|doubt| tell!("warning: {doubt}"));
        Ok(study)
    }

    /// The load.
    pub fn submitted(&self) -> Submitted {
        Submitted { jobs: self.jobs, concurrency: self.concurrency, partitions: self.partitions }
    }
}

impl Sim {
    pub fn run(&self) -> Result<(), Fault> {
        let outputs = self.trace.iter().map(|file| ("--trace", file.as_path()));
        files::expect_apart(self.what.inputs(&self.graph), outputs)?;
        self.trace.iter().try_for_each(|file| files::expect_writable(file))?;
        let study = self.what.study(&self.graph)?;
        let conditions = Conditions { contention: !self.what.no_contention, seed: self.what.seed, observer: None };
        let report = study.run(self.what.submitted(), &conditions)?;
        if let Some(file) = &self.trace {
            let failed = |source| Error::Io { action: "write", file: file.clone(), source };
            let out = WholeFile::create(file)?;
            let trace = TraceWriter::new(&study.plan(), out.clone()).map_err(failed)?;
            // The same again: a run is cheap, and only its end says what the unit of time is.
            let scaled = Scaled { trace: &trace, unit_s: Clock::of(&study, &report).unit_s };
            study.run(self.what.submitted(), &Conditions { observer: Some(&scaled), ..conditions })?;
            trace.close().map_err(failed)?;
            out.finish()?;
        }
        if let Some(why) = study.would_not_run(&report) {
            tell!("warning: the machine would not run this: {why}");
        }
        if self.json {
            say!("{}", json_of(&study, &report));
        } else {
            print(&study, &report);
        }
        Ok(())
    }
}

/// A trace in units: without a calibration a second of the trace is a unit.
struct Scaled<'a> {
    trace: &'a TraceWriter<WholeFile>,
    unit_s: f64,
}

impl Observer for Scaled<'_> {
    fn event(&self, at: Duration, event: &Event) {
        let units = |time: Duration| time.div_f64(self.unit_s);
        let event = match *event {
            Event::Started { stage, worker, key, waited } => {
                Event::Started { stage, worker, key, waited: units(waited) }
            }
            Event::Ended { stage, worker, key, busy, ending } => {
                Event::Ended { stage, worker, key, busy: units(busy), ending }
            }
            other => other,
        };
        self.trace.event(units(at), &event);
    }
}

/// Seconds, or units of the longest stage's firing.
struct Clock {
    unit_s: f64,
    why: Option<String>,
}

impl Clock {
    fn of(study: &Study, report: &Report) -> Self {
        let why = study.uncalibrated();
        let alone = report.stages.iter().filter(|stage| stage.firings > 0);
        let longest = alone.map(|stage| stage.isolated_s / stage.firings as f64).fold(0.0, f64::max);
        let unit_s = if why.is_some() && longest > 0.0 { longest } else { 1.0 };
        Self { unit_s, why }
    }
}

/// The figures as JSON. Without a calibration the fields that end in `_units` stand for those in seconds.
pub fn json_of(study: &Study, report: &Report) -> Value {
    let clock = Clock::of(study, report);
    let time = |seconds: f64| seconds / clock.unit_s;
    let stages = report.stages.iter().map(|stage| {
        let mut value = json!({
            "stage": stage.name, "workers": stage.workers, "firings": stage.firings, "inflation": stage.inflation(),
        });
        put_time(&mut value, &clock, "busy", time(stage.busy_s));
        put_time(&mut value, &clock, "waited", time(stage.waited_s));
        put_time(&mut value, &clock, "waited_for_permits", time(stage.waited_for_permits_s));
        value
    });
    let mut value = json!({
        "graph": study.plan().graph,
        "jobs": report.jobs,
        "firings": report.firings,
        "gpu_utilisation": report.gpu_utilisation,
        "gpu_lock_utilisation": report.lock_utilisation,
        "peak_rss_gib": study.knows_sizes().then_some(report.peak_ram_bytes / GIB),
        "peak_vram_gib": report.peak_vram_bytes.iter().map(|bytes| *bytes as f64 / GIB).collect::<Vec<_>>(),
        "stages": stages.collect::<Vec<_>>(),
    });
    if let Some(why) = study.would_not_run(report) {
        value["would_not_run"] = json!(why);
    }
    match &clock.why {
        Some(why) => {
            value["uncalibrated"] = json!(why);
            value["units_per_proof"] = json!(time(report.seconds_per_job()));
            value["units"] = json!(time(report.seconds));
        }
        None => {
            value["seconds_per_proof"] = json!(report.seconds_per_job());
            value["seconds"] = json!(report.seconds);
            value["mean_latency_s"] = json!(report.mean_latency_s);
            value["worst_latency_s"] = json!(report.worst_latency_s);
            if let Some(calibration) = &study.costs().calibration {
                value["calibration"] = json!({
                    "source": calibration.source, "sku": calibration.sku, "rows": calibration.rows,
                    "median_error": calibration.median_error, "worst_error": calibration.worst_error,
                });
            }
        }
    }
    value
}

fn put_time(value: &mut Value, clock: &Clock, name: &str, time: f64) {
    let unit = if clock.why.is_some() { "units" } else { "s" };
    value[format!("{name}_{unit}")] = json!(time);
}

fn print(study: &Study, report: &Report) {
    let clock = Clock::of(study, report);
    let (time, unit) = (|seconds: f64| seconds / clock.unit_s, if clock.why.is_some() { "" } else { " s" });
    if let Some(why) = &clock.why {
        say!("no seconds: {why}; times are in units of the longest stage's firing");
    }
    say!(
        "{}: {} jobs, {:.2}{unit}/proof, latency {:.1}{unit} on average and {:.1}{unit} at most",
        study.plan().graph,
        report.jobs,
        time(report.seconds_per_job()),
        time(report.mean_latency_s),
        time(report.worst_latency_s)
    );
    if study.knows_sizes() {
        say!("memory {:.1} GiB at its peak", report.peak_ram_bytes / GIB);
    } else {
        say!("memory is not known: the graph states no `sizes`");
    }
    let devices = report.gpu_utilisation.iter().zip(&report.lock_utilisation).zip(&report.peak_vram_bytes);
    for (device, ((computing, locked), vram)) in devices.enumerate() {
        say!(
            "device {device}: computes {:.0}% of the time, locked {:.0}%, {:.1} GiB of its memory at the peak",
            100.0 * computing,
            100.0 * locked,
            *vram as f64 / GIB
        );
    }
    say!(
        "  {:14} {:>7} {:>8} {:>10} {:>10} {:>11} {:>6} {:>10}",
        "stage",
        "workers",
        "firings",
        "busy",
        "waited",
        "for permits",
        "busy",
        "× alone"
    );
    for stage in &report.stages {
        say!(
            "  {:14} {:>7} {:>8} {:>10.1} {:>10.1} {:>11.1} {:>5.0}% {:>10.2}",
            stage.name,
            stage.workers,
            stage.firings,
            time(stage.busy_s),
            time(stage.waited_s),
            time(stage.waited_for_permits_s),
            100.0 * stage.busy_s / (report.seconds * f64::from(stage.workers)).max(f64::MIN_POSITIVE),
            stage.inflation()
        );
    }
    if let (None, Some(calibration)) = (&clock.why, &study.costs().calibration) {
        say!(
            "calibrated on {} {} ({}): off by {:.1}% in the median, {:.1}% at most",
            calibration.rows,
            if calibration.rows == 1 { "row" } else { "rows" },
            calibration.source,
            100.0 * calibration.median_error,
            100.0 * calibration.worst_error
        );
    }
}
