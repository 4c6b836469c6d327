//! Fits a few numbers of a cost model to measured rows.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use pipeline_runtime::sim::{Calibration, Costs, StageReport};

use crate::doubts::{doubts, measured};
use crate::lawful::expect_lawful;
use crate::settings::number_of;
use crate::{Busy, Conditions, Fit, Free, Row, Study, StudyError, Submitted, read_costs};

const GIB: f64 = (1_u64 << 30) as f64;

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
    pub fn of_seconds(&self) -> Option<f64> {
        self.row.seconds_per_proof.map(|measured| self.seconds_per_proof / measured - 1.0)
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
    /// Why the model may say little where nobody measured: a sentence each.
    pub doubts: Vec<String>,
}

/// Fits by pattern search: each number in turn is moved up and down by a step, and where a round helped, all that moved
/// move on together; the step shrinks when nothing helps. Simulations are exact and cheap, so this needs no derivatives,
/// and the same file gives the same costs.
///
/// # Errors
/// A row cannot be simulated, or more numbers may move than were measured: then the rows decide nothing.
pub fn fit(file: &Path, fit: &Fit, progress: &dyn Fn(u32, f64)) -> Result<Fitted, StudyError> {
    let (mut costs, rows) = search(file, fit, &fit.rows, progress)?;
    let doubts = doubts(fit, &mut costs)?;
    let mut errors: Vec<f64> = rows.iter().filter_map(|row| row.of_seconds().map(f64::abs)).collect();
    errors.sort_by(f64::total_cmp);
    costs.calibration = Some(Calibration {
        source: fit.source.clone(),
        sku: fit.sku.clone(),
        median_error: errors.get(errors.len() / 2).copied().unwrap_or(0.0),
        worst_error: errors.last().copied().unwrap_or(0.0),
        rows: u32::try_from(errors.len()).unwrap_or(u32::MAX),
        left_out_median: None,
        left_out_worst: None,
    });
    Ok(Fitted { costs, rows, doubts })
}

/// Each row with seconds, predicted by a fit to all others: what the model is worth where nobody measured.
///
/// # Errors
/// As [`fit`].
pub fn leave_one_out(file: &Path, fit: &Fit, progress: &dyn Fn(u32, f64)) -> Result<Vec<RowError>, StudyError> {
    let mut predicted = Vec::new();
    for (number, row) in fit.rows.iter().enumerate().filter(|(_, row)| row.seconds_per_proof.is_some()) {
        let others: Vec<Row> =
            fit.rows.iter().enumerate().filter(|(at, _)| *at != number).map(|(_, row)| row.clone()).collect();
        let (costs, _) = search(file, fit, &others, &|_, _| ())?;
        let study = study_of(file, row, &costs)?;
        let errors = judge(&[study], std::slice::from_ref(row), &costs, fit.seeds)?;
        errors
            .iter()
            .for_each(|error| progress(u32::try_from(number).unwrap_or(u32::MAX), error.of_seconds().unwrap_or(0.0)));
        predicted.extend(errors);
    }
    Ok(predicted)
}

/// What a stored cost model says of the rows.
///
/// # Errors
/// A row cannot be simulated.
pub fn judge_rows(file: &Path, fit: &Fit, costs: &Costs) -> Result<Vec<RowError>, StudyError> {
    expect_lawful(file, fit, costs)?;
    let studies = fit.rows.iter().map(|row| study_of(file, row, costs)).collect::<Result<Vec<_>, _>>()?;
    judge(&studies, &fit.rows, costs, fit.seeds)
}

fn search(
    file: &Path,
    fit: &Fit,
    rows: &[Row],
    progress: &dyn Fn(u32, f64),
) -> Result<(Costs, Vec<RowError>), StudyError> {
    const ROUNDS: u32 = 40;
    const LAST_STEP: f64 = 1.0 / 128.0;
    let measured = measured(rows);
    if fit.free.len() > measured {
        let free = fit.free.len();
        let why = format!(
            "{free} numbers may move and {measured} were measured: many models fit them equally; measure more, or let fewer \
             numbers move"
        );
        return Err(StudyError::NoModel(why));
    }
    let mut costs = read_costs(&file.with_file_name(&fit.start))?;
    expect_lawful(file, fit, &costs)?;
    let studies = rows.iter().map(|row| study_of(file, row, &costs)).collect::<Result<Vec<_>, _>>()?;
    let loss_of = |costs: &Costs| judge(&studies, rows, costs, fit.seeds).map(|errors| loss(&errors));
    let mut best = loss_of(&costs)?;
    let mut step = 0.25;
    for round in 0..ROUNDS {
        let mut moves = vec![0.0; fit.free.len()];
        for (free, moved) in fit.free.iter().zip(&mut moves) {
            for direction in [step, -step] {
                let mut other = costs.clone();
                shift(&mut other, free, direction)?;
                let loss = if other == costs { best } else { loss_of(&other)? };
                if loss < best {
                    (best, costs, *moved) = (loss, other, direction);
                    break;
                }
            }
        }
        if moves.iter().all(|moved| *moved == 0.0) {
            step /= 2.0;
            if step < LAST_STEP {
                break;
            }
        } else {
            let mut onward = costs.clone();
            fit.free.iter().zip(&moves).try_for_each(|(free, moved)| shift(&mut onward, free, *moved))?;
            let loss = loss_of(&onward)?;
            if loss < best {
                (best, costs) = (loss, onward);
            }
        }
        progress(round, best);
    }
    let errors = judge(&studies, rows, &costs, fit.seeds)?;
    Ok((costs, errors))
}

