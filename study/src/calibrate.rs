//! Fits a few numbers of a cost model to measured rows.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use pipeline_runtime::sim::{Calibration, Costs, StageReport};
use serde::Deserialize;

use crate::numbers::{Fault, Kind, MOST, Step};
use crate::read::{MOST_BYTES, options, text_of};
use crate::settings::number_of;
use crate::{Conditions, SettingError, Study, StudyError, Submitted, place, read_costs};

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
    /// Each row is simulated with so many seeds, and their mean is compared. At least 1.
    #[serde(default)]
    pub seeds: u64,
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
    /// Seconds for each job, where that was measured.
    #[serde(default)]
    pub seconds_per_proof: Option<f64>,
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
    /// A piece of the stage's cost that the measurement leaves out: what a worker does when its clock has stopped. Only its
    /// `wait_s` counts.
    #[serde(default)]
    pub without: Option<String>,
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

/// Reads what to fit.
///
/// # Errors
/// It cannot be read or understood, or a number in it is not what it may be.
pub fn read_fit(file: &Path) -> Result<Fit, StudyError> {
    let text = text_of(file, MOST_BYTES)?;
    let fit: Fit = options().from_str(&text).map_err(|error| place::unreadable(file, &text, &error))?;
    fault_of(&fit).map_or(Ok(fit), |fault| Err(place::fault_in(file, &text, &fault)))
}

/// The first number of a fit that is not what it may be.
fn fault_of(fit: &Fit) -> Option<Fault> {
    const MOST_SEEDS: u64 = 1000;
    let field = |name| vec![Step::Field(name)];
    if fit.version != 1 {
        let why = format!("version {} of the format is not known; this program reads version 1", fit.version);
        return Some(Fault::because(field("version"), "version", why));
    }
    if fit.seeds > MOST_SEEDS {
        return Some(Fault::new(field("seeds"), "seeds", fit.seeds, "a number of seeds, 0 to 1000"));
    }
    if fit.sku.trim().is_empty() {
        return Some(Fault::new(field("sku"), "sku", "an empty name", "that of a SKU"));
    }
    if fit.rows.is_empty() {
        return Some(Fault::because(field("rows"), "rows", "nothing was measured; write at least one row"));
    }
    for (at, free) in fit.free.iter().enumerate() {
        let way = |name| vec![Step::Field("free"), Step::Item(at), Step::Field(name)];
        let name = free.path.split_whitespace().next().unwrap_or_default();
        if name.is_empty() {
            return Some(Fault::new(way("path"), format!("free[{at}].path"), "nothing", "host.smt_gain, say"));
        }
        let fits = free.from.is_finite() && free.to.is_finite() && free.from >= 0.0 && free.from < free.to;
        if !fits {
            let found = format!("{} to {}", free.from, free.to);
            let allowed = "numbers from 0, `from` below `to`";
            return Some(Fault::new(way("from"), format!("the range of {name}"), found, allowed));
        }
    }
    fit.rows.iter().enumerate().find_map(|(at, row)| fault_of_row(at, row)).or_else(|| contradiction(&fit.rows))
}

fn fault_of_row(at: usize, row: &Row) -> Option<Fault> {
    let way = |name| vec![Step::Field("rows"), Step::Item(at), Step::Field(name)];
    let called = |name| format!("{name} of the row \"{}\"", row.name);
    for (name, count) in [("jobs", row.jobs), ("concurrency", row.concurrency)] {
        if !(1..=MOST).contains(&count) {
            return Some(Fault::new(way(name), called(name), count, "a whole number, 1 to 65536"));
        }
    }
    let measured = [
        ("seconds_per_proof", row.seconds_per_proof, Kind::Measured),
        ("peak_rss_gib", row.peak_rss_gib, Kind::Gibibytes),
        ("busy", row.busy.as_ref().map(|busy| busy.seconds_per_proof), Kind::Measured),
    ];
    let wrong = measured.iter().find_map(|(name, number, kind)| {
        number.filter(|number| !kind.takes(*number)).map(|number| (*name, number, *kind))
    });
    if let Some((name, number, kind)) = wrong {
        return Some(Fault::new(way(name), called(name), number, kind.allowed()));
    }
    let nothing = measured.iter().all(|(_, number, _)| number.is_none());
    nothing.then(|| {
        let why = "it states nothing that was measured; write seconds_per_proof, peak_rss_gib or busy";
        Fault::because(vec![Step::Field("rows"), Step::Item(at)], format!("the row \"{}\"", row.name), why)
    })
}

