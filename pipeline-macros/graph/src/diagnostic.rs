//! What is wrong with a file, as data; [`crate::render`] makes text of it.

use crate::source::Span;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// The graph is compiled, and its author told.
    Warning,
    /// The graph is not compiled.
    Error,
}

/// One fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The code, `PL0107` say; [`crate::explain()`] has its page.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The first line: it says on its own what is wrong.
    pub title: String,
    /// The places, the one to change first.
    pub labels: Vec<Label>,
    /// Facts that help to understand.
    pub notes: Vec<String>,
    /// What to do, with the number or the word to write.
    pub help: Vec<String>,
}

/// A place with what it shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What it shows, in a few words; may be empty.
    pub text: String,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(code: &'static str, span: Span, title: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            title: title.into(),
            labels: vec![Label { span, text: String::new() }],
            notes: Vec::new(),
            help: Vec::new(),
        }
    }

    /// A warning at `span`.
    pub fn warning(code: &'static str, span: Span, title: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, span, title) }
    }

    /// Says what the first place shows.
    #[must_use]
    pub fn here(mut self, text: impl Into<String>) -> Self {
        if let Some(first) = self.labels.first_mut() {
            first.text = text.into();
        }
        self
    }

    /// Adds another place.
    #[must_use]
    pub fn and(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Adds what to do.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }
}

/// How many diagnostics of one file set are kept: nobody mends more in one go, and each one is drawn.
pub const KEPT: usize = 100;

/// How many places one diagnostic shows.
const PLACES: usize = 8;

/// How many letters a sentence has before its middle is left out: names come from the file, and may be of any length.
const LETTERS: usize = 800;

/// Where diagnostics are collected.
#[derive(Default, Debug)]
pub struct Report {
    kept: Vec<Diagnostic>,
    /// Errors beyond those that are kept.
    more_errors: usize,
    /// Warnings beyond those that are kept.
    more_warnings: usize,
    /// See [`Report::lose_the_thread`].
    lost: bool,
}

impl Report {
    /// Adds one.
    pub fn add(&mut self, diagnostic: Diagnostic) {
        if self.kept.len() >= KEPT {
            // An error is never left out for a warning.
            let warning = self.kept.iter_mut().rfind(|kept| kept.severity == Severity::Warning);
            match (diagnostic.severity, warning) {
                (Severity::Error, Some(warning)) => {
                    *warning = short(diagnostic);
                    self.more_warnings += 1;
                }
                (Severity::Error, None) => self.more_errors += 1,
                (Severity::Warning, _) => self.more_warnings += 1,
            }
            return;
        }
        self.kept.push(short(diagnostic));
    }

    /// Adds an error that is costly to word; beyond those that are kept it is only counted.
    pub fn add_error(&mut self, worded: impl FnOnce() -> Diagnostic) {
        if self.kept.len() >= KEPT && self.kept.iter().all(|kept| kept.severity == Severity::Error) {
            self.more_errors += 1;
        } else {
            self.add(worded());
        }
    }

    /// Says that a fault was such that what follows in the file cannot be told from what it caused.
    pub fn lose_the_thread(&mut self) {
        self.lost = true;
    }

    /// Whether only the faults that are reported already are sure.
    #[must_use]
    pub fn has_lost_the_thread(&self) -> bool {
        self.lost
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.kept.len() + self.left_out()
    }

    /// Whether one of them is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.more_errors > 0 || self.kept.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Whether one of them says that the shape of a graph is not known: a name, a value, an edge is wrong.
    #[must_use]
    pub fn shape_is_open(&self) -> bool {
        let of_shape = |code: &str| code.starts_with("PL00") || code.starts_with("PL02");
        self.more_errors > 0 || self.kept.iter().any(|found| found.severity == Severity::Error && of_shape(found.code))
    }

    /// How many are not kept.
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.more_errors + self.more_warnings
    }

    /// Those that are kept, by place and without repetitions; the last one says how many more there are.
    #[must_use]
    pub fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.kept.sort_by_key(|diagnostic| {
            let span = diagnostic.labels.first().map(|label| label.span);
            (span.map(|span| (span.start, span.end)), diagnostic.code)
        });
        self.kept.dedup();
        let more = self.left_out();
        if let Some(last) = self.kept.last_mut().filter(|_| more > 0) {
            last.notes.push(format!("and {more} more faults, which are not shown"));
        }
        self.kept
    }
}

/// The diagnostic with no more places and no longer sentences than one reads.
fn short(mut diagnostic: Diagnostic) -> Diagnostic {
    if diagnostic.labels.len() > PLACES {
        diagnostic.notes.push(format!("and {} more places", diagnostic.labels.len() - PLACES));
        diagnostic.labels.truncate(PLACES);
    }
    let labels = diagnostic.labels.iter_mut().map(|label| &mut label.text);
    let others = diagnostic.notes.iter_mut().chain(&mut diagnostic.help);
    for sentence in labels.chain(others).chain([&mut diagnostic.title]) {
        if sentence.len() > LETTERS {
            let head = sentence.floor_char_boundary(LETTERS / 2);
            let tail = sentence.ceil_char_boundary(sentence.len() - LETTERS / 4);
            *sentence = format!("{} … {}", &sentence[..head], &sentence[tail..]);
        }
    }
    diagnostic
}
