//! What a person sees while work goes on: bars on a terminal, plain lines elsewhere.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use proofline::Progress;
use proofline::runtime::event::{Ending, Event, Observer};
use proofline::runtime::key::JobId;
use proofline::runtime::plan::{Plan, Role};

use super::exit::Fault;
use super::waterfall::Span;

/// A pool for work outside the pipeline: reading and making keys.
pub fn pool_of_all_cores() -> Result<rayon::ThreadPool, Fault> {
    let pool = rayon::ThreadPoolBuilder::new().thread_name(|thread| format!("keys-{thread}")).build();
    pool.map_err(|error| Fault::Internal(format!("no threads could be started: {error}")))
}

/// Runs work on keys on all cores, with bars that are gone when it ends, well or not.
pub fn with_bars<T: Send, E: Into<Fault> + Send>(
    work: impl FnOnce(&(dyn Fn(Progress) + Sync)) -> Result<T, E> + Send,
) -> Result<T, Fault> {
    let bars = Bars::new();
    let watch = |progress: Progress| bars.progress(progress);
    let done = pool_of_all_cores()?.install(|| work(&watch));
    bars.clear();
    done.map_err(Into::into)
}

/// Bars for work that reports [`Progress`]: one for each heading.
struct Bars {
    all: MultiProgress,
    by_name: Mutex<HashMap<&'static str, ProgressBar>>,
}

impl Bars {
    fn new() -> Self {
        // Draws nothing where standard error is no terminal.
        Self { all: MultiProgress::with_draw_target(ProgressDrawTarget::stderr()), by_name: Mutex::default() }
    }

    fn progress(&self, Progress { what, done, total }: Progress) {
        let mut bars = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = bars.entry(what).or_insert_with(|| {
            let bar = self.all.add(ProgressBar::new(total));
            bar.set_style(style("{prefix:24} [{bar:36}] {human_pos} of {human_len}"));
            bar.set_prefix(format!("key: {what}"));
            bar
        });
        bar.set_length(total);
        bar.set_position(done);
        if done >= total {
            bar.finish_and_clear();
        }
    }

    fn clear(&self) {
        // A bar that cannot be wiped off the screen is no fault of the work.
        let _ = self.all.clear();
    }
}

/// Watches a pipeline: a bar for each stage, and the figures for the table at the end.
pub struct StageWatch {
    names: Vec<String>,
    stages: Vec<Counters>,
    bars: Option<(MultiProgress, Vec<ProgressBar>)>,
    spans: Mutex<Vec<Span>>,
    jobs: Mutex<HashMap<JobId, JobTimes>>,
}

/// Firings that there is room for from the beginning.
const MOST_ROOM: u64 = 1 << 18;

/// When a job was accepted, and when it was over.
#[derive(Clone, Copy, Default)]
struct JobTimes {
    accepted: Duration,
    finished: Option<Duration>,
}

#[derive(Default)]
struct Counters {
    workers: u32,
    running: AtomicUsize,
    done: AtomicU64,
    busy_ns: AtomicU64,
    waited_ns: AtomicU64,
}

/// The figures of one stage.
pub struct StageFigures {
    pub name: String,
    pub workers: u32,
    pub firings: u64,
    pub busy: Duration,
    pub waited: Duration,
}

impl StageWatch {
    /// Watches `plan`, which is to make `proofs` proofs.
    pub fn new(plan: &Plan, proofs: u64) -> Self {
        let names: Vec<String> = plan.stages.iter().map(|stage| stage.name.clone()).collect();
        let stages =
            plan.stages.iter().map(|stage| Counters { workers: stage.workers, ..Counters::default() }).collect();
        let bars = std::io::stderr().is_terminal().then(|| {
            let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
            let bar = |stage: &proofline::runtime::plan::StagePlan| {
                let bar = all.add(ProgressBar::new(proofs));
                let template = match stage.role {
                    // How many slots will die is not known before.
                    Role::Dealloc => "{prefix:14} {human_pos} slots {msg}",
                    _ => "{prefix:14} [{bar:36}] {human_pos} of {human_len} {msg}",
                };
                bar.set_style(style(template));
                bar.set_prefix(stage.name.clone());
                bar
            };
            let bars = plan.stages.iter().map(bar).collect();
            (all, bars)
        });
        // A firing for each stage, and one of `dealloc` for each token: room for them now, so that the lists do not grow
        // while proofs are made.
        let firings = (plan.stages.len() + plan.edges.len()) as u64;
        let spans = Mutex::new(Vec::with_capacity(proofs.saturating_mul(firings).min(MOST_ROOM) as usize));
        let jobs = Mutex::new(HashMap::with_capacity(proofs.min(MOST_ROOM) as usize));
        Self { names, stages, bars, spans, jobs }
    }

