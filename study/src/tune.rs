//! Searches the free fields of a graph.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use pipeline_graph::source::Source;
use pipeline_runtime::sim::Report;

use crate::rewrite::rewrite;
use crate::settings::expect_distinct;
use crate::{Axis, CATALOGUE, Conditions, Study, StudyError, Submitted};

/// What is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// Few seconds for each job when many are in flight.
    Throughput,
    /// A short time from a job's submission to its end.
    Latency,
}

impl Goal {
    fn of(self, report: &Report) -> f64 {
        match self {
            Self::Throughput => report.seconds_per_job(),
            Self::Latency => report.mean_latency_s,
        }
    }
}

/// What must not be exceeded, in bytes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Limits {
    /// Memory.
    pub ram_bytes: f64,
    /// Memory of each device.
    pub vram_bytes: f64,
}

/// What a search is for.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// What is to be small.
    pub goal: Goal,
    /// What must not be exceeded.
    pub limits: Limits,
    /// The load.
    pub submitted: Submitted,
    /// How it is run.
    pub conditions: Conditions<'a>,
}

/// A change of the tuned graph, and what it is good for.
#[derive(Clone, PartialEq, Debug)]
pub struct Change {
    /// The setting.
    pub path: String,
    /// What it was.
    pub from: String,
    /// What it is.
    pub to: String,
    /// How many times as long it takes without this change: 1.02 is 2 % longer. `None`: without it the graph is not
    /// lawful, does not run, or exceeds the limits.
    pub without: Option<f64>,
    /// The memory at the peak without this change, in bytes; `None` as [`Self::without`], or where tokens have no size.
    pub ram_without: Option<f64>,
}

/// What came of a search.
#[derive(Clone, PartialEq, Debug)]
pub struct Tuned {
    /// The graph file's text, checked.
    pub text: String,
    /// The changes, in the order of the fields.
    pub changes: Vec<Change>,
    /// The figures before; `None` if the graph did not run as it was.
    pub before: Option<Report>,
    /// The figures after.
    pub after: Report,
    /// Whether the graph was within the limits before.
    pub fitted_before: bool,
    /// Graphs that were tried.
    pub tried: usize,
}

/// A graph that runs.
#[derive(Clone)]
struct Candidate {
    settings: BTreeMap<usize, usize>,
    report: Report,
    /// Bytes beyond the limits.
    over: f64,
    goal: f64,
    /// The memory at the peak; `None` where tokens have no size, and the report's figure means nothing.
    ram_bytes: Option<f64>,
}

impl Candidate {
    /// Less beyond the limits, or clearly better, or as good and with clearly less memory.
    fn beats(&self, other: &Self) -> bool {
        const CLEARLY: f64 = 0.998;
        const LESS: f64 = 0.99;
        if self.over != other.over {
            return self.over < other.over;
        }
        let much = self.goal < other.goal * CLEARLY;
        let less = self.ram_bytes.zip(other.ram_bytes).is_some_and(|(takes, other)| takes < other * LESS);
        let as_good = self.goal <= other.goal && less;
        much || as_good
    }
}

struct Search<'a> {
    study: &'a Study,
    text: &'a str,
    axes: &'a [Axis],
    /// The values that the graph has; `None` where it leaves the field to the stage.
    start: Vec<Option<usize>>,
    wanted: Wanted<'a>,
    tried: AtomicUsize,
    progress: &'a (dyn Fn(usize, Option<f64>) + Sync),
}

/// Searches: one field after the other, every value of it, then neighbours of two fields at once, until nothing is better
/// by 0.2 %. Every graph that is tried is written, checked as `proofline check` does, and simulated; only lawful ones
/// count. `fixed` are settings that the text gets first. Changes that turn out to be worth nothing are taken back. The
/// same input gives the same graph, however many threads search.
///
/// `progress` hears how many graphs were tried, and the best so far.
///
/// # Errors
/// The file cannot be read, neither it nor any neighbour of it runs, or none that runs is within the limits.
pub fn tune(
    study: &Study,
    axes: &[Axis],
    fixed: &[(String, String)],
    wanted: Wanted<'_>,
    progress: &(dyn Fn(usize, Option<f64>) + Sync),
) -> Result<Tuned, StudyError> {
    let source = Source::read(&study.file, study.file.display().to_string())
        .map_err(|why| StudyError::Unreadable { file: study.file.clone(), why })?;
    let text = rewrite(&source.text, fixed)?;
    let study = &study.with_text(text.clone())?;
    expect_distinct(axes.iter().map(|axis| axis.path.clone()))?;
    // A field that the file has no place for would count as tried and never be.
    for (axis, value) in axes.iter().filter_map(|axis| Some((axis, axis.values.first()?))) {
        rewrite(&text, &[(axis.path.clone(), value.clone())])?;
    }
    // The value that the graph has is one of those that are tried.
    let (mut axes, mut start) = (axes.to_vec(), Vec::new());
    for axis in &mut axes {
        let now = study.value_of(&axis.path);
        if let (Some(now), false) = (&now, now.as_ref().is_some_and(|now| axis.values.contains(now))) {
            axis.values.push(now.clone());
        }
        start.push(now.and_then(|now| axis.values.iter().position(|value| *value == now)));
    }
    let search = Search {
        study,
        text: &text,
        axes: &axes,
        start,
        wanted: Wanted { conditions: Conditions { observer: None, ..wanted.conditions }, ..wanted },
        tried: AtomicUsize::new(0),
        progress,
    };
    search.run()
}

