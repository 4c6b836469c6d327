//! The table, with its verdicts.

use std::process::ExitCode;

/// The rows so far.
#[derive(Default)]
pub struct Table {
    rows: usize,
    missed: Vec<String>,
    /// Rows whose figure could not be had, and why.
    unknown: Vec<String>,
}

impl Table {
    pub fn head(&self, columns: &[&str]) {
        println!("| what | {} | required | verdict |", columns.join(" | "));
        println!("|---|{}---|---|", "---|".repeat(columns.len()));
    }

    /// A row; `met` is `None` where nothing is required, or where it cannot be judged.
    pub fn row(&mut self, what: &str, figures: &[Option<f64>], required: &str, met: Option<bool>) {
        let shown = |figure: &Option<f64>| match figure {
            None => "-".to_owned(),
            Some(figure) if figure.fract() == 0.0 => format!("{figure:.0}"),
            Some(figure) => format!("{figure:.3}"),
        };
        let figures: Vec<String> = figures.iter().map(shown).collect();
        self.line(what, &figures.join(" | "), required, met);
    }

    /// A row in words.
    pub fn words(&mut self, what: &str, words: &str, required: &str, met: Option<bool>) {
        self.line(what, &format!("{words} | - | -"), required, met);
    }

    /// A row whose figure cannot be had.
    pub fn unknown(&mut self, what: &str, why: &str) {
        println!("| {what} | - | - | - | | not measured: {why} |");
        self.unknown.push(format!("{what}: {why}"));
    }

    fn line(&mut self, what: &str, figures: &str, required: &str, met: Option<bool>) {
        self.rows += 1;
        let verdict = match met {
            None => "-",
            Some(true) => "met",
            Some(false) => {
                self.missed.push(what.to_owned());
                "MISSED"
            }
        };
        println!("| {what} | {figures} | {required} | {verdict} |");
    }

    /// The end: an error if something was missed.
    pub fn verdict(&self) -> ExitCode {
        println!(
            "{} rows, {} below what is required, {} not measured",
            self.rows,
            self.missed.len(),
            self.unknown.len()
        );
        self.missed.iter().for_each(|row| println!("missed: {row}"));
        self.unknown.iter().for_each(|row| println!("not measured: {row}"));
        if self.missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
