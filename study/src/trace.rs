//! Reads traces, real and simulated alike: what [`pipeline_runtime::trace::TraceWriter`] writes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::StudyError;
use crate::numbers::{Kind, MOST};
use crate::read::text_of;

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
/// It cannot be read, is no JSON, has no firings, or a record says what cannot be.
pub fn read_trace(file: &Path) -> Result<Trace, StudyError> {
    /// A trace of ten million firings.
    const MOST_BYTES: u64 = 1 << 31;
    let text = text_of(file, MOST_BYTES)?;
    parse(&text, file)
}

fn parse(text: &str, file: &Path) -> Result<Trace, StudyError> {
    let no_trace = |error: &serde_json::Error| StudyError::TraceText {
        file: PathBuf::from(file),
        line: error.line(),
        why: format!("no trace: {error}"),
    };
    let events: Vec<Event> = serde_json::from_str(text).map_err(|error| no_trace(&error))?;
    let bad = |number: usize, why: String| StudyError::TraceText {
        file: PathBuf::from(file),
        line: line_of_record(text, number),
        why: format!("record {}: {why}", number + 1),
    };
    let mut trace = Trace::default();
    let mut jobs: HashMap<u64, usize> = HashMap::new();
    let mut records = Vec::new();
    for (number, event) in events.into_iter().enumerate() {
        take(&mut trace, &mut jobs, event).map_err(|why| bad(number, why))?;
        records.resize(trace.firings.len(), number);
    }
    let whole = |why: &str| {
        let (what, why) = ("the trace".to_owned(), why.to_owned());
        Err(StudyError::Trace { file: PathBuf::from(file), what, why })
    };
    if trace.firings.is_empty() || trace.jobs.is_empty() {
        return whole("it has no firings or no jobs: was the run cut short?");
    }
    let lost = trace.firings.iter().zip(&records).find(|(firing, _)| !jobs.contains_key(&firing.job));
    if let Some((firing, number)) = lost {
        let why = format!("a firing of `{}` is of job {}, which was never submitted", firing.stage, firing.job);
        return Err(bad(*number, why));
    }
    if trace.jobs.iter().all(|job| job.end_s.is_none()) {
        return whole("no job came to its end: was the run cut short?");
    }
    Ok(trace)
}

/// The line on which a record of a trace that can be read begins; records are counted from 0.
fn line_of_record(text: &str, number: usize) -> usize {
    let (mut line, mut depth, mut seen) = (1, 0_u32, 0);
    let (mut quoted, mut escaped) = (false, false);
    for letter in text.bytes() {
        match letter {
            b'\n' => line += 1,
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => {
                // The list itself is the first bracket.
                if depth == 1 {
                    if seen == number {
                        return line;
                    }
                    seen += 1;
                }
                depth += 1;
            }
            b'}' | b']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    line
}

/// Takes a record up; the error names the field, what stands there and what is allowed.
fn take(trace: &mut Trace, jobs: &mut HashMap<u64, usize>, event: Event) -> Result<(), String> {
    let time = |field: &str, time: f64| match Kind::Microseconds.takes(time) {
        true => Ok(time * 1e-6),
        false => Err(format!("`{field}`: {time} is not allowed; write {}", Kind::Microseconds.allowed())),
    };
    let args = event.args;
    match event.ph.as_str() {
        "M" if event.name == "graph" => (trace.graph, trace.digest) = (args.graph, args.digest),
        "X" => {
            if event.tid > MOST {
                return Err(format!("`tid`: {} is not allowed; write the number of a worker, 0 to {MOST}", event.tid));
            }
            if !["succeeded", "failed", "skipped"].contains(&args.ending.as_str()) {
                let found = args.ending;
                return Err(format!("`ending`: \"{found}\" is not allowed; write succeeded, failed or skipped"));
            }
            trace.firings.push(Firing {
                stage: event.name,
                worker: event.tid,
                job: args.job,
                partition: args.partition,
                start_s: time("ts", event.ts)?,
                busy_s: time("dur", event.dur)?,
                waited_s: time("waited_us", args.waited_us)?,
                succeeded: args.ending == "succeeded",
                skipped: args.ending == "skipped",
            });
        }
        "b" => {
            let (job, partitions) = (event.id, args.partitions);
            if !(1..=MOST).contains(&partitions) {
                return Err(format!("`partitions`: {partitions} is not allowed; write a whole number, 1 to {MOST}"));
            }
            if jobs.insert(job, trace.jobs.len()).is_some() {
                return Err(format!("`id`: job {job} was submitted before; each job begins once"));
            }
            trace.jobs.push(JobSpan { job, partitions, start_s: time("ts", event.ts)?, end_s: None });
        }
        "e" => {
            let known = jobs.get(&event.id).and_then(|at| trace.jobs.get_mut(*at));
            let Some(job) = known else {
                return Err(format!("`id`: job {} ends and was never submitted", event.id));
            };
            let end = time("ts", event.ts)?;
            if end < job.start_s {
                return Err(format!("`ts`: job {} ends at {end} s and was submitted at {} s", event.id, job.start_s));
            }
            job.end_s = Some(end);
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_found_on_its_line() {
        let text = "[\n{\"a\": \"}]{\\\"\"},\n\n  {\"b\": [1, {}]}, {\"c\": 1\n},\n{}]";
        assert_eq!([0, 1, 2, 3].map(|number| line_of_record(text, number)), [2, 4, 4, 6]);
    }
}