    /// Prints a line above the bars, or plainly where there are none.
    pub fn say(&self, line: &str) {
        match &self.bars {
            // What cannot be drawn on the terminal is printed.
            Some((all, _)) => all.println(super::say::visible(line)).unwrap_or_else(|_| say!("{line}")),
            None => say!("{line}"),
        }
    }

    pub fn clear(&self) {
        if let Some((all, _)) = &self.bars {
            // As in `Bars::clear`.
            let _ = all.clear();
        }
    }

    /// The figures so far, stage by stage.
    pub fn figures(&self) -> Vec<StageFigures> {
        let figures = |(name, stage): (&String, &Counters)| StageFigures {
            name: name.clone(),
            workers: stage.workers,
            firings: stage.done.load(Ordering::Relaxed),
            busy: Duration::from_nanos(stage.busy_ns.load(Ordering::Relaxed)),
            waited: Duration::from_nanos(stage.waited_ns.load(Ordering::Relaxed)),
        };
        self.names.iter().zip(&self.stages).map(figures).collect()
    }

    /// From a job's acceptance to its end; `None` while it runs.
    pub fn latency(&self, job: JobId) -> Option<Duration> {
        let times = *self.jobs.lock().unwrap_or_else(PoisonError::into_inner).get(&job)?;
        Some(times.finished? - times.accepted)
    }

    /// Every firing so far.
    pub fn spans(&self) -> Vec<Span> {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn show(&self, stage: usize) {
        let Some((_, bars)) = &self.bars else { return };
        let counters = &self.stages[stage];
        bars[stage].set_position(counters.done.load(Ordering::Relaxed));
        bars[stage].set_message(match counters.running.load(Ordering::Relaxed) {
            0 => String::new(),
            running => format!("({running} of {} running)", counters.workers),
        });
    }
}

impl Observer for StageWatch {
    fn event(&self, at: Duration, event: &Event) {
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        match *event {
            Event::Started { stage, waited, .. } => {
                self.stages[stage].running.fetch_add(1, Ordering::Relaxed);
                self.stages[stage].waited_ns.fetch_add(nanoseconds(waited), Ordering::Relaxed);
                self.show(stage);
            }
            Event::Ended { stage, worker, key, busy, ending } => {
                self.stages[stage].running.fetch_sub(1, Ordering::Relaxed);
                self.stages[stage].busy_ns.fetch_add(nanoseconds(busy), Ordering::Relaxed);
                self.stages[stage].done.fetch_add(1, Ordering::Relaxed);
                if ending != Ending::Skipped {
                    let span = Span { stage, worker, key, begin: at.saturating_sub(busy), end: at };
                    self.spans.lock().unwrap_or_else(PoisonError::into_inner).push(span);
                }
                self.show(stage);
            }
            Event::Accepted { job, .. } => {
                let times = JobTimes { accepted: at, finished: None };
                self.jobs.lock().unwrap_or_else(PoisonError::into_inner).insert(job, times);
            }
            Event::SmallPages => self.say(
                "note: buffers lie on pages of 4 KiB, which costs speed: reserve pages of 2 MiB (vm.nr_hugepages), or write \
                 `madvise` to /sys/kernel/mm/transparent_hugepage/enabled",
            ),
            Event::Finished { job, .. } => {
                let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
                jobs.entry(job).or_default().finished = Some(at);
            }
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    // The templates are literals of this file; a wrong one would show as indicatif's default bar.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> ")
}
