//! Writing a key file: whole or not at all.

use std::path::Path;

use rayon::prelude::*;

use super::point::Point;
use crate::error::Error;
use crate::partial::PartialFile;
use crate::sealed::{Digest, PieceHasher};

/// The bytes that are gathered before the system is asked to write them.
const BUFFER_BYTES: usize = 1 << 16;
/// Points that are encoded in parallel, then written.
const POINTS_PER_PIECE: usize = 1 << 15;

/// A key file that takes its name when it is complete, and leaves nothing behind when it is not.
pub(super) struct KeyWriter {
    file: PartialFile,
    buffer: Vec<u8>,
    hasher: PieceHasher,
    length: u64,
}

impl KeyWriter {
    pub(super) fn create(path: &Path) -> Result<Self, Error> {
        let file = PartialFile::create(path, BUFFER_BYTES)?;
        Ok(Self { file, buffer: Vec::new(), hasher: PieceHasher::default(), length: 0 })
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.file.put(bytes)?;
        self.hasher.update(bytes);
        self.length += bytes.len() as u64;
        Ok(())
    }

    pub(super) fn point<P: Point>(&mut self, point: &P) -> Result<(), Error> {
        let mut bytes = Vec::new();
        point.append_to(&mut bytes);
        self.put(&bytes)
    }

    /// A count and the points, encoded on the rayon pool that this is called in.
    pub(super) fn points<P: Point>(&mut self, points: &[P], what: &str) -> Result<(), Error> {
        let count = u32::try_from(points.len()).map_err(|_| {
            Error::Mismatch(format!("{what} has {} points, and the format counts to {}", points.len(), u32::MAX))
        })?;
        self.put(&count.to_be_bytes())?;
        let mut bytes = std::mem::take(&mut self.buffer);
        for piece in points.chunks(POINTS_PER_PIECE) {
            bytes.resize(piece.len() * P::BYTES, 0);
            bytes.par_chunks_exact_mut(P::BYTES).zip(piece).for_each(|(bytes, point)| point.encode(bytes));
            self.put(&bytes)?;
        }
        self.buffer = bytes;
        Ok(())
    }

    /// Gives the file its name; what comes back is its digest and its length.
    pub(super) fn finish(self) -> Result<(Digest, u64), Error> {
        self.file.finish()?;
        Ok((self.hasher.finish(), self.length))
    }
}
