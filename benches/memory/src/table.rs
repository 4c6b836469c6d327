//! The table, with its verdicts.

use crate::verdicts::Verdicts;

/// The rows so far.
#[derive(Default)]
pub struct Table {
    pub verdicts: Verdicts,
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
        self.verdicts.unknown.push(format!("{what}: {why}"));
    }

    fn line(&mut self, what: &str, figures: &str, required: &str, met: Option<bool>) {
        let verdict = self.verdicts.judge(met, || what.to_owned());
        println!("| {what} | {figures} | {required} | {verdict} |");
    }
}
