//! `proofline tune`: a better graph, and why it is better.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use proofline::Error;
use proofline::study::{
    Axis, Conditions, Goal, Kind, Limits, Moved, Study, StudyError, Tuned, Wanted, free_fields, move_graph, tune,
};

use super::exit::Fault;
use super::files;
use super::sim::What;

const GIB: f64 = (1_u64 << 30) as f64;

/// Searches the free fields of a graph for a better one, in virtual time.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  proofline tune graphs/study/cuzk-phase12.ron --ram 256 --out out/phase12-256.ron\n  \
                  proofline tune graphs/study/cuzk-phase12.ron --goal latency --jobs 4 --concurrency 1\n  \
                  proofline tune graphs/study/cuzk-phase12.ron --vary workers=1..16 --vary stages.b_g2_msm.threads=16,32,64\n\n\
                  Without --vary everything is free that can be: workers and threads of the stages, counted pools, capacities of \
                  the edges, the policy. The graph that is written has passed `proofline check`, and says in comments what \
                  each change is good for. What it names, a SKU or a catalogue, goes along where it would not be found."
)]
pub struct Tune {
    /// The graph file
    graph: PathBuf,
    #[command(flatten)]
    what: What,
    /// What to make small: seconds for each proof, or from a proof's submission to its end
    #[arg(long, value_enum, default_value_t = GoalName::Throughput)]
    goal: GoalName,
    /// The most memory, in GiB [default: the machine's]
    #[arg(long, value_name = "GIB", value_parser = gib, allow_hyphen_values = true)]
    ram: Option<f64>,
    /// The most memory of each device, in GiB [default: the machine's]
    #[arg(long, value_name = "GIB", value_parser = gib, allow_hyphen_values = true)]
    vram: Option<f64>,
    /// Only these fields are free: PATH=1..16, PATH=1..16:5 (in steps of 5), PATH=4,8,12
    #[arg(long, value_name = "PATH=VALUES")]
    vary: Vec<String>,
    /// The file to write the graph to; without it it is printed
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GoalName {
    Throughput,
    Latency,
}

/// Memory on the command line.
fn gib(text: &str) -> Result<f64, String> {
    Kind::Gibibytes.parse(text).map_err(|allowed| format!("write {allowed}"))
}

/// By how much more something takes: 1.02 is +2.0 %. What is as good as nothing has no sign of its own.
fn percent(factor: f64) -> String {
    let tenths = (1000.0 * (factor - 1.0)).round();
    format!("{:+.1}%", if tenths == 0.0 { 0.0 } else { tenths / 10.0 })
}

/// The folder `skus` or `catalogues` of what a graph names.
fn make_folder_of(file: &Path) -> Result<(), Error> {
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|source| Error::Io { action: "create", file: folder.to_owned(), source })
}

impl Tune {
    pub fn run(&self) -> Result<(), Fault> {
        if let Some(file) = &self.out {
            files::expect_apart(self.what.inputs(&self.graph), [("--out", file)])?;
            files::expect_writable(file)?;
        }
        let study = self.what.study(&self.graph)?;
        // What the graph names must be there where it goes; asked before the work.
        if let Some(file) = &self.out {
            move_graph(&study.text()?, &self.graph, file)?;
        }
        let axes = match self.vary.as_slice() {
            [] => free_fields(&study),
            some => {
                some.iter().map(|text| Axis::parse(text, &study)).collect::<Result<_, _>>().map_err(StudyError::from)?
            }
        };
        let of_graph = self.what.set.iter().filter(|setting| !setting.trim_start().starts_with("costs."));
        let fixed: Vec<(String, String)> = of_graph
            .filter_map(|setting| setting.split_once('='))
            .map(|(path, value)| (study.in_full(path), value.trim().to_owned()))
            .collect();
        let vram = study.vram_bytes().unwrap_or(u64::MAX);
        let limits = Limits {
            ram_bytes: self.ram.map_or(study.ram_bytes().unwrap_or(u64::MAX) as f64, |gib| gib * GIB),
            vram_bytes: self.vram.map_or(vram as f64, |gib| gib * GIB),
        };
        let goal = match self.goal {
            GoalName::Throughput => Goal::Throughput,
            GoalName::Latency => Goal::Latency,
        };
        let terminal = std::io::stderr().is_terminal();
        let progress = |tried: usize, _: Option<f64>| {
            if terminal {
                // A line that cannot be drawn is no fault of the work.
                let _ = write!(std::io::stderr(), "\r{tried} graphs tried");
            }
        };
        let conditions = Conditions { contention: !self.what.no_contention, seed: self.what.seed, observer: None };
        let wanted = Wanted { goal, limits, submitted: self.what.submitted(), conditions };
        let tuned = tune(&study, &axes, &fixed, wanted, &progress)?;
        if terminal {
            tell!("");
        }
        let reason = self.reason(&study, &tuned, goal, limits);
        match &self.out {
            Some(file) => {
                let Moved { text, files: named } = move_graph(&tuned.text, &self.graph, file)?;
                for (beside, text) in &named {
                    make_folder_of(beside)?;
                    files::write(beside, text.as_bytes())?;
                }
                files::write(file, format!("{reason}{text}").as_bytes())?;
                reason.lines().for_each(|line| say!("{}", line.trim_start_matches("// ")));
                say!("written to {}", file.display());
                named.iter().for_each(|(beside, _)| say!("with it {}, which it names", beside.display()));
            }
            None => say!("{}", format!("{reason}{}", tuned.text).trim_end()),
        }
        Ok(())
    }

