//! Reading a sealed file.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use sha2::{Digest as _, Sha256};

use super::pieces::{Digest, PIECE_BYTES, combine, digest_of_piece};
use super::{ALIGNMENT, HEAD_BYTES, Kind, LINE_BYTES, MOST_SECTIONS, SEAL, Section};
use crate::error::Error;
use crate::partial::open_regular;

/// A sealed file, open, its header checked.
pub(crate) struct Sealed {
    path: PathBuf,
    kind: Kind,
    file: File,
    length: u64,
    seal: Digest,
    sections: Vec<Section>,
}

/// Whether a file begins as one of this kind does.
pub(crate) fn begins_as(path: &Path, kind: &Kind) -> bool {
    let mut magic = [0; 8];
    open_regular(path).is_ok_and(|mut file| file.read_exact(&mut magic).is_ok()) && magic == kind.magic
}

impl Sealed {
    pub(crate) fn open(path: &Path, kind: Kind) -> Result<Self, Error> {
        let file = open_regular(path)?;
        let length = file.metadata().map_err(Error::io("read", path))?.len();
        let mut sealed = Self { path: path.to_owned(), kind, file, length, seal: [0; 32], sections: Vec::new() };
        let page = sealed.read_header()?;
        sealed.read_table(&page)?;
        sealed.check_padding(&page)?;
        Ok(sealed)
    }

    pub(crate) fn malformed(&self, offset: u64, fault: &str) -> Error {
        let fault = format!("{fault}; {}", self.kind.advice);
        Error::Malformed { file: self.path.clone(), offset, fault }
    }

    fn read_header(&self) -> Result<Vec<u8>, Error> {
        let needed = ALIGNMENT;
        let mut page = vec![0; needed.min(self.length) as usize];
        self.read_at(&mut page, 0)?;
        if !page.starts_with(&self.kind.magic) {
            return Err(self.malformed(0, &format!("it does not begin as {} does", self.kind.what)));
        }
        if self.length < needed {
            let (what, length) = (self.kind.what, self.length);
            return Err(self.malformed(0, &format!("the header of {what} takes {needed} bytes and {length} are there")));
        }
        let version = number(&page[8..12]);
        if version != u64::from(self.kind.version) {
            let ours = self.kind.version;
            return Err(self.malformed(8, &format!("the version is {version}, and this program reads {ours}")));
        }
        Ok(page)
    }

    fn read_table(&mut self, page: &[u8]) -> Result<(), Error> {
        let count = number(&page[12..16]) as usize;
        if count > MOST_SECTIONS {
            return Err(self.malformed(12, &format!("it has {count} sections, and {MOST_SECTIONS} fit")));
        }
        let header = &page[..HEAD_BYTES + count * LINE_BYTES];
        let mut unsealed = header.to_vec();
        unsealed[SEAL].fill(0);
        self.seal.copy_from_slice(&header[SEAL]);
        if Sha256::digest(&unsealed)[..] != self.seal {
            return Err(self.malformed(SEAL.start as u64, "the header was altered: its digest is another"));
        }
        let stated = number(&page[16..24]);
        if stated != self.length {
            let length = self.length;
            let fault = format!("it should have {stated} bytes and has {length}: it was cut off or added to");
            return Err(self.malformed(16, &fault));
        }
        let mut end = ALIGNMENT;
        for (index, line) in header[HEAD_BYTES..].chunks_exact(LINE_BYTES).enumerate() {
            let (offset, length) = (number(&line[8..16]), number(&line[16..24]));
            let mut digest = [0; 32];
            digest.copy_from_slice(&line[24..]);
            let after = offset.checked_add(length).filter(|after| *after <= self.length);
            let (true, Some(after)) = (offset == end.next_multiple_of(ALIGNMENT), after) else {
                let at = (HEAD_BYTES + index * LINE_BYTES) as u64;
                return Err(self.malformed(at, &format!("section {index} is not where it should be")));
            };
            let (own, nothing) = (number(&line[..4]) as u32, &line[4..8]);
            if nothing != [0; 4] || self.sections.iter().any(|section| section.number == own) {
                let at = (HEAD_BYTES + index * LINE_BYTES) as u64;
                return Err(self.malformed(at, &format!("section {index} has the number of another, or none")));
            }
            self.sections.push(Section { number: own, offset, length, digest });
            end = after;
        }
        if end != self.length {
            return Err(self.malformed(end, "bytes follow the last section"));
        }
        Ok(())
    }

    fn check_padding(&self, page: &[u8]) -> Result<(), Error> {
        let table = HEAD_BYTES + self.sections.len() * LINE_BYTES;
        let altered = |offset| self.malformed(offset, "there are bytes between the sections: it was altered");
        if page[table..].iter().any(|byte| *byte != 0) {
            return Err(altered(table as u64));
        }
        for pair in self.sections.windows(2) {
            let end = pair[0].offset + pair[0].length;
            let mut padding = [0; ALIGNMENT as usize];
            let padding = &mut padding[..(pair[1].offset - end) as usize];
            self.read_at(padding, end)?;
            if padding.iter().any(|byte| *byte != 0) {
                return Err(altered(end));
            }
        }
        Ok(())
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> Result<(), Error> {
        self.file.read_exact_at(bytes, offset).map_err(Error::io("read", &self.path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    pub(crate) fn seal(&self) -> &Digest {
        &self.seal
    }

    /// Refuses a file that has other sections than these: nobody would look at them, and at their digests.
    pub(crate) fn expect(&self, numbers: &[u32]) -> Result<(), Error> {
        match self.sections.iter().find(|section| !numbers.contains(&section.number)) {
            None => Ok(()),
            Some(Section { number, offset, .. }) => {
                Err(self.malformed(*offset, &format!("{} has no section {number}", self.kind.what)))
            }
        }
    }

    /// The section of this number.
    pub(crate) fn section(&self, number: u32, what: &str) -> Result<Section, Error> {
        let section = self.sections.iter().find(|section| section.number == number).copied();
        section.ok_or_else(|| self.malformed(0, &format!("{what} is missing")))
    }

    /// Reads the piece of a section that begins `within` it, and gives its digest.
    pub(crate) fn read_piece(&self, section: &Section, within: u64, bytes: &mut [u8]) -> Result<Digest, Error> {
        if within + bytes.len() as u64 > section.length {
            return Err(Error::Internal(format!("a piece at {within} of {section:?}")));
        }
        self.read_at(bytes, section.offset + within)?;
        Ok(digest_of_piece(bytes))
    }

    /// Refuses a section whose pieces have other digests than it had when it was written.
    pub(crate) fn check(&self, section: &Section, pieces: &[Digest], what: &str) -> Result<(), Error> {
        if combine(pieces, section.length) == section.digest {
            return Ok(());
        }
        Err(self.malformed(section.offset, &format!("{what} was altered: its digest is another")))
    }

    /// A whole section, read and checked in parallel.
    pub(crate) fn read(&self, number: u32, what: &str) -> Result<Vec<u8>, Error> {
        let section = self.section(number, what)?;
        let length = usize::try_from(section.length)
            .map_err(|_| self.malformed(section.offset, &format!("{what} is larger than the memory")))?;
        // Bounded by the file's length.
        let mut bytes = vec![0; length];
        let pieces = bytes.par_chunks_mut(PIECE_BYTES).enumerate();
        let digests = pieces.map(|(piece, bytes)| self.read_piece(&section, (piece * PIECE_BYTES) as u64, bytes));
        self.check(&section, &digests.collect::<Result<Vec<_>, Error>>()?, what)?;
        Ok(bytes)
    }
}

/// At most eight bytes, little-endian.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