fn study_of(file: &Path, row: &Row, costs: &Costs) -> Result<Study, StudyError> {
    let mut study = Study::with_costs(&file.with_file_name(&row.graph), costs.clone())?;
    study.expect_costs()?;
    row.set.iter().try_for_each(|setting| study.set(setting))?;
    Ok(study)
}

/// All rows, on all processors.
fn judge(studies: &[Study], rows: &[Row], costs: &Costs, seeds: u64) -> Result<Vec<RowError>, StudyError> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new((0..rows.len()).map(|_| None).collect::<Vec<_>>()));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let (Some(study), Some(row)) = (studies.get(number), rows.get(number)) else { return };
            let error = judge_row(study, row, costs, seeds.max(1));
            done.lock().unwrap_or_else(PoisonError::into_inner)[number] = Some(error);
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(rows.len());
    std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
    done.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect()
}

fn judge_row(study: &Study, row: &Row, costs: &Costs, seeds: u64) -> Result<RowError, StudyError> {
    let study = Study { costs: costs.clone(), ..study.clone() };
    let submitted = Submitted { jobs: row.jobs, concurrency: row.concurrency, partitions: None };
    let mut error = RowError { row: row.clone(), seconds_per_proof: 0.0, peak_rss_gib: 0.0, busy_s: 0.0 };
    let part = 1.0 / seeds as f64;
    for seed in 0..seeds {
        let report = study.run(submitted, &Conditions { seed, ..Conditions::default() })?;
        error.seconds_per_proof += part * report.seconds_per_job();
        error.peak_rss_gib += part * report.peak_ram_bytes / GIB;
        let stage = row.busy.as_ref().and_then(|busy| report.stages.iter().find(|stage| stage.name == busy.stage));
        let left_out = row.busy.as_ref().map_or(0.0, |busy| study.left_out_s(busy));
        let busy = |stage: &StageReport| stage.busy_s - left_out * stage.firings as f64;
        error.busy_s += part * stage.map_or(0.0, busy) / report.jobs.max(1) as f64;
    }
    Ok(error)
}

impl Study {
    /// Seconds of a firing that [`Busy::without`] leaves out.
    fn left_out_s(&self, busy: &Busy) -> f64 {
        let costs = self.costs_of_graph();
        let pieces = costs.stages.get(&busy.stage).map(|cost| cost.work.as_slice()).unwrap_or_default();
        pieces.iter().filter(|work| busy.without.as_ref() == Some(&work.name)).map(|work| work.wait_s).sum()
    }
}

/// The sum of squared relative errors; a row that is far off counts more than several that are near.
fn loss(rows: &[RowError]) -> f64 {
    let square = |error: f64| error * error;
    // What is asked for is throughput; stages and memory keep the fit from getting it right for a wrong reason. Memory
    // says little of anything but itself.
    let of = |row: &RowError| {
        let seconds = row.of_seconds().map(square);
        let beside = if seconds.is_some() { 4.0 } else { 1.0 };
        seconds.unwrap_or(0.0) + row.of_busy().map_or(0.0, square) / beside + row.of_memory().map_or(0.0, square) / 16.0
    };
    rows.iter().map(of).sum()
}

/// Moves a number by a part of its range.
fn shift(costs: &mut Costs, free: &Free, by: f64) -> Result<(), StudyError> {
    let mut factor = None;
    for path in free.path.split_whitespace() {
        let words: Vec<&str> = path.split('.').collect();
        let (number, kind) = number_of(costs, &words, path)?;
        match factor {
            None => {
                let moved = (*number + by * (free.to - free.from)).clamp(free.from, free.to);
                factor = Some(if *number > 0.0 { moved / *number } else { 1.0 });
                *number = moved;
            }
            // What moves along stays what it may be.
            Some(factor) if kind.takes(*number * factor) => *number *= factor,
            Some(_) => {}
        }
    }
    Ok(())
}
