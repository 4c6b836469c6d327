//! `proofline calibrate`: a cost model from measurements.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use proofline::runtime::sim::Costs;
use proofline::study::numbers::MOST_CONSTRAINTS;
use proofline::study::{
    RowError, Study, Trace, TracedOn, costs_text, doubts_of_traces, expect_usable, fit, fit_traces, leave_one_out,
    name_of_machine, no_costs, read_fit, read_sku, read_trace,
};

use super::exit::Fault;
use super::files;

/// Fits a cost model to measured rows, or to traces of a graph's own runs.
#[derive(Args)]
#[command(
    group = ArgGroup::new("what").required(true),
    after_help = "Examples:\n  proofline calibrate graphs/study/cuzk-fit.ron --out out/costs.ron\n  \
                  proofline prove --circuit sha256:4 --params out/keys --count 32 --trace out/run.json\n  \
                  proofline sku probe > graphs/skus/mine.ron\n  \
                  proofline calibrate --trace out/run.json --graph graphs/host.ron --sku mine --out out/costs.ron\n  \
                  proofline sim graphs/host.ron --costs out/costs.ron --sku mine --set stages.synthesize.workers=4"
)]
pub struct Calibrate {
    /// What to fit to what: rows, the numbers that may move, the model to start from
    #[arg(group = "what")]
    fit: Option<PathBuf>,
    /// Traces of runs of one graph, as `prove --trace` writes them
    #[arg(long, value_name = "FILE", num_args = 1.., group = "what", requires = "graph")]
    trace: Vec<PathBuf>,
    /// The graph that the traces are of
    #[arg(long, value_name = "GRAPH", requires = "trace")]
    graph: Option<PathBuf>,
    /// The machine that they were made on: a SKU [default: the graph's]
    #[arg(long, value_name = "NAME", requires = "trace")]
    sku: Option<String>,
    /// Constraints of the circuit that was proved; without it any circuit costs the same
    #[arg(long, value_name = "N", default_value_t = 0, requires = "trace", value_parser = clap::value_parser!(u64).range(0..=MOST_CONSTRAINTS))]
    constraints: u64,
    /// Also predicts each row by a fit to all others: takes as many times as long as there are rows
    #[arg(long, requires = "fit")]
    leave_one_out: bool,
    /// The file to write the cost model to; without it only the errors are printed
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Calibrate {
    pub fn run(&self) -> Result<(), Fault> {
        if let Some(file) = &self.out {
            let fit = self.fit.iter().map(|file| ("the fit", file.as_path()));
            let traces = self.trace.iter().map(|file| ("--trace", file.as_path()));
            let graph = self.graph.iter().map(|file| ("--graph", file.as_path()));
            files::expect_apart(fit.chain(traces).chain(graph), [("--out", file.as_path())])?;
            files::expect_writable(file)?;
        }
        match (&self.fit, &self.graph) {
            (Some(fit), _) => self.to_rows(fit),
            (None, Some(graph)) => self.to_traces(graph),
            (None, None) => Err(Fault::Usage("say which graph the traces are of: --graph GRAPH".into())),
        }
    }

    fn to_rows(&self, file: &Path) -> Result<(), Fault> {
        let what = read_fit(file)?;
        let progress = |round: u32, loss: f64| tell!("round {round}: sum of squares {loss:.6}");
        let fitted = fit(file, &what, &progress)?;
        say!(
            "  {:44} {:>8} {:>9} {:>7} {:>8} {:>9} {:>7}",
            "row",
            "s/proof",
            "simulated",
            "off",
            "GiB",
            "simulated",
            "off"
        );
        fitted.rows.iter().for_each(print_row);
        let mut costs = fitted.costs;
        if self.leave_one_out {
            say!("each row predicted by a fit to all others:");
            let progress = |row: u32, off: f64| tell!("row {row}: off by {:+.1}%", 100.0 * off);
            let predicted = leave_one_out(file, &what, &progress)?;
            predicted.iter().for_each(print_row);
            let mut errors: Vec<f64> = predicted.iter().filter_map(|row| row.of_seconds().map(f64::abs)).collect();
            errors.sort_by(f64::total_cmp);
            if let Some(calibration) = &mut costs.calibration {
                calibration.left_out_median = errors.get(errors.len() / 2).copied();
                calibration.left_out_worst = errors.last().copied();
            }
        }
        self.write(&costs, fitted.doubts)
    }

    fn to_traces(&self, graph: &Path) -> Result<(), Fault> {
        let traces = self.trace.iter().map(|file| read_trace(file)).collect::<Result<Vec<_>, _>>()?;
        if let Some((one, other)) = same_run(&traces) {
            let (one, other) = (self.trace[one].display(), self.trace[other].display());
            let why = format!("{one} and {other} are the same run, which would count twice; give each run once");
            return Err(Fault::Usage(why));
        }
        let mut study = Study::with_costs(graph, no_costs())?;
        if let Some(name) = &self.sku {
            study.on_sku(read_sku(graph, name)?);
        }
        let names: Vec<String> = self.trace.iter().map(|file| file.display().to_string()).collect();
        let told = TracedOn {
            sku: self.sku.clone().unwrap_or_else(|| name_of_machine(&study, graph)),
            source: format!("traces {}", names.join(", ")),
            constraints: self.constraints,
        };
        let progress = |round: u32, worst: f64| tell!("round {round}: stages off by {:.2}% at most", 100.0 * worst);
        let (costs, rows) = fit_traces(&study, &traces, &told, &progress)?;
        say!("  {:44} {:>5} {:>3} {:>10} {:>10} {:>7}", "trace", "jobs", "j", "s/proof", "simulated", "off");
        for (name, row) in names.iter().zip(&rows) {
            let (off, jobs, j) = (100.0 * row.off(), row.jobs, row.concurrency);
            say!("  {name:44} {jobs:>5} {j:>3} {:>10.4} {:>10.4} {off:>+6.1}%", row.measured_s, row.simulated_s);
        }
        self.write(&costs, doubts_of_traces(&study, &traces))
    }

    fn write(&self, costs: &Costs, mut doubts: Vec<String>) -> Result<(), Fault> {
        if let Some(calibration) = &costs.calibration {
            let (median, worst) = (100.0 * calibration.median_error, 100.0 * calibration.worst_error);
            let rows = if calibration.rows == 1 { "row" } else { "rows" };
            say!("{} {rows}: off by {median:.1}% in the median, {worst:.1}% at most", calibration.rows);
            if let (Some(median), Some(worst)) = (calibration.left_out_median, calibration.left_out_worst) {
                let (median, worst) = (100.0 * median, 100.0 * worst);
                say!("each predicted by the others: off by {median:.1}% in the median, {worst:.1}% at most");
            }
        }
        doubts.extend(expect_usable(costs)?);
        doubts.iter().for_each(|doubt| tell!("warning: {doubt}"));
        let Some(out) = &self.out else { return Ok(()) };
        let text = costs_text(costs, &super::line::whole())
            .map_err(|error| Fault::Internal(format!("the costs cannot be written as RON: {error}")))?;
        // Whoever reads the file later is told as well.
        let doubts: String = doubts.iter().map(|doubt| format!("// Warning: {doubt}.\n")).collect();
        let text = doubts + &text;
        files::write(out, text.as_bytes())?;
        say!("written to {}", out.display());
        Ok(())
    }
}

/// Two traces that are one.
fn same_run(traces: &[Trace]) -> Option<(usize, usize)> {
    let pairs = (0..traces.len()).flat_map(|other| (0..other).map(move |one| (one, other)));
    pairs.into_iter().find(|(one, other)| traces[*one] == traces[*other])
}

fn print_row(row: &RowError) {
    let seconds = match (row.row.seconds_per_proof, row.of_seconds()) {
        (Some(measured), Some(off)) => format!("{measured:>8.1} {:>9.2} {:>+6.1}%", row.seconds_per_proof, 100.0 * off),
        _ => format!("{:>8} {:>9.2} {:>7}", "-", row.seconds_per_proof, ""),
    };
    let busy = match (&row.row.busy, row.of_busy()) {
        (Some(busy), Some(off)) => format!("  {} {:.1} {:+.1}%", busy.stage, row.busy_s, 100.0 * off),
        _ => String::new(),
    };
    let memory = match (row.row.peak_rss_gib, row.of_memory()) {
        (Some(measured), Some(off)) => format!("{measured:>8.0} {:>9.1} {:>+6.1}%", row.peak_rss_gib, 100.0 * off),
        _ => format!("{:>8} {:>9.1} {:>7}", "-", row.peak_rss_gib, ""),
    };
    say!("  {:44} {seconds} {memory}{busy}", row.row.name);
}
