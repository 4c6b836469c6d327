//! Fits a few numbers of a cost model to measured rows.

use std::path::{Path, PathBuf};

use pipeline_runtime::sim::{Calibration, Costs};
use serde::Deserialize;

use crate::settings::number_of;
use crate::{Conditions, Study, StudyError, Submitted, options, read_costs};

const GIB: f64 = (1_u64 << 30) as f64;

/// What is fitted to what: a file.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Fit")]
pub struct Fit {
    /// The version of the format: 1.
    pub version: u32,
    /// Who measured what, when, and where it was written down.
    pub source: String,
    /// The machine: a SKU.
    pub sku: String,
    /// The cost model to start from: a path from this file.
    pub start: PathBuf,
    /// The numbers that may move.
    pub free: Vec<Free>,
    /// What was measured.
    pub rows: Vec<Row>,
}

/// A number of the cost model that may move.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Free")]
pub struct Free {
    /// Where it stands: `host.smt_gain`, `synthesize.witness.stall`. Several that move together by one factor are
    /// separated by spaces.
    pub path: String,
    /// The least that it may be.
    pub from: f64,
    /// The most.
    pub to: f64,
}

/// A measured row.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Row")]
pub struct Row {
    /// What it was called.
    pub name: String,
    /// The graph: a path from this file.
    pub graph: PathBuf,
    /// Settings of the graph.
    #[serde(default)]
    pub set: Vec<String>,
    /// Jobs in all.
    pub jobs: u32,
    /// Jobs in flight.
    pub concurrency: u32,
    /// Seconds for each job.
    pub seconds_per_proof: f64,
    /// Peak memory, in GiB, where it was measured.
    #[serde(default)]
    pub peak_rss_gib: Option<f64>,
    /// Time that the firings of a stage took for each job, in seconds, where it was measured.
    #[serde(default)]
    pub busy: Option<Busy>,
}

/// Time in a stage.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Busy")]
pub struct Busy {
    /// The stage.
    pub stage: String,
    /// Seconds for each job, all its partitions added up.
    pub seconds_per_proof: f64,
}

/// How far a row is off.
#[derive(Clone, PartialEq, Debug)]
pub struct RowError {
    /// The row.
    pub row: Row,
    /// Simulated seconds for each job.
    pub seconds_per_proof: f64,
    /// Simulated peak memory, in GiB.
    pub peak_rss_gib: f64,
    /// Simulated seconds in the stage that [`Row::busy`] names, for each job.
    pub busy_s: f64,
}

impl RowError {
    /// Simulated / measured − 1.
    #[must_use]
    pub fn of_seconds(&self) -> f64 {
        self.seconds_per_proof / self.row.seconds_per_proof - 1.0
    }

    /// The same of the memory.
    #[must_use]
    pub fn of_memory(&self) -> Option<f64> {
        self.row.peak_rss_gib.map(|measured| self.peak_rss_gib / measured - 1.0)
    }

    /// The same of the time in a stage.
    #[must_use]
    pub fn of_busy(&self) -> Option<f64> {
        self.row.busy.as_ref().map(|busy| self.busy_s / busy.seconds_per_proof - 1.0)
    }
}

/// What came of a fit.
#[derive(Clone, PartialEq, Debug)]
pub struct Fitted {
    /// The cost model, with its calibration.
    pub costs: Costs,
    /// Row by row.
    pub rows: Vec<RowError>,
}

/// A fit could not be made.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    /// The file cannot be understood.
    #[error("{}:{line}:{column}: {why}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The line.
        line: usize,
        /// The column.
        column: usize,
        /// What is wrong.
        why: String,
    },
    /// A row, its graph or the costs.
    #[error(transparent)]
    Study(#[from] StudyError),
}

/// Reads what to fit.
///
/// # Errors
/// It cannot be read or understood.
pub fn read_fit(file: &Path) -> Result<Fit, CalibrateError> {
    let text = std::fs::read_to_string(file).map_err(|why| StudyError::Unreadable { file: file.to_owned(), why })?;
    let fit: Fit = options().from_str(&text).map_err(|error| CalibrateError::File {
        file: file.to_owned(),
        line: error.span.start.line,
        column: error.span.start.col,
        why: error.code.to_string(),
    })?;
    if fit.version == 1 && !fit.rows.is_empty() {
        return Ok(fit);
    }
    let why = "write `version: 1` and at least one row".to_owned();
    Err(CalibrateError::File { file: file.to_owned(), line: 1, column: 1, why })
}

