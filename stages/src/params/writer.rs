//! Writing a key file: whole or not at all.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::point::Point;
use crate::error::Error;

/// A key file that takes its name when it is complete.
pub(super) struct KeyWriter {
    path: PathBuf,
    partial: PathBuf,
    file: BufWriter<File>,
    buffer: Vec<u8>,
}

impl KeyWriter {
    pub(super) fn create(path: &Path) -> Result<Self, Error> {
        let mut partial = path.as_os_str().to_owned();
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        let file = File::create(&partial).map_err(Error::io("create", &partial))?;
        Ok(Self { path: path.to_owned(), partial, file: BufWriter::new(file), buffer: Vec::new() })
    }

    pub(super) fn point<P: Point>(&mut self, point: &P) -> Result<(), Error> {
        self.buffer.clear();
        point.encode(&mut self.buffer);
        self.file.write_all(&self.buffer).map_err(Error::io("write", &self.partial))
    }

    /// A count and the points.
    pub(super) fn points<P: Point>(&mut self, points: &[P], what: &str) -> Result<(), Error> {
        let count = u32::try_from(points.len()).map_err(|_| {
            Error::Mismatch(format!("{what} has {} points, and the format counts to {}", points.len(), u32::MAX))
        })?;
        self.file.write_all(&count.to_be_bytes()).map_err(Error::io("write", &self.partial))?;
        points.iter().try_for_each(|point| self.point(point))
    }

    /// Gives the file its name.
    pub(super) fn finish(self) -> Result<(), Error> {
        let Self { path, partial, file, .. } = self;
        let file = file.into_inner().map_err(|error| Error::io("write", &partial)(error.into_error()))?;
        file.sync_all().map_err(Error::io("write", &partial))?;
        fs::rename(&partial, &path).map_err(Error::io("create", &path))
    }
}
