//! Reading a key file from its front, a piece at a time: a key can be larger than it is wise to hold twice.

use std::io::{BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use proofline_kernels::scalars::MAX_LEN;

use super::point::Point;
use super::subgroup::checked;
use crate::error::Error;
use crate::kind;
use crate::partial::open_regular;
use crate::progress::{Progress, Watch};
use crate::sealed::{Digest, PieceHasher};

/// Points that are read and then checked in parallel: some megabytes, and many against the 2^10 buckets of the check.
const POINTS_PER_PIECE: usize = 1 << 15;

/// Whether a point at infinity may stand somewhere.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Infinity {
    Refused,
    Allowed,
}

/// A key file, open.
pub(super) struct KeyReader {
    path: PathBuf,
    input: Box<dyn Read + Send + Sync>,
    offset: u64,
    length: u64,
    /// Of all that was read.
    hasher: PieceHasher,
}

impl KeyReader {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let file = open_regular(path)?;
        if let Some(kind) = kind::of_file(path) {
            let fault =
                format!("this is {kind}, not a key: give a `.params`, `.vk` or `.zkey` file, or the folder of one");
            return Err(Error::Malformed { file: path.to_owned(), offset: 0, fault });
        }
        let length = file.metadata().map_err(Error::io("read", path))?.len();
        let (path, input) = (path.to_owned(), Box::new(BufReader::new(file)));
        Ok(Self { path, input, offset: 0, length, hasher: PieceHasher::default() })
    }

    /// Reads a key's bytes that stand at `offset` in the file.
    pub(super) fn over(path: &Path, offset: u64, bytes: Vec<u8>) -> Self {
        let length = offset + bytes.len() as u64;
        let (path, input) = (path.to_owned(), Box::new(Cursor::new(bytes)));
        Self { path, input, offset, length, hasher: PieceHasher::default() }
    }

    /// Digest and number of all bytes that were read so far.
    pub(super) fn digest(&self) -> (Digest, u64) {
        (self.hasher.clone().finish(), self.offset)
    }

    /// Whether nothing is left to be read.
    pub(super) fn is_at_its_end(&self) -> bool {
        self.left() == 0
    }

    fn left(&self) -> u64 {
        self.length.saturating_sub(self.offset)
    }

    fn fill(&mut self, bytes: &mut [u8], what: &str) -> Result<(), Error> {
        let needed = bytes.len() as u64;
        if needed > self.left() {
            let (file, what) = (self.path.clone(), what.to_owned());
            return Err(Error::Truncated { file, offset: self.offset, what, needed, left: self.left() });
        }
        self.input.read_exact(bytes).map_err(Error::io("read", &self.path))?;
        self.hasher.update(bytes);
        self.offset += needed;
        Ok(())
    }

    /// A point of the verifying key.
    pub(super) fn point<P: Point>(&mut self, what: &str) -> Result<P, Error> {
        let offset = self.offset;
        let mut bytes = vec![0; P::BYTES];
        self.fill(&mut bytes, what)?;
        match self.decode::<P>(&bytes, offset, Infinity::Refused, |_| what.to_owned())?[..] {
            [point] => Ok(point),
            _ => Err(Error::Internal(format!("one point was read as {what}, and not one came"))),
        }
    }

    /// A count and so many points.
    pub(super) fn points<P: Point>(
        &mut self,
        what: &'static str,
        infinity: Infinity,
        watch: Watch<'_>,
    ) -> Result<Vec<P>, Error> {
        let mut points = Vec::new();
        self.points_in_pieces(what, infinity, watch, |piece: Vec<P>| {
            points.extend(piece);
            Ok(())
        })?;
        Ok(points)
    }

    /// A count and so many points, handed over as they come.
    pub(super) fn points_in_pieces<P: Point>(
        &mut self,
        what: &'static str,
        infinity: Infinity,
        watch: Watch<'_>,
        mut take: impl FnMut(Vec<P>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let count = self.count(what, P::BYTES as u64)?;
        let mut bytes = Vec::new();
        let mut first = 0;
        while first < count {
            watch(Progress { what, done: first as u64, total: count as u64 });
            let piece = POINTS_PER_PIECE.min(count - first);
            let offset = self.offset;
            bytes.resize(piece * P::BYTES, 0);
            self.fill(&mut bytes, what)?;
            take(self.decode::<P>(&bytes, offset, infinity, |i| format!("point {} of {what}", first + i))?)?;
            first += piece;
        }
        watch(Progress { what, done: count as u64, total: count as u64 });
        Ok(())
    }

    /// A number of points that the rest of the file can hold.
    fn count(&mut self, what: &str, each: u64) -> Result<usize, Error> {
        let offset = self.offset;
        let mut count = [0; 4];
        self.fill(&mut count, &format!("the number of points of {what}"))?;
        let count = u32::from_be_bytes(count);
        let most = self.left() / each;
        if u64::from(count) > most {
            let fault = format!(
                "{what} should have {count} points, but the {} bytes that follow hold {most} at most; the file was cut \
                 off, or it is no `.params` file",
                self.left()
            );
            return Err(Error::Malformed { file: self.path.clone(), offset, fault });
        }
        match usize::try_from(count) {
            Ok(count) if count <= MAX_LEN => Ok(count),
            _ => {
                let fault = format!("{what} has {count} points, and this program sums {MAX_LEN} at most");
                Err(Error::Malformed { file: self.path.clone(), offset, fault })
            }
        }
    }

    /// The points that these bytes, from `offset` on, are; each is checked for curve and subgroup.
    fn decode<P: Point>(
        &self,
        bytes: &[u8],
        offset: u64,
        infinity: Infinity,
        name: impl Fn(usize) -> String + Sync,
    ) -> Result<Vec<P>, Error> {
        let refused = |index: usize, fault: &str| {
            let fault = format!("{} ({}) {fault}; get the key from its maker again", name(index), P::GROUP);
            Error::Malformed { file: self.path.clone(), offset: offset + (index * P::BYTES) as u64, fault }
        };
        let decode = |bytes: &[u8]| match P::decode(bytes)? {
            point if infinity == Infinity::Refused && bool::from(point.is_identity()) => {
                Err("is the point at infinity")
            }
            point => Ok(point),
        };
        checked(bytes, P::BYTES, decode, refused)
    }

    /// Refuses what follows the end of the key.
    pub(super) fn expect_end(&self) -> Result<(), Error> {
        match self.left() {
            0 => Ok(()),
            left => {
                let fault = format!("{left} bytes follow the end of the key; the file is damaged or of another kind");
                Err(Error::Malformed { file: self.path.clone(), offset: self.offset, fault })
            }
        }
    }
}