/// Two rows of the same run with numbers that cannot both be right.
fn contradiction(rows: &[Row]) -> Option<Fault> {
    /// Runs of one configuration differ by some percent.
    const APART: f64 = 1.25;
    rows.iter().enumerate().find_map(|(at, row)| {
        let run = |row: &Row| (row.graph.clone(), row.set.clone(), row.jobs, row.concurrency);
        let (other, one) = rows[..at].iter().find_map(|other| {
            let (one, two) = (other.seconds_per_proof?, row.seconds_per_proof?);
            (run(other) == run(row) && one.max(two) > APART * one.min(two)).then_some((other, one))
        })?;
        let why = format!(
            "it is the same run as the row \"{}\", which took {one} s/proof; keep one of them, or their mean",
            other.name
        );
        let way = vec![Step::Field("rows"), Step::Item(at), Step::Field("seconds_per_proof")];
        Some(Fault::because(way, format!("seconds_per_proof of the row \"{}\"", row.name), why))
    })
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
    for free in &fit.free {
        for path in free.path.split_whitespace() {
            let words: Vec<&str> = path.split('.').collect();
            let (number, kind) = number_of(&mut costs, &words, path)?;
            let starts = *number;
            if !kind.takes(free.from) || !kind.takes(free.to) {
                let (value, why) = (format!("{} to {}", free.from, free.to), format!("write {}", kind.allowed()));
                return Err(SettingError::BadValue { path: path.to_owned(), value, why }.into());
            }
            // Those that move along with the first of a list have no range of their own.
            let is_first = free.path.split_whitespace().next() == Some(path);
            if is_first && !(free.from..=free.to).contains(&starts) {
                let why = format!("the fit starts there; its range is {} to {}", free.from, free.to);
                return Err(SettingError::BadValue { path: path.to_owned(), value: starts.to_string(), why }.into());
            }
        }
    }
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

/// A model that is off by more than this on what it was fitted to is none.
const USELESS: f64 = 0.5;

/// A model that is off by more than this is doubtful.
const DOUBTFUL: f64 = 0.1;

/// Whether a fitted model is worth to be written down; `Ok` is what to doubt about its errors.
///
/// # Errors
/// It is off by more than a half on what it was fitted to.
pub fn expect_usable(costs: &Costs) -> Result<Option<String>, StudyError> {
    let Some(calibration) = &costs.calibration else { return Ok(None) };
    let worst = calibration.worst_error;
    let percent = 100.0 * worst;
    // Written such that an error that is no number is refused.
    if worst <= DOUBTFUL {
        return Ok(None);
    }
    if worst <= USELESS {
        return Ok(Some(format!("the model is off by {percent:.0}% at most on what it was fitted to")));
    }
    Err(StudyError::NoModel(format!(
        "the model is off by {percent:.0}% at most on what it was fitted to, more than {:.0}%: it is not written; the rows \
         above say where: they contradict each other, or need a number that may not move",
        100.0 * USELESS
    )))
}

/// How many numbers were measured.
fn measured(rows: &[Row]) -> usize {
    let of = |row: &Row| {
        [row.seconds_per_proof.is_some(), row.peak_rss_gib.is_some(), row.busy.is_some()]
            .into_iter()
            .filter(|is| *is)
            .count()
    };
    rows.iter().map(of).sum()
}

/// Numbers that stand at an end of their range, and what else a reader should know.
fn doubts(fit: &Fit, costs: &mut Costs) -> Result<Vec<String>, StudyError> {
    /// The part of a range within which a number is at its end.
    const AT_THE_END: f64 = 1e-3;
    let (measured, free) = (measured(&fit.rows), fit.free.len());
    let mut doubts = Vec::new();
    if fit.rows.len() == 1 {
        doubts.push("one row was measured: nothing says what the model is worth elsewhere".to_owned());
    } else if measured < 2 * free {
        doubts.push(format!("{free} numbers were fitted to {measured} that were measured: fewer than two for each"));
    }
    for free in &fit.free {
        let path = free.path.split_whitespace().next().unwrap_or_default();
        let words: Vec<&str> = path.split('.').collect();
        let (number, _) = number_of(costs, &words, path)?;
        let near = AT_THE_END * (free.to - free.from);
        for (end, name) in [(free.from, "least"), (free.to, "most")] {
            // Nothing is less than nothing: that end is not the file's.
            if (*number - end).abs() <= near && end != 0.0 {
                let why = format!(
                    "`{path}` stands at {end}, the {name} that it may be: the rows want it beyond; widen its range"
                );
                doubts.push(why);
            }
        }
    }
    Ok(doubts)
}

fn study_of(file: &Path, row: &Row, costs: &Costs) -> Result<Study, StudyError> {
    let mut study = Study::with_costs(&file.with_file_name(&row.graph), costs.clone())?;
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
