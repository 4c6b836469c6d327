//! `proofline sweep`: a graph under many settings.

use std::io::{IsTerminal, Write as _};
use std::path::PathBuf;

use clap::Args;
use proofline::study::{Axis, Conditions, Point, Study, sweep};

use super::exit::Fault;
use super::files;
use super::sim::What;
use super::sweep_plot::{Panel, svg};

const GIB: f64 = (1_u64 << 30) as f64;

/// Runs a graph in virtual time under every combination of some settings.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  proofline sweep graphs/study/cuzk-phase12.ron --vary workers=1..16 --plot out/sweep.svg\n  \
                  proofline sweep graphs/study/permits.ron --vary workers=6..10:2 --vary permits.mem_heavy=1,2,4,8\n\n\
                  `workers` alone is the source's; `permits.NAME` is the pool of that name. The table's last \
                  column says why there are no figures, or why the machine would not run what has some."
)]
pub struct Sweep {
    /// The graph file
    graph: PathBuf,
    #[command(flatten)]
    what: What,
    /// A setting and its values: PATH=1..16, PATH=1..16:5 (in steps of 5), PATH=4,8,12
    #[arg(long, required = true, value_name = "PATH=VALUES")]
    vary: Vec<String>,
    /// Writes the table here instead of standard output, as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Draws time for each proof and memory over the first setting, a line for each combination of the others
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

impl Sweep {
    pub fn run(&self) -> Result<(), Fault> {
        let outputs = [("--csv", &self.csv), ("--plot", &self.plot)];
        let outputs = outputs.into_iter().filter_map(|(name, file)| Some((name, file.as_deref()?)));
        files::expect_apart(self.what.inputs(&self.graph), outputs)?;
        [&self.csv, &self.plot].into_iter().flatten().try_for_each(|file| files::expect_writable(file))?;
        let study = self.what.study(&self.graph)?;
        let axes = self.vary.iter().map(|text| Axis::parse(text, &study)).collect::<Result<Vec<_>, _>>();
        let axes = axes.map_err(proofline::study::StudyError::from)?;
        study.expect_not_set(&axes, &self.what.set)?;
        let terminal = std::io::stderr().is_terminal();
        let progress = |done: usize, all: usize| {
            if terminal && (done.is_multiple_of(16) || done == all) {
                // A line that cannot be drawn is no fault of the work.
                let _ = write!(std::io::stderr(), "\r{done} of {all}{}", if done == all { "\n" } else { "" });
            }
        };
        let conditions = Conditions { contention: !self.what.no_contention, seed: self.what.seed, observer: None };
        let points = sweep(&study, &axes, self.what.submitted(), &conditions, &progress)?;
        let unit = Unit::of(&study.varied(&axes), &points);
        let table = csv(&axes, &points, &unit);
        match &self.csv {
            Some(file) => files::write(file, table.as_bytes())?,
            None => super::say::text_as_it_is(format_args!("{table}")),
        }
        if let Some(file) = &self.plot {
            let time = Panel::new(unit.name.replace('_', " "), |report| report.seconds_per_job() / unit.seconds);
            let memory = Panel::new("peak memory, GiB".to_owned(), |report| report.peak_ram_bytes / GIB);
            let panels = if study.knows_sizes() { vec![time, memory] } else { vec![time] };
            files::write(file, svg(&study.plan().graph, &axes, &points, &panels).as_bytes())?;
        }
        Ok(())
    }
}

/// Seconds where the costs are calibrated; elsewhere the best point is 1.
struct Unit {
    seconds: f64,
    name: &'static str,
}

impl Unit {
    fn of(study: &Study, points: &[Point]) -> Self {
        if study.uncalibrated().is_none() {
            return Self { seconds: 1.0, name: "seconds_per_proof" };
        }
        // What the machine would not run is the best only where it would run nothing.
        let best = |only: fn(&Point) -> bool| {
            let reports = points.iter().filter(|point| only(point)).filter_map(|point| point.outcome.as_ref().ok());
            reports.map(|report| report.seconds_per_job()).min_by(f64::total_cmp)
        };
        let best = best(|point| point.would_not_run.is_none()).or_else(|| best(|_| true));
        Self { seconds: best.unwrap_or(f64::INFINITY), name: "times_the_best" }
    }
}

fn csv(axes: &[Axis], points: &[Point], unit: &Unit) -> String {
    let mut text = String::new();
    axes.iter().for_each(|axis| text.push_str(&format!("{},", axis.path)));
    text.push_str(unit.name);
    text.push_str(",peak_rss_gib,gpu_utilisation,why_not\n");
    for point in points {
        point.values.iter().for_each(|value| text.push_str(&format!("{value},")));
        match &point.outcome {
            Ok(report) => {
                let why_not = point.would_not_run.as_deref().map_or_else(String::new, quoted);
                let gpu = report.gpu_utilisation.first().copied().unwrap_or(0.0);
                let (time, memory) = (report.seconds_per_job() / unit.seconds, report.peak_ram_bytes / GIB);
                text.push_str(&format!("{time:.4},{memory:.3},{gpu:.4},{why_not}\n"));
            }
            Err(why) => text.push_str(&format!(",,,{}\n", quoted(&why.to_string()))),
        }
    }
    text
}

/// A sentence as a field of CSV.
fn quoted(why: &str) -> String {
    format!("\"{}\"", why.replace('"', "\"\""))
}
