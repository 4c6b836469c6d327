//! Reading numbers out of bytes without ever reading past them.

use std::path::Path;

use blstrs::Scalar;

use crate::error::Error;

/// The bytes of a scalar in circom's files: canonical, little-endian.
pub(crate) const SCALAR_BYTES: u64 = 32;

/// A place in a file that is in memory.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    file: &'a Path,
    bytes: &'a [u8],
    /// The offset of `bytes[0]` in the file.
    offset: u64,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(file: &'a Path, bytes: &'a [u8]) -> Self {
        Self::at(file, bytes, 0)
    }

    /// Bytes that stand at `offset` in the file.
    pub(crate) fn at(file: &'a Path, bytes: &'a [u8], offset: u64) -> Self {
        Self { file, bytes, offset }
    }

    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn left(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// The next `length` bytes.
    pub(crate) fn take(&mut self, length: u64, what: &str) -> Result<&'a [u8], Error> {
        match usize::try_from(length).ok().and_then(|length| self.bytes.split_at_checked(length)) {
            Some((taken, rest)) => {
                self.bytes = rest;
                self.offset += length;
                Ok(taken)
            }
            None => Err(Error::Truncated {
                file: self.file.to_owned(),
                offset: self.offset,
                what: what.to_owned(),
                needed: length,
                left: self.left(),
            }),
        }
    }

    /// The next `length` bytes, as a cursor of their own.
    pub(crate) fn section(&mut self, length: u64, what: &str) -> Result<Self, Error> {
        let offset = self.offset;
        Ok(Self { file: self.file, bytes: self.take(length, what)?, offset })
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], Error> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N as u64, what)?);
        Ok(array)
    }

    pub(crate) fn u32(&mut self, what: &str) -> Result<u32, Error> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u64(&mut self, what: &str) -> Result<u64, Error> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn bytes32(&mut self, what: &str) -> Result<[u8; 32], Error> {
        self.array(what)
    }

    /// The next scalar; values from r on are refused, for they have two encodings.
    pub(crate) fn scalar(&mut self, what: &str) -> Result<Scalar, Error> {
        let offset = self.offset;
        let bytes = self.bytes32(what)?;
        Option::from(Scalar::from_bytes_le(&bytes)).ok_or_else(|| {
            self.malformed(offset, format!("{what} is not below the field's prime r; write the file again"))
        })
    }

    /// A count of things of at least `each` bytes; refused where the bytes that are left cannot hold so many.
    pub(crate) fn count(&mut self, each: u64, what: &str) -> Result<usize, Error> {
        let offset = self.offset;
        let count = self.u32(what)?;
        self.check_count(offset, u64::from(count), each, what)
    }

    /// Refuses a count, read at `offset`, that the bytes that are left cannot hold.
    pub(crate) fn check_count(&self, offset: u64, count: u64, each: u64, what: &str) -> Result<usize, Error> {
        self.check_count_in(self.left(), offset, count, each, what)
    }

    /// Refuses a count, read at `offset`, that so many bytes, which stand elsewhere, cannot hold.
    pub(crate) fn check_count_in(
        &self,
        bytes: u64,
        offset: u64,
        count: u64,
        each: u64,
        what: &str,
    ) -> Result<usize, Error> {
        let most = bytes / each;
        match usize::try_from(count) {
            Ok(count) if count as u64 <= most => Ok(count),
            _ => Err(self.malformed(
                offset,
                format!("{what} is {count}, but the bytes that follow hold {most} at most; the file is damaged"),
            )),
        }
    }

    pub(crate) fn malformed(&self, offset: u64, fault: String) -> Error {
        Error::Malformed { file: self.file.to_owned(), offset, fault }
    }

    pub(crate) fn file(&self) -> &'a Path {
        self.file
    }
}
