//! The trace of a run, real or simulated: one format for both, so that they overlay in one picture.
//!
//! Chrome's trace-event format, which Perfetto and `chrome://tracing` open: a JSON array with one event a line. Every
//! firing is a complete event (`ph: "X"`): its `name` is the stage, `pid` the stage's position, `tid` the worker, `ts`
//! and `dur` are microseconds with three decimals, and `args` names job, partition, waiting time and ending. Jobs are
//! asynchronous events (`b`, `e`) with the job's number as `id`. Names come from the plan, so there are few of them;
//! what differs from firing to firing is in `args`.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::event::{Ending, Event, Observer};
use crate::plan::Plan;

/// Writes a trace while a pipeline or a simulation runs.
pub struct TraceWriter<W: Write + Send> {
    stages: Vec<String>,
    state: Mutex<State<W>>,
}

struct State<W> {
    out: W,
    /// Waiting times of firings that run: stage, worker, job, partition.
    running: Vec<((usize, u32, u64, u32), Duration)>,
    /// The first thing that could not be written.
    error: Option<io::Error>,
    closed: bool,
}

impl<W: Write + Send> TraceWriter<W> {
    /// Writes the trace of `plan` to `out`, which should be buffered.
    ///
    /// # Errors
    /// The head cannot be written.
    pub fn new(plan: &Plan, mut out: W) -> io::Result<Self> {
        writeln!(out, "[")?;
        let graph = quoted(&plan.graph);
        write!(
            out,
            r#"{{"ph":"M","name":"graph","pid":0,"args":{{"graph":{graph},"digest":{}}}}}"#,
            quoted(&plan.digest)
        )?;
        let stages: Vec<String> = plan.stages.iter().map(|stage| quoted(&stage.name)).collect();
        for (position, name) in stages.iter().enumerate() {
            write!(
                out,
                ",\n{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{position},\"args\":{{\"name\":{name}}}}}"
            )?;
        }
        Ok(Self { stages, state: Mutex::new(State { out, running: Vec::new(), error: None, closed: false }) })
    }

    /// Writes the end and gives the output back.
    ///
    /// # Errors
    /// Something could not be written, now or before.
    pub fn finish(self) -> io::Result<W> {
        self.close()?;
        Ok(self.state.into_inner().unwrap_or_else(PoisonError::into_inner).out)
    }

    /// Writes the end, where the pipeline still has the writer; what happens afterwards is not written.
    ///
    /// # Errors
    /// Something could not be written, now or before.
    pub fn close(&self) -> io::Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = state.error.take() {
            return Err(error);
        }
        if !std::mem::replace(&mut state.closed, true) {
            write!(state.out, "\n]\n")?;
            state.out.flush()?;
        }
        Ok(())
    }
}

impl<W: Write + Send> Observer for TraceWriter<W> {
    fn event(&self, at: Duration, event: &Event) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { out, running, error, closed } = &mut *state;
        if *closed {
            return;
        }
        let ts = Micros(at);
        let written = match *event {
            Event::Accepted { job, partitions } => write!(
                out,
                ",\n{{\"ph\":\"b\",\"cat\":\"job\",\"name\":\"job\",\"id\":{},\"pid\":0,\"ts\":{ts},\"args\":{{\"partitions\":{partitions}}}}}",
                job.0
            ),
            Event::Finished { job, succeeded } => write!(
                out,
                ",\n{{\"ph\":\"e\",\"cat\":\"job\",\"name\":\"job\",\"id\":{},\"pid\":0,\"ts\":{ts},\"args\":{{\"succeeded\":{succeeded}}}}}",
                job.0
            ),
            Event::SmallPages => {
                write!(
                    out,
                    ",\n{{\"ph\":\"i\",\"s\":\"g\",\"name\":\"memory on small pages\",\"pid\":0,\"tid\":0,\"ts\":{ts}}}"
                )
            }
            Event::Started { stage, worker, key, waited } => {
                running.push(((stage, worker, key.job.0, key.partition), waited));
                Ok(())
            }
            Event::Ended { stage, worker, key, busy, ending } => {
                let id = (stage, worker, key.job.0, key.partition);
                let position = running.iter().position(|(other, _)| *other == id);
                let waited = position.map_or(Duration::ZERO, |position| running.swap_remove(position).1);
                let ending = match ending {
                    Ending::Succeeded => "succeeded",
                    Ending::Failed => "failed",
                    Ending::Skipped => "skipped",
                };
                write!(
                    out,
                    ",\n{{\"ph\":\"X\",\"name\":{},\"pid\":{stage},\"tid\":{worker},\"ts\":{},\"dur\":{},\"args\":{{\"job\":{},\"partition\":{},\"waited_us\":{},\"ending\":\"{ending}\"}}}}",
                    self.stages.get(stage).map_or("\"?\"", String::as_str),
                    Micros(at.saturating_sub(busy)),
                    Micros(busy),
                    key.job.0,
                    key.partition,
                    Micros(waited),
                )
            }
        };
        if let Err(why) = written {
            error.get_or_insert(why);
        }
    }
}

/// Microseconds with three decimals.
struct Micros(Duration);

impl std::fmt::Display for Micros {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let nanoseconds = self.0.as_nanos();
        write!(f, "{}.{:03}", nanoseconds / 1000, nanoseconds % 1000)
    }
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            control if control < ' ' => quoted.push_str(&format!("\\u{:04x}", u32::from(control))),
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{JobId, TokenKey};
    use crate::testing::diamond;

    #[test]
    fn a_firing_is_one_line_with_what_it_waited_for() {
        let writer = TraceWriter::new(&diamond(1, 1, 1), Vec::new()).unwrap();
        let key = TokenKey { job: JobId(4), partition: 2 };
        let (stage, worker) = (1, 0);
        let us = Duration::from_micros;
        writer.event(us(5), &Event::Started { stage, worker, key, waited: us(3) });
        writer.event(us(9), &Event::Ended { stage, worker, key, busy: us(4), ending: Ending::Succeeded });
        let text = String::from_utf8(writer.finish().unwrap()).unwrap();
        let line = r#"{"ph":"X","name":"left","pid":1,"tid":0,"ts":5.000,"dur":4.000,"args":{"job":4,"partition":2,"waited_us":3.000,"ending":"succeeded"}}"#;
        assert_eq!(text.lines().rev().nth(1), Some(line), "{text}");
        assert!(text.starts_with("[\n{") && text.ends_with("}\n]\n"), "{text}");
    }

    #[test]
    fn names_are_quoted_as_json_wants_it() {
        assert_eq!(quoted("a\"b\\c\n"), r#""a\"b\\c\u000a""#);
    }
}
