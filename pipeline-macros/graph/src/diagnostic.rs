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

/// Where diagnostics are collected.
#[derive(Default, Debug)]
pub struct Report(Vec<Diagnostic>);

impl Report {
    /// Adds one.
    pub fn add(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Whether one of them is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Whether one of them says that the shape of a graph is not known: a name, a value, an edge is wrong.
    #[must_use]
    pub fn shape_is_open(&self) -> bool {
        let of_shape = |code: &str| code.starts_with("PL00") || code.starts_with("PL02");
        self.0.iter().any(|found| found.severity == Severity::Error && of_shape(found.code))
    }

    /// All of them by place, without repetitions.
    #[must_use]
    pub fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.0.sort_by_key(|diagnostic| {
            let span = diagnostic.labels.first().map(|label| label.span);
            (span.map(|span| (span.start, span.end)), diagnostic.code)
        });
        self.0.dedup();
        self.0
    }
}