    /// The comment at the head of the file.
    fn reason(&self, study: &Study, tuned: &Tuned, goal: Goal, limits: Limits) -> String {
        let (what, of): (_, fn(&_) -> f64) = match goal {
            Goal::Throughput => ("time for each proof", proofline::runtime::sim::Report::seconds_per_job),
            Goal::Latency => ("time from a proof's submission to its end", |report| report.mean_latency_s),
        };
        let mut text = String::new();
        let mut line = |words: String| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "// {words}");
        };
        line(format!("Tuned by `{}`: {} graphs tried.", super::line::whole(), tuned.tried));
        let after = of(&tuned.after);
        let seconds = |time: f64| if study.uncalibrated().is_none() { format!("{time:.2} s") } else { String::new() };
        line(match tuned.before.as_ref().map(of) {
            None => "The graph did not run before.".to_owned(),
            Some(_) if !tuned.fitted_before => format!(
                "The graph did not fit before: {:.1} GiB of memory at the peak, {:.1} are allowed. Now {what} {}.",
                tuned.before.as_ref().map_or(0.0, |before| before.peak_ram_bytes / GIB),
                limits.ram_bytes / GIB,
                if study.uncalibrated().is_none() { seconds(after) } else { "is as small as was found".to_owned() }
            ),
            Some(before) if study.uncalibrated().is_none() => {
                format!("{} {what}: {} → {}.", percent(after / before), seconds(before), seconds(after))
            }
            Some(before) => format!("{} {what}.", percent(after / before)),
        });
        if study.knows_sizes() {
            line(format!(
                "Memory {:.1} GiB at its peak, {:.1} are allowed.",
                tuned.after.peak_ram_bytes / GIB,
                limits.ram_bytes / GIB
            ));
        }
        for change in &tuned.changes {
            let worth = match change.without {
                // A change may be there for the memory that it saves.
                Some(without) => match change.ram_without.filter(|ram| *ram > tuned.after.peak_ram_bytes) {
                    Some(ram) => format!("without it {}, and {:.1} GiB of memory", percent(without), ram / GIB),
                    None => format!("without it {}", percent(without)),
                },
                None => "without it the graph is not lawful, or exceeds the limits".to_owned(),
            };
            line(format!("{} {} → {}: {worth}.", change.path, change.from, change.to));
        }
        if tuned.changes.is_empty() {
            line("Nothing that was tried is better by 0.2% or more.".to_owned());
        }
        match (study.uncalibrated(), &study.costs().calibration) {
            (None, Some(calibration)) => line(format!(
                "The simulator is off by {:.1}% in the median and {:.1}% at most on the {} {} that it was calibrated on.",
                100.0 * calibration.median_error,
                100.0 * calibration.worst_error,
                calibration.rows,
                if calibration.rows == 1 { "row" } else { "rows" }
            )),
            (Some(why), _) => line(format!("No seconds: {why}.")),
            (None, None) => {}
        }
        text
    }
}
