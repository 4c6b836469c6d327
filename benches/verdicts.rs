//! What became of the rows of a table: the end of every benchmark.

use std::process::ExitCode;

/// The rows so far.
#[derive(Default)]
pub struct Verdicts {
    rows: usize,
    missed: Vec<String>,
    /// Rows whose figure could not be had, and why.
    pub unknown: Vec<String>,
}

impl Verdicts {
    /// The word for a row; `met` is `None` where nothing is required, or where it cannot be judged. `row` says which row is
    /// missed, and by how much.
    pub fn judge(&mut self, met: Option<bool>, row: impl FnOnce() -> String) -> &'static str {
        self.rows += 1;
        match met {
            None => "-",
            Some(true) => "met",
            Some(false) => {
                self.missed.push(row());
                "MISSED"
            }
        }
    }

    /// Says how many rows there are, and which are missed or not measured. An error if something was missed.
    pub fn end(&self) -> ExitCode {
        let Self { rows, missed, unknown } = self;
        println!("{rows} rows, {} below what is required, {} not measured", missed.len(), unknown.len());
        missed.iter().for_each(|row| println!("missed: {row}"));
        unknown.iter().for_each(|row| println!("not measured: {row}"));
        if missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
