//! The same load over every combination of some settings.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use pipeline_runtime::sim::Report;

use crate::settings::expect_distinct;
use crate::{Conditions, SettingError, Study, StudyError, Submitted};

/// A setting and the values that it takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Axis {
    /// The setting's path: `stages.spmv.workers`.
    pub path: String,
    /// Its values.
    pub values: Vec<String>,
}

/// No more combinations than this are tried: more would be a mistake in the ranges.
pub const MOST_POINTS: usize = 1_000_000;

impl Axis {
    /// Reads `PATH=1..16`, `PATH=1..16:5` (in steps of 5) or `PATH=4,8,12`. `workers` alone is the source's, and
    /// `permits.NAME` is the pool of that name.
    ///
    /// # Errors
    /// It is none of these, the graph has no such field, or the field cannot have one of the values.
    pub fn parse(text: &str, study: &Study) -> Result<Self, SettingError> {
        let none = || SettingError::NoValues(text.to_owned());
        let (path, values) = text.split_once('=').ok_or_else(none)?;
        let path = study.in_full(path);
        let values: Vec<String> = match values.split_once("..") {
            None => values.split(',').map(|value| value.trim().to_owned()).collect(),
            Some((from, to)) => {
                let (to, step) = to.split_once(':').unwrap_or((to, "1"));
                let number = |text: &str| text.trim().trim_start_matches('=').parse::<u32>().map_err(|_| none());
                let (from, to, step) = (number(from)?, number(to)?, number(step)?);
                let why = match to.checked_sub(from).map(|span| span.checked_div(step)) {
                    None => Some("a range goes up: its first number is the smaller one"),
                    Some(None) => Some("a range cannot go in steps of 0"),
                    Some(Some(steps)) if steps as usize >= MOST_POINTS => {
                        Some("the range has more than 1,000,000 values")
                    }
                    Some(Some(_)) => None,
                };
                if let Some(why) = why {
                    return Err(SettingError::BadValue { path, value: values.to_owned(), why: why.to_owned() });
                }
                (from..=to).step_by(step as usize).map(|value| value.to_string()).collect()
            }
        };
        if values.is_empty() || values.iter().any(String::is_empty) {
            return Err(none());
        }
        let axis = Self { path, values };
        axis.fits(study)?;
        Ok(axis)
    }
}

impl Axis {
    /// Whether the graph has such a field, and each value is one that it may have.
    fn fits(&self, study: &Study) -> Result<(), SettingError> {
        let mut probe = study.clone();
        self.values.iter().try_for_each(|value| probe.set_one(&format!("{}={value}", self.path)))
    }
}

/// One combination and what came of it.
#[derive(Debug)]
pub struct Point {
    /// The values, in the order of the axes.
    pub values: Vec<String>,
    /// The figures, or why there are none: a combination may have a deadlock, or not fit.
    pub outcome: Result<Report, StudyError>,
    /// Why the machine would not run it though there are figures.
    pub would_not_run: Option<String>,
}

/// Runs every combination, on all processors. `progress` hears how many are done. The points come in the order of the
/// axes, the last one fastest, whatever ran first.
///
/// # Errors
/// An axis names no setting, or there are more combinations than [`MOST_POINTS`].
pub fn sweep(
    study: &Study,
    axes: &[Axis],
    submitted: Submitted,
    conditions: &Conditions<'_>,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<Point>, StudyError> {
    let count = axes.iter().try_fold(1_usize, |all, axis| all.checked_mul(axis.values.len()));
    let Some(count) = count.filter(|count| *count <= MOST_POINTS) else {
        return Err(StudyError::TooMany { most: MOST_POINTS });
    };
    expect_distinct(axes.iter().map(|axis| axis.path.clone()))?;
    // What a field cannot be is a mistake; a combination that does not run is a point without figures.
    axes.iter().try_for_each(|axis| axis.fits(study))?;
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let points: Mutex<Vec<Option<Point>>> = Mutex::new((0..count).map(|_| None).collect());
    let (contention, seed) = (conditions.contention, conditions.seed);
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            let point = point(study, axes, number, submitted, contention, seed);
            points.lock().unwrap_or_else(PoisonError::into_inner)[number] = Some(point);
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, count);
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(count);
    std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
    Ok(points.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect())
}

fn point(study: &Study, axes: &[Axis], number: usize, submitted: Submitted, contention: bool, seed: u64) -> Point {
    let (mut rest, mut values) = (number, Vec::with_capacity(axes.len()));
    for axis in axes.iter().rev() {
        values.push(axis.values[rest % axis.values.len()].clone());
        rest /= axis.values.len();
    }
    values.reverse();
    let run = || {
        let mut study = study.clone();
        axes.iter().zip(&values).try_for_each(|(axis, value)| study.set(&format!("{}={value}", axis.path)))?;
        let report = study.run(submitted, &Conditions { contention, seed, observer: None })?;
        let would_not_run = study.would_not_run(&report);
        Ok((report, would_not_run))
    };
    match run() {
        Ok((report, would_not_run)) => Point { values, outcome: Ok(report), would_not_run },
        Err(error) => Point { values, outcome: Err(error), would_not_run: None },
    }
}
