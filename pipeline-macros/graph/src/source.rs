//! The texts that diagnostics point into.

use std::path::{Path, PathBuf};

/// A file of [`Sources`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FileId(u16);

/// A stretch of a file, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// Where it begins.
    pub start: u32,
    /// Where it ends; the byte there is outside.
    pub end: u32,
}

impl Span {
    /// From the beginning of this span to the end of `other`, which lies behind it in the same file.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span { end: other.end, ..self }
    }

    /// The place just behind this span.
    #[must_use]
    pub fn behind(self) -> Span {
        Span { start: self.end, ..self }
    }
}

/// A value and where it was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub span: Span,
}

impl<T> At<T> {
    /// The value with another type, at the same place.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> At<U> {
        At { value: change(self.value), span: self.span }
    }
}

/// A text with the name under which diagnostics show it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// The name that diagnostics show, which is also the graph's, the SKU's or the catalogue's path in the plan.
    pub shown: String,
    /// The text.
    pub text: String,
    /// The file that it was read from, if it was: what a build must watch.
    pub path: Option<PathBuf>,
}

impl Source {
    /// A text that no file holds.
    pub fn inline(shown: impl Into<String>, text: impl Into<String>) -> Self {
        Self { shown: shown.into(), text: text.into(), path: None }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// As the operating system says; a file of more than 16 MiB or that is not UTF-8 is `InvalidData`.
    pub fn read(path: &Path, shown: impl Into<String>) -> std::io::Result<Self> {
        /// Nobody writes more by hand, and offsets must fit 32 bits.
        const LIMIT_BYTES: u64 = 16 << 20;
        if std::fs::metadata(path)?.len() > LIMIT_BYTES {
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, "it has more than 16 MiB"));
        }
        Ok(Self { shown: shown.into(), text: std::fs::read_to_string(path)?, path: Some(path.to_owned()) })
    }
}

/// The texts of one run.
#[derive(Clone, Default, Debug)]
pub struct Sources(Vec<Source>);

impl Sources {
    /// Adds a text.
    ///
    /// # Panics
    /// After 65,535 texts; a run has three.
    pub fn add(&mut self, source: Source) -> FileId {
        let id = u16::try_from(self.0.len()).expect("a run has a handful of files");
        self.0.push(source);
        FileId(id)
    }

    /// A text that was added.
    #[must_use]
    pub fn get(&self, file: FileId) -> &Source {
        &self.0[usize::from(file.0)]
    }

    /// All texts, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.0.iter()
    }
}
