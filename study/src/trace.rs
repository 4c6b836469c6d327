//! Reads traces, real and simulated alike: what [`pipeline_runtime::trace::TraceWriter`] writes.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::StudyError;

/// A trace.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Trace {
    /// The name of the graph.
    pub graph: String,
    /// The digest of the graph's file.
    pub digest: String,
    /// The firings, in the order of their ends.
    pub firings: Vec<Firing>,
    /// The jobs, in the order of their submissions.
    pub jobs: Vec<JobSpan>,
}

/// A firing.
#[derive(Clone, PartialEq, Debug)]
pub struct Firing {
    /// The stage.
    pub stage: String,
    /// The worker of that stage.
    pub worker: u32,
    /// The job.
    pub job: u64,
    /// The partition.
    pub partition: u32,
    /// When it started, in seconds after the pipeline's start.
    pub start_s: f64,
    /// How long it took, in seconds.
    pub busy_s: f64,
    /// How long it waited for worker, permits and places, in seconds.
    pub waited_s: f64,
    /// Whether it put out a token.
    pub succeeded: bool,
    /// Whether it was passed over, as its job had failed.
    pub skipped: bool,
}

/// A job.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct JobSpan {
    /// Its number.
    pub job: u64,
    /// Its partitions.
    pub partitions: u32,
    /// When it was submitted, in seconds after the pipeline's start.
    pub start_s: f64,
    /// When it ended; `None` where the trace does not say.
    pub end_s: Option<f64>,
}

impl Trace {
    /// The most jobs that were in the pipeline at once.
    #[must_use]
    pub fn concurrency(&self) -> u32 {
        let mut changes: Vec<(f64, i32)> = Vec::new();
        for job in &self.jobs {
            changes.push((job.start_s, 1));
            changes.extend(job.end_s.map(|end| (end, -1)));
        }
        // One that ends as another is submitted was not there with it.
        changes.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        let (mut now, mut most) = (0_i32, 0);
        for (_, change) in changes {
            now += change;
            most = most.max(now);
        }
        u32::try_from(most).unwrap_or(0)
    }

    /// From the first submission to the end of the last job, in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        let start = self.jobs.iter().map(|job| job.start_s).fold(f64::INFINITY, f64::min);
        let end = self.jobs.iter().filter_map(|job| job.end_s).fold(f64::NEG_INFINITY, f64::max);
        (end - start).max(0.0)
    }

    /// The mean of a stage's firings, in seconds, those that were passed over not counted; `None` without firings.
    #[must_use]
    pub fn mean_s(&self, stage: &str) -> Option<f64> {
        let of_stage = self.firings.iter().filter(|firing| firing.stage == stage && !firing.skipped);
        let (count, sum) = of_stage.fold((0_u32, 0.0), |(count, sum), firing| (count + 1, sum + firing.busy_s));
        (count > 0).then(|| sum / f64::from(count))
    }
}

/// One event of the file.
#[derive(Deserialize)]
struct Event {
    ph: String,
    name: String,
    #[serde(default)]
    tid: u32,
    #[serde(default)]
    ts: f64,
    #[serde(default)]
    dur: f64,
    #[serde(default)]
    id: u64,
    #[serde(default)]
    args: Arguments,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Arguments {
    graph: String,
    digest: String,
    job: u64,
    partition: u32,
    partitions: u32,
    waited_us: f64,
    ending: String,
}

/// Reads a trace.
///
/// # Errors
/// It cannot be read, is no JSON, or has no firings.
pub fn read_trace(file: &Path) -> Result<Trace, StudyError> {
    let text = crate::text_of(file)?;
    parse(&text, file)
}

fn parse(text: &str, file: &Path) -> Result<Trace, StudyError> {
    let bad = |line, why: String| StudyError::Trace { file: PathBuf::from(file), line, why };
    let events: Vec<Event> =
        serde_json::from_str(text).map_err(|error| bad(error.line(), format!("no trace: {error}")))?;
    let mut trace = Trace::default();
    for event in events {
        let args = event.args;
        match event.ph.as_str() {
            "M" if event.name == "graph" => (trace.graph, trace.digest) = (args.graph, args.digest),
            "X" => trace.firings.push(Firing {
                stage: event.name,
                worker: event.tid,
                job: args.job,
                partition: args.partition,
                start_s: event.ts * 1e-6,
                busy_s: event.dur * 1e-6,
                waited_s: args.waited_us * 1e-6,
                succeeded: args.ending == "succeeded",
                skipped: args.ending == "skipped",
            }),
            "b" => {
                let (job, partitions) = (event.id, args.partitions);
                trace.jobs.push(JobSpan { job, partitions, start_s: event.ts * 1e-6, end_s: None });
            }
            "e" => {
                let known = trace.jobs.iter_mut().find(|job| job.job == event.id);
                known.into_iter().for_each(|job| job.end_s = Some(event.ts * 1e-6));
            }
            _ => {}
        }
    }
    if trace.firings.is_empty() || trace.jobs.is_empty() {
        return Err(bad(1, "it has no firings or no jobs: was the run cut short?".to_owned()));
    }
    Ok(trace)
}
