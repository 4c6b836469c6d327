//! `proofline check`: judges graph files as the build does, without building.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use pipeline_graph::plan::Plan;
use pipeline_graph::{Outcome, Source, Style, load_file, render};
use proofline::Error;

use super::exit::Fault;

/// What implementations there are; the same file that `pipeline!` reads.
const CATALOGUE: &str = include_str!("../../stages/catalogue.ron");

/// Checks graph files as the build does: the same errors, in colour on a terminal.
#[derive(Args)]
#[command(after_help = "Examples:\n  proofline check graphs/host.ron\n  proofline check graphs/*.ron\n\n\
                        A machine that a graph names is looked for in `skus/` beside the graph, or beside its folder.\n\
                        Every file is judged; a file that cannot be read makes the exit code 6, else an error makes it 1.")]
pub struct Check {
    /// Graph files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Whether errors are coloured; `auto`: on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    color: Colour,
}

#[derive(Clone, Copy, ValueEnum)]
enum Colour {
    Auto,
    Always,
    Never,
}

impl Colour {
    fn style(self) -> Style {
        // https://no-color.org: set to anything but nothing.
        let plain = || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let coloured = match self {
            Colour::Auto => std::io::stdout().is_terminal() && !plain(),
            Colour::Always => true,
            Colour::Never => false,
        };
        if coloured { Style::Coloured } else { Style::Plain }
    }
}

impl Check {
    pub fn run(&self) -> Result<(), Fault> {
        let style = self.color.style();
        let (mut refused, mut unread) = (false, false);
        for file in &self.files {
            let shown = file.display().to_string();
            let outcome = match load(file) {
                Ok(outcome) => outcome,
                // The others are judged all the same.
                Err(error) => {
                    tell!("error: {error}");
                    unread = true;
                    continue;
                }
            };
            for found in &outcome.diagnostics {
                let rendered = render::diagnostic(found, &outcome.sources, style);
                match style {
                    Style::Plain => say!("{rendered}\n"),
                    Style::Coloured => super::say::coloured(&format!("{rendered}\n")),
                }
            }
            let (errors, warnings) = (outcome.errors().count(), outcome.warnings().count());
            refused |= errors > 0;
            unread |= outcome.unread.is_some();
            let study = if outcome.study.is_empty() { "" } else { ", for study only: it cannot be built" };
            let memory = outcome.plan.as_ref().and_then(memory_not_checked).unwrap_or_default();
            say!("{shown}: {}{memory}{study}", verdict(errors + outcome.left_out, warnings));
            outcome.study.iter().filter(|_| errors == 0).for_each(|reason| say!("  because {}", reason.title));
        }
        match (unread, refused) {
            (true, _) => Err(Fault::Unread),
            (false, true) => Err(Fault::Refused),
            (false, false) => Ok(()),
        }
    }
}

/// Why the memory of a legal graph was not compared with any machine's.
fn memory_not_checked(plan: &Plan) -> Option<&'static str> {
    match (plan.sizes.is_empty(), &plan.sku) {
        (true, _) => Some("; memory not checked: no `sizes`"),
        (false, None) => Some("; memory not checked: `sku: any`, it is compared when the pipeline starts"),
        (false, Some(_)) => None,
    }
}

/// Loads a graph file with the catalogue of this program.
pub fn load(file: &Path) -> Result<Outcome, Error> {
    let unreadable = |source| Error::Io { action: "read", file: file.to_owned(), source };
    let catalogue = Source::inline("stages/catalogue.ron", CATALOGUE);
    // A bare name has no folder beside whose own folder the SKUs could be.
    let place = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    load_file(&place, &super::say::visible(&file.display().to_string()), catalogue).map_err(unreadable)
}

fn verdict(errors: usize, warnings: usize) -> String {
    let plural = |count, word| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    match (errors, warnings) {
        (0, 0) => "legal".to_owned(),
        (0, warnings) => format!("legal, {}", plural(warnings, "warning")),
        (errors, 0) => plural(errors, "error"),
        (errors, warnings) => format!("{}, {}", plural(errors, "error"), plural(warnings, "warning")),
    }
}
