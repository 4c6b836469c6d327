//! Writing a key file: whole or not at all.

use std::path::Path;

use super::point::Point;
use crate::error::Error;
use crate::partial::PartialFile;

/// The bytes that are gathered before the system is asked to write them.
const BUFFER_BYTES: usize = 1 << 16;

/// A key file that takes its name when it is complete, and leaves nothing behind when it is not.
pub(super) struct KeyWriter {
    file: PartialFile,
    buffer: Vec<u8>,
}

impl KeyWriter {
    pub(super) fn create(path: &Path) -> Result<Self, Error> {
        Ok(Self { file: PartialFile::create(path, BUFFER_BYTES)?, buffer: Vec::new() })
    }

    pub(super) fn point<P: Point>(&mut self, point: &P) -> Result<(), Error> {
        self.buffer.clear();
        point.encode(&mut self.buffer);
        self.file.put(&self.buffer)
    }

    /// A count and the points.
    pub(super) fn points<P: Point>(&mut self, points: &[P], what: &str) -> Result<(), Error> {
        let count = u32::try_from(points.len()).map_err(|_| {
            Error::Mismatch(format!("{what} has {} points, and the format counts to {}", points.len(), u32::MAX))
        })?;
        self.file.put(&count.to_be_bytes())?;
        points.iter().try_for_each(|point| self.point(point))
    }

    /// Gives the file its name.
    pub(super) fn finish(self) -> Result<(), Error> {
        self.file.finish()
    }
}
