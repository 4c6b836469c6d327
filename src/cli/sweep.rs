//! `proofline sweep`: a graph under many settings.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::path::PathBuf;

use clap::Args;
use proofline::study::{Axis, Conditions, Point, Study, sweep};

use super::exit::Fault;
use super::files;
use super::sim::What;

const GIB: f64 = (1_u64 << 30) as f64;

/// Runs a graph in virtual time under every combination of some settings.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  proofline sweep graphs/study/cuzk-phase12.ron --vary workers=1..16 --plot out/sweep.svg\n  \
                  proofline sweep graphs/study/cuzk-phase12.ron --vary workers=1..16 --vary permits.mem_heavy=4,8,12\n\n\
                  `workers` alone is the source's; `permits.NAME` is the pool of that name."
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
    /// Draws time for each proof over the first setting, a line for each combination of the others
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

impl Sweep {
    pub fn run(&self) -> Result<(), Fault> {
        let study = self.what.study(&self.graph)?;
        let axes = self.vary.iter().map(|text| Axis::parse(text, &study)).collect::<Result<Vec<_>, _>>();
        let axes = axes.map_err(proofline::study::StudyError::from)?;
        let terminal = std::io::stderr().is_terminal();
        let progress = |done: usize, all: usize| {
            if terminal && (done.is_multiple_of(16) || done == all) {
                // A line that cannot be drawn is no fault of the work.
                let _ = write!(std::io::stderr(), "\r{done} of {all}{}", if done == all { "\n" } else { "" });
            }
        };
        let conditions = Conditions { contention: !self.what.no_contention, seed: self.what.seed, observer: None };
        let points = sweep(&study, &axes, self.what.submitted(), &conditions, &progress)?;
        let unit = Unit::of(&study, &points);
        let table = csv(&axes, &points, &unit);
        match &self.csv {
            Some(file) => files::write(file, table.as_bytes())?,
            None => print!("{table}"),
        }
        if let Some(file) = &self.plot {
            files::write(file, svg(&axes, &points, &unit).as_bytes())?;
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
        let times =
            points.iter().filter_map(|point| point.outcome.as_ref().ok()).map(|report| report.seconds_per_job());
        Self { seconds: times.fold(f64::INFINITY, f64::min), name: "times_the_best" }
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
                let gpu = report.gpu_utilisation.first().copied().unwrap_or(0.0);
                let (time, memory) = (report.seconds_per_job() / unit.seconds, report.peak_ram_bytes / GIB);
                text.push_str(&format!("{time:.4},{memory:.3},{gpu:.4},\n"));
            }
            Err(why) => text.push_str(&format!(",,,\"{}\"\n", why.to_string().replace('"', "\"\""))),
        }
    }
    text
}

/// Lines over the first axis. Its values are spread evenly, so words do as well as numbers.
fn svg(axes: &[Axis], points: &[Point], unit: &Unit) -> String {
    const WIDTH: f64 = 860.0;
    const HEIGHT: f64 = 420.0;
    const MARGIN: f64 = 70.0;
    const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
    let mut lines: BTreeMap<String, Vec<(usize, f64)>> = BTreeMap::new();
    for point in points {
        let Ok(report) = &point.outcome else { continue };
        let others: Vec<String> =
            axes.iter().zip(&point.values).skip(1).map(|(axis, value)| format!("{}={value}", axis.path)).collect();
        let at = axes[0].values.iter().position(|value| *value == point.values[0]).unwrap_or(0);
        lines.entry(others.join(" ")).or_default().push((at, report.seconds_per_job() / unit.seconds));
    }
    let highest = lines.values().flatten().map(|(_, time)| *time).fold(f64::MIN_POSITIVE, f64::max);
    let steps = axes[0].values.len().saturating_sub(1).max(1) as f64;
    let x = |at: usize| MARGIN + (WIDTH - 2.0 * MARGIN) * at as f64 / steps;
    let y = |time: f64| HEIGHT - MARGIN - (HEIGHT - 2.0 * MARGIN) * time / highest;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let mut add = |text: String| svg.push_str(&text);
    for tick in 0..=4 {
        let time = highest * f64::from(tick) / 4.0;
        add(format!(
            "<line x1=\"{MARGIN}\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#ddd\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{time:.1}</text>\n",
            WIDTH - MARGIN,
            MARGIN - 6.0,
            y(time) + 4.0,
            at = y(time),
        ));
    }
    for (at, value) in axes[0].values.iter().enumerate() {
        add(format!(
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
            x(at),
            HEIGHT - MARGIN + 18.0,
            escaped(value)
        ));
    }
    add(format!(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
        WIDTH / 2.0,
        HEIGHT - 20.0,
        escaped(&axes[0].path)
    ));
    add(format!("<text x=\"{MARGIN}\" y=\"30\">{}</text>\n", unit.name.replace('_', " ")));
    for (number, (name, line)) in lines.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        let mut path = String::new();
        for (at, time) in line {
            // Writing to a string cannot fail.
            let _ = write!(path, "{:.1},{:.1} ", x(*at), y(*time));
        }
        add(format!("<polyline points=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\n"));
        add(format!(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"{colour}\">{}</text>\n",
            WIDTH - MARGIN,
            30 + 16 * number,
            escaped(name)
        ));
    }
    svg.push_str("</svg>\n");
    svg
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