/// Fits by coordinate search: each number in turn is moved up and down by a step, the step shrinks when nothing helps.
/// Simulations are exact and cheap, so this needs no derivatives, and the same file gives the same costs.
///
/// # Errors
/// A row cannot be simulated.
pub fn fit(file: &Path, fit: &Fit, progress: &dyn Fn(u32, f64)) -> Result<Fitted, CalibrateError> {
    const ROUNDS: u32 = 12;
    const LAST_STEP: f64 = 1.0 / 512.0;
    let mut costs = read_costs(&file.with_file_name(&fit.start))?;
    let studies = fit.rows.iter().map(|row| study_of(file, row, &costs)).collect::<Result<Vec<_>, _>>()?;
    let mut best = loss(&judge(&studies, &fit.rows, &costs)?);
    let mut step = 0.25;
    for round in 0..ROUNDS {
        let mut better = false;
        for free in &fit.free {
            for direction in [1.0, -1.0] {
                let mut moved = costs.clone();
                shift(&mut moved, free, direction * step)?;
                let loss = loss(&judge(&studies, &fit.rows, &moved)?);
                if loss < best {
                    (best, costs, better) = (loss, moved, true);
                    break;
                }
            }
        }
        progress(round, best);
        if !better {
            step /= 2.0;
            if step < LAST_STEP {
                break;
            }
        }
    }
    let rows = judge(&studies, &fit.rows, &costs)?;
    let mut errors: Vec<f64> = rows.iter().map(|row| row.of_seconds().abs()).collect();
    errors.sort_by(f64::total_cmp);
    costs.calibration = Some(Calibration {
        source: fit.source.clone(),
        sku: fit.sku.clone(),
        median_error: errors[errors.len() / 2],
        worst_error: errors.last().copied().unwrap_or(0.0),
        rows: u32::try_from(rows.len()).unwrap_or(u32::MAX),
    });
    Ok(Fitted { costs, rows })
}

fn study_of(file: &Path, row: &Row, costs: &Costs) -> Result<Study, StudyError> {
    let mut study = Study::with_costs(&file.with_file_name(&row.graph), costs.clone())?;
    row.set.iter().try_for_each(|setting| study.set(setting))?;
    Ok(study)
}

fn judge(studies: &[Study], rows: &[Row], costs: &Costs) -> Result<Vec<RowError>, StudyError> {
    let judge = |(study, row): (&Study, &Row)| {
        let study = Study { costs: costs.clone(), ..study.clone() };
        let submitted = Submitted { jobs: row.jobs, concurrency: row.concurrency, partitions: None };
        let report = study.run(submitted, &Conditions::default())?;
        let (seconds_per_proof, peak_rss_gib) = (report.seconds_per_job(), report.peak_ram_bytes / GIB);
        let stage = row.busy.as_ref().and_then(|busy| report.stages.iter().find(|stage| stage.name == busy.stage));
        let busy_s = stage.map_or(0.0, |stage| stage.busy_s / report.jobs.max(1) as f64);
        Ok(RowError { row: row.clone(), seconds_per_proof, peak_rss_gib, busy_s })
    };
    studies.iter().zip(rows).map(judge).collect()
}

/// The sum of squared relative errors; a row that is far off counts more than several that are near.
fn loss(rows: &[RowError]) -> f64 {
    let square = |error: f64| error * error;
    // What is asked for is throughput; memory and stages keep the fit from getting it right for a wrong reason.
    let beside = |error: Option<f64>| error.map_or(0.0, square) / 4.0;
    let of = |row: &RowError| square(row.of_seconds()) + beside(row.of_memory()) + beside(row.of_busy());
    rows.iter().map(of).sum()
}

/// Moves a number by a part of its range.
fn shift(costs: &mut Costs, free: &Free, by: f64) -> Result<(), StudyError> {
    let mut factor = None;
    for path in free.path.split_whitespace() {
        let words: Vec<&str> = path.split('.').collect();
        let number = number_of(costs, &words, path).map_err(StudyError::Setting)?;
        match factor {
            None => {
                let moved = (*number + by * (free.to - free.from)).clamp(free.from, free.to);
                factor = Some(if *number > 0.0 { moved / *number } else { 1.0 });
                *number = moved;
            }
            Some(factor) => *number *= factor,
        }
    }
    Ok(())
}
