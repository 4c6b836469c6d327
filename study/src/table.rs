//! The table of a calibration: what was measured, and which numbers may move.

use std::path::{Path, PathBuf};

use pipeline_graph::kind::{Kind as FileKind, kind_of};
use pipeline_runtime::sim::Costs;
use serde::Deserialize;

use crate::numbers::{Fault, Kind, MOST, Step};
use crate::read::{MOST_BYTES, options, other_kind, text_of};
use crate::{StudyError, place};

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

/// Reads what to fit.
///
/// # Errors
/// It cannot be read or understood, or a number in it is not what it may be.
pub fn read_fit(file: &Path) -> Result<Fit, StudyError> {
    let text = text_of(file, MOST_BYTES)?;
    let fit: Fit = options().from_str(&text).map_err(|error| {
        if options().from_str::<Costs>(&text).is_ok() {
            let why =
                "it is a cost model, not rows to fit one to: `sim`, `sweep` and `tune` take it with --costs".to_owned();
            return StudyError::NoText { file: file.to_owned(), why };
        }
        match kind_of(&text).filter(|kind| *kind != FileKind::Fit) {
            Some(kind) => other_kind(file, kind, "what is fitted to what, `Fit( … )`,"),
            None => place::unreadable(file, &text, &error),
        }
    })?;
    if let Some(twice) = place::twice(file, &text) {
        return Err(twice);
    }
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
