//! Timings, and the table with its verdicts.

use std::error::Error;
use std::fmt;
use std::time::Instant;

use crate::verdicts::Verdicts;

/// One contender: its name and one run.
pub type Contender<'a> = (&'a str, Box<dyn FnMut() -> Result<(), Box<dyn Error>> + 'a>);

/// Seconds of the runs of one contender, sorted.
pub struct Times(Vec<f64>);

impl Times {
    pub fn new(mut seconds: Vec<f64>) -> Self {
        seconds.sort_by(f64::total_cmp);
        Self(seconds)
    }

    pub fn min(&self) -> f64 {
        self.0.first().copied().unwrap_or(f64::NAN)
    }

    pub fn median(&self) -> f64 {
        self.0.get(self.0.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.4} / {:.4}", self.min(), self.median())
    }
}

/// Runs all contenders in turn, once a round, so that what disturbs the machine disturbs all. The round before the first
/// warms up and is not counted.
pub fn rounds(rounds: usize, mut contenders: Vec<Contender<'_>>) -> Result<Vec<Times>, Box<dyn Error>> {
    let mut times = vec![Vec::new(); contenders.len()];
    for round in 0..=rounds {
        for ((name, contender), times) in contenders.iter_mut().zip(&mut times) {
            let clock = Instant::now();
            contender().map_err(|fault| format!("{name}: {fault}"))?;
            if round > 0 {
                times.push(clock.elapsed().as_secs_f64());
            }
        }
    }
    Ok(times.into_iter().map(Times::new).collect())
}

/// What a row must reach, and what it aims at.
#[derive(Clone, Copy)]
pub struct Bar {
    pub required: f64,
    pub goal: f64,
}

/// The rows so far.
#[derive(Default)]
pub struct Table {
    pub verdicts: Verdicts,
}

impl Table {
    pub fn head(&self) {
        println!(
            "| work | against | ours min / median s | theirs min / median s | ratio of medians | required (goal) | verdict | note |"
        );
        println!("|---|---|---|---|---|---|---|---|");
    }

    /// A row of times; faster is better.
    pub fn times(&mut self, work: &str, against: &str, (ours, theirs): (&Times, &Times), bar: Option<Bar>, note: &str) {
        self.row(work, against, &ours.to_string(), &theirs.to_string(), theirs.median() / ours.median(), bar, note);
    }

    /// A row of peaks of memory in MiB; `theirs / ours` is the ratio, as in all rows.
    pub fn peaks(&mut self, work: &str, against: &str, (ours, theirs): (u64, u64), bar: Bar) {
        let ratio = theirs as f64 / ours.max(1) as f64;
        let note = format!("{:.2} of the lower peer", ours as f64 / theirs as f64);
        self.row(work, against, &format!("{ours} MiB"), &format!("{theirs} MiB"), ratio, Some(bar), &note);
    }

    /// A row of seconds that have a limit of their own.
    pub fn limit(&mut self, work: &str, against: &str, (ours, most): (f64, f64), bar: Bar) {
        self.row(work, against, &format!("{ours:.3}"), &format!("{most:.3}"), most / ours, Some(bar), "");
    }

    #[allow(clippy::too_many_arguments)]
    fn row(&mut self, work: &str, against: &str, ours: &str, theirs: &str, ratio: f64, bar: Option<Bar>, note: &str) {
        let missed = |required: f64| format!("{work} against {against}: {ratio:.2} of {required:.1}");
        let (wanted, verdict) = match bar {
            None => ("-".to_owned(), self.verdicts.judge(None, String::new)),
            Some(Bar { required, goal }) => {
                let verdict = self.verdicts.judge(Some(ratio >= required), || missed(required));
                (format!("{required:.1} ({goal:.1})"), if ratio >= goal { "goal" } else { verdict })
            }
        };
        println!("| {work} | {against} | {ours} | {theirs} | {ratio:.2} | {wanted} | {verdict} | {note} |");
    }
}
