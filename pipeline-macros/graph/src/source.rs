//! The texts that diagnostics point into.

use std::io::Read;
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
    /// As the operating system says; what is no regular file (a folder, a pipe, a device) is `InvalidInput`, what has more
    /// than 16 MiB or is not UTF-8 is `InvalidData`, and the error says which.
    pub fn read(path: &Path, shown: impl Into<String>) -> std::io::Result<Self> {
        /// Nobody writes more by hand, and offsets must fit 32 bits.
        const LIMIT_BYTES: u64 = 16 << 20;
        let wrong = |why: String| std::io::Error::new(std::io::ErrorKind::InvalidData, why);
        // Asked before it is opened: to open a pipe waits for whoever writes into it.
        let kind = std::fs::metadata(path)?;
        if !kind.is_file() {
            let found = if kind.is_dir() { "a folder" } else { "a pipe, a device or a socket" };
            let why = format!("it is {found}, not a regular file");
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, why));
        }
        let mut bytes = Vec::new();
        // The length is not asked for: it may change, and some files do not know theirs.
        std::fs::File::open(path)?.take(LIMIT_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LIMIT_BYTES {
            return Err(wrong("it has more than 16 MiB".to_owned()));
        }
        let text = String::from_utf8(bytes)
            .map_err(|error| wrong(format!("it is not UTF-8: byte {} is wrong", error.utf8_error().valid_up_to())))?;
        Ok(Self { shown: shown.into(), text, path: Some(path.to_owned()) })
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
