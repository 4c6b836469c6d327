//! `proofline calibrate`: a cost model from measurements.

use std::path::PathBuf;

use clap::Args;
use proofline::study::{CalibrateError, RowError, costs_text, fit, read_fit};

use super::exit::Fault;
use super::files;

/// Fits a cost model to measured rows.
#[derive(Args)]
#[command(after_help = "Example:\n  proofline calibrate graphs/study/cuzk-fit.ron --out graphs/study/costs.ron")]
pub struct Calibrate {
    /// What to fit to what: rows, the numbers that may move, the model to start from
    fit: PathBuf,
    /// The file to write the cost model to; without it only the errors are printed
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Calibrate {
    pub fn run(&self) -> Result<(), Fault> {
        let what = read_fit(&self.fit).map_err(fault_of)?;
        let progress = |round: u32, loss: f64| eprintln!("round {round}: sum of squares {loss:.6}");
        let fitted = fit(&self.fit, &what, &progress).map_err(fault_of)?;
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
        if let Some(calibration) = &fitted.costs.calibration {
            let (median, worst) = (100.0 * calibration.median_error, 100.0 * calibration.worst_error);
            say!("{} rows: off by {median:.1}% in the median, {worst:.1}% at most", calibration.rows);
        }
        if let Some(out) = &self.out {
            let made_by = format!("proofline calibrate {} --out {}", self.fit.display(), out.display());
            let text = costs_text(&fitted.costs, &made_by)
                .map_err(|error| Fault::Internal(format!("the costs cannot be written as RON: {error}")))?;
            files::write(out, text.as_bytes())?;
            say!("written to {}", out.display());
        }
        Ok(())
    }
}

fn print_row(row: &RowError) {
    let memory = match (row.row.peak_rss_gib, row.of_memory()) {
        (Some(measured), Some(off)) => format!("{measured:>8.0} {:>9.1} {:>+6.1}%", row.peak_rss_gib, 100.0 * off),
        _ => format!("{:>8} {:>9.1} {:>7}", "-", row.peak_rss_gib, ""),
    };
    say!(
        "  {:44} {:>8.1} {:>9.2} {:>+6.1}% {memory}",
        row.row.name,
        row.row.seconds_per_proof,
        row.seconds_per_proof,
        100.0 * row.of_seconds()
    );
}

fn fault_of(error: CalibrateError) -> Fault {
    match error {
        CalibrateError::Study(error) => Fault::Study(error),
        CalibrateError::File { .. } => Fault::Unclear(error.to_string()),
    }
}
