//! What a fitted model is worth: what its readers should doubt, and when it is none.

use pipeline_runtime::sim::Costs;

use crate::from_traces::mean;
use crate::settings::number_of;
use crate::{Fit, Row, Study, StudyError, Trace};

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
pub(crate) fn measured(rows: &[Row]) -> usize {
    let of = |row: &Row| {
        [row.seconds_per_proof.is_some(), row.peak_rss_gib.is_some(), row.busy.is_some()]
            .into_iter()
            .filter(|is| *is)
            .count()
    };
    rows.iter().map(of).sum()
}

/// Numbers that stand at an end of their range, and what else a reader should know.
pub(crate) fn doubts(fit: &Fit, costs: &mut Costs) -> Result<Vec<String>, StudyError> {
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

/// Why a model of these traces may say little of another load: a sentence each.
#[must_use]
pub fn doubts_of_traces(study: &Study, traces: &[Trace]) -> Vec<String> {
    let mut doubts = Vec::new();
    let load = |trace: &Trace| (trace.jobs.len(), trace.concurrency());
    if traces.iter().all(|trace| load(trace) == load(&traces[0])) {
        doubts.push(
            "one load was measured: nothing says how far the model is off under another; give traces of several"
                .to_owned(),
        );
    }
    let plan = study.plan();
    let idle = plan.stages.iter().filter(|stage| mean(traces, &stage.name).is_none());
    doubts.extend(idle.map(|stage| format!("stage `{}` did not run: in the model it costs nothing", stage.name)));
    doubts
}