impl Search<'_> {
    fn run(&self) -> Result<Tuned, StudyError> {
        let first = self.try_one(&BTreeMap::new());
        let before = first.as_ref().ok().cloned();
        let mut why_not = String::new();
        let mut best = match first {
            Ok(candidate) => Some(candidate),
            // A graph that is lawful and does not run, by a deadlock say, may have a neighbour that does.
            Err(error @ (StudyError::Sim(_) | StudyError::WouldNotStart(_))) => {
                why_not = error.to_string();
                None
            }
            Err(other) => return Err(other),
        };
        loop {
            let mut better = false;
            for axis in 0..self.axes.len() {
                let moves = self.moves_of(&best, axis);
                better |= self.improve(&mut best, &moves);
            }
            if better {
                continue;
            }
            let moves = self.moves_of_two(&best);
            if !self.improve(&mut best, &moves) {
                break;
            }
        }
        let Some(mut best) = best else {
            return Err(StudyError::NothingRuns { tried: self.tried.load(Ordering::Relaxed), why: why_not });
        };
        if best.over > 0.0 {
            let takes = self.takes(&best.report);
            return Err(StudyError::NothingFits { tried: self.tried.load(Ordering::Relaxed), takes });
        }
        self.take_back(&mut best);
        self.told(best, before)
    }

    /// What a run takes beyond the limits, in words.
    fn takes(&self, report: &Report) -> String {
        const GIB: f64 = (1_u64 << 30) as f64;
        let (limits, vram) = (self.wanted.limits, report.peak_vram_bytes.iter().copied().max().unwrap_or(0) as f64);
        let over =
            [(report.peak_ram_bytes, limits.ram_bytes, "memory"), (vram, limits.vram_bytes, "a device's memory")];
        let over = over.iter().filter(|(takes, limit, _)| takes > limit);
        let words = over.map(|(takes, limit, what)| {
            format!("{:.1} GiB of {what} at its peak, {:.1} are allowed", takes / GIB, limit / GIB)
        });
        words.collect::<Vec<_>>().join(", and ")
    }

    fn at(&self, settings: &BTreeMap<usize, usize>, axis: usize) -> Option<usize> {
        settings.get(&axis).copied().or(self.start[axis])
    }

    fn moved(&self, from: &BTreeMap<usize, usize>, moves: &[(usize, Option<usize>)]) -> BTreeMap<usize, usize> {
        let mut settings = from.clone();
        for (axis, value) in moves {
            match value.filter(|_| *value != self.start[*axis]) {
                None => settings.remove(axis),
                Some(value) => settings.insert(*axis, value),
            };
        }
        settings
    }

    fn moves_of(&self, best: &Option<Candidate>, axis: usize) -> Vec<BTreeMap<usize, usize>> {
        let from = best.as_ref().map(|best| best.settings.clone()).unwrap_or_default();
        let now = self.at(&from, axis);
        let others = (0..self.axes[axis].values.len()).map(Some).filter(|value| *value != now);
        others.map(|value| self.moved(&from, &[(axis, value)])).collect()
    }

    /// Each two fields one step up or down.
    fn moves_of_two(&self, best: &Option<Candidate>) -> Vec<BTreeMap<usize, usize>> {
        let from = best.as_ref().map(|best| best.settings.clone()).unwrap_or_default();
        let steps = |axis: usize| {
            let now = self.at(&from, axis);
            let up = Some(now.map_or(0, |now| now + 1)).filter(|up| *up < self.axes[axis].values.len());
            [up, now.and_then(|now| now.checked_sub(1))].into_iter().flatten().map(Some)
        };
        let mut all = Vec::new();
        for one in 0..self.axes.len() {
            for other in one + 1..self.axes.len() {
                for first in steps(one) {
                    all.extend(steps(other).map(|second| self.moved(&from, &[(one, first), (other, second)])));
                }
            }
        }
        all
    }

    /// Tries all of these; the best of them, the first of equals, takes the place of what there was if it beats it.
    fn improve(&self, best: &mut Option<Candidate>, moves: &[BTreeMap<usize, usize>]) -> bool {
        let mut better = false;
        for candidate in self.try_all(moves).into_iter().flatten() {
            if best.as_ref().is_none_or(|best| candidate.beats(best)) {
                (*best, better) = (Some(candidate), true);
            }
        }
        (self.progress)(self.tried.load(Ordering::Relaxed), best.as_ref().map(|best| best.goal));
        better
    }

    fn try_all(&self, moves: &[BTreeMap<usize, usize>]) -> Vec<Option<Candidate>> {
        let (next, done) = (AtomicUsize::new(0), Mutex::new(vec![None; moves.len()]));
        let work = || {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(settings) = moves.get(number) else { return };
                let candidate = self.try_one(settings).ok();
                done.lock().unwrap_or_else(PoisonError::into_inner)[number] = candidate;
            }
        };
        let workers = std::thread::available_parallelism().map_or(1, usize::from).min(moves.len());
        std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
        done.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn settings(&self, settings: &BTreeMap<usize, usize>) -> Vec<(String, String)> {
        let words = |(axis, value): (&usize, &usize)| {
            let axis = &self.axes[*axis];
            (axis.path.clone(), axis.values[*value].clone())
        };
        settings.iter().map(words).collect()
    }

    fn try_one(&self, settings: &BTreeMap<usize, usize>) -> Result<Candidate, StudyError> {
        self.tried.fetch_add(1, Ordering::Relaxed);
        let text = rewrite(self.text, &self.settings(settings))?;
        let study = self.study.with_text(text)?;
        if let Some(why) = study.would_not_start() {
            return Err(StudyError::WouldNotStart(why));
        }
        let report = study.run(self.wanted.submitted, &self.wanted.conditions)?;
        let vram = report.peak_vram_bytes.iter().map(|bytes| (*bytes as f64 - self.wanted.limits.vram_bytes).max(0.0));
        let over = (report.peak_ram_bytes - self.wanted.limits.ram_bytes).max(0.0) + vram.sum::<f64>();
        let goal = self.wanted.goal.of(&report);
        let ram_bytes = study.knows_sizes().then_some(report.peak_ram_bytes);
        Ok(Candidate { settings: settings.clone(), report, over, goal, ram_bytes })
    }

    /// Changes that are worth nothing go.
    fn take_back(&self, best: &mut Candidate) {
        for axis in best.settings.keys().copied().collect::<Vec<_>>() {
            let without = self.moved(&best.settings, &[(axis, self.start[axis])]);
            if let Ok(without) = self.try_one(&without)
                && !best.beats(&without)
            {
                *best = without;
            }
        }
    }

    fn told(&self, best: Candidate, before: Option<Candidate>) -> Result<Tuned, StudyError> {
        let change = |(axis, value): (&usize, &usize)| {
            let (path, values) = (&self.axes[*axis].path, &self.axes[*axis].values);
            let without = self.try_one(&self.moved(&best.settings, &[(*axis, self.start[*axis])])).ok();
            let without = without.filter(|without| without.over <= best.over);
            let ram_without = without.as_ref().and_then(|without| without.ram_bytes);
            let without = without.map(|without| without.goal / best.goal);
            let from = self.start[*axis].map_or_else(|| "as the stage takes".to_owned(), |start| values[start].clone());
            let to = values[*value].clone();
            Change { path: path.clone(), from, to, without, ram_without }
        };
        Ok(Tuned {
            text: rewrite(self.text, &self.settings(&best.settings))?,
            changes: best.settings.iter().map(change).collect(),
            fitted_before: before.as_ref().is_some_and(|before| before.over == 0.0),
            before: before.map(|before| before.report),
            after: best.report,
            tried: self.tried.load(Ordering::Relaxed),
        })
    }
}

impl Study {
    /// The same study over another text of its graph file.
    fn with_text(&self, text: String) -> Result<Self, StudyError> {
        let shown = self.file.display().to_string();
        let source = Source { shown, text, path: Some(self.file.clone()) };
        let skus = crate::read::skus_of(&self.file);
        let outcome = pipeline_graph::load(
            source,
            Source::inline("stages/catalogue.ron", CATALOGUE),
            pipeline_graph::SkuFiles::Folder(Path::new(&skus)),
        );
        let graph = crate::read::plan_of(outcome)?;
        Ok(Self { graph, ..self.clone() })
    }
}
