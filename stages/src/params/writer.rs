//! Writing a key file: whole or not at all.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::point::Point;
use crate::error::Error;

/// A key file that takes its name when it is complete, and leaves nothing behind when it is not.
pub(super) struct KeyWriter {
    path: PathBuf,
    partial: Partial,
    file: BufWriter<File>,
    buffer: Vec<u8>,
}

/// An unfinished file; gone when dropped, unless it was given its name.
struct Partial(Option<PathBuf>);

impl Partial {
    fn path(&self) -> &Path {
        self.0.as_deref().unwrap_or(Path::new(""))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if let Some(path) = self.0.take() {
            // The error that led here is the one to tell.
            let _ = fs::remove_file(path);
        }
    }
}

impl KeyWriter {
    pub(super) fn create(path: &Path) -> Result<Self, Error> {
        // A name of this process's own, so that two setups into one folder never write into one file.
        let mut partial = path.as_os_str().to_owned();
        partial.push(format!(".{}.partial", std::process::id()));
        let partial = PathBuf::from(partial);
        let file = File::create(&partial).map_err(Error::io("create", &partial))?;
        let (path, file) = (path.to_owned(), BufWriter::new(file));
        Ok(Self { path, partial: Partial(Some(partial)), file, buffer: Vec::new() })
    }

    pub(super) fn point<P: Point>(&mut self, point: &P) -> Result<(), Error> {
        self.buffer.clear();
        point.encode(&mut self.buffer);
        self.file.write_all(&self.buffer).map_err(Error::io("write", self.partial.path()))
    }

    /// A count and the points.
    pub(super) fn points<P: Point>(&mut self, points: &[P], what: &str) -> Result<(), Error> {
        let count = u32::try_from(points.len()).map_err(|_| {
            Error::Mismatch(format!("{what} has {} points, and the format counts to {}", points.len(), u32::MAX))
        })?;
        self.file.write_all(&count.to_be_bytes()).map_err(Error::io("write", self.partial.path()))?;
        points.iter().try_for_each(|point| self.point(point))
    }

    /// Gives the file its name.
    pub(super) fn finish(self) -> Result<(), Error> {
        let Self { path, mut partial, file, .. } = self;
        let file = file.into_inner().map_err(|error| Error::io("write", partial.path())(error.into_error()))?;
        file.sync_all().map_err(Error::io("write", partial.path()))?;
        fs::rename(partial.path(), &path).map_err(Error::io("create", &path))?;
        partial.0 = None;
        Ok(())
    }
}
