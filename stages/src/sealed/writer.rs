//! Writing a sealed file: whole or not at all.

use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::pieces::{Digest, PieceHasher};
use super::{ALIGNMENT, HEAD_BYTES, Kind, LINE_BYTES, MOST_SECTIONS, SEAL, Section};
use crate::error::Error;
use crate::partial::PartialFile;

/// The bytes that are gathered before the system is asked to write them.
const BUFFER_BYTES: usize = 1 << 20;

/// A sealed file that takes its name when it is complete; or a rehearsal, which writes nothing and only learns the digests.
pub(crate) struct SealedWriter {
    kind: Kind,
    output: Option<PartialFile>,
    offset: u64,
    sections: Vec<Section>,
    open: PieceHasher,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) seal: Digest,
    pub(crate) length: u64,
    pub(crate) sections: Vec<Section>,
}

impl SealedWriter {
    pub(crate) fn create(path: &Path, kind: Kind) -> Result<Self, Error> {
        let output = PartialFile::create(path, BUFFER_BYTES)?;
        let mut writer = Self { output: Some(output), ..Self::rehearsal(kind) };
        // The header comes last, into this room.
        writer.put(&[0; ALIGNMENT as usize])?;
        Ok(writer)
    }

    pub(crate) fn rehearsal(kind: Kind) -> Self {
        Self { kind, output: None, offset: ALIGNMENT, sections: Vec::new(), open: PieceHasher::default() }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        match &mut self.output {
            Some(output) => output.put(bytes),
            None => Ok(()),
        }
    }

    /// Begins a section; the one before ends.
    pub(crate) fn begin(&mut self, number: u32) -> Result<(), Error> {
        self.end();
        if self.sections.len() == MOST_SECTIONS {
            return Err(Error::Internal(format!("more than {MOST_SECTIONS} sections")));
        }
        let padding = self.offset.next_multiple_of(ALIGNMENT) - self.offset;
        self.put(&[0; ALIGNMENT as usize][..padding as usize])?;
        self.offset += padding;
        self.sections.push(Section { number, offset: self.offset, length: 0, digest: [0; 32] });
        Ok(())
    }

    /// Adds bytes to the section.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.put(bytes)?;
        self.open.update(bytes);
        self.offset += bytes.len() as u64;
        Ok(())
    }

    /// A whole section.
    pub(crate) fn section(&mut self, number: u32, bytes: &[u8]) -> Result<(), Error> {
        self.begin(number)?;
        self.append(bytes)
    }

    fn end(&mut self) {
        let open = std::mem::take(&mut self.open);
        if let Some(section) = self.sections.last_mut() {
            section.length = self.offset - section.offset;
            section.digest = open.finish();
        }
    }

    /// The section that was written last, ended.
    pub(crate) fn last_section(&mut self) -> Option<Section> {
        let open = self.open.clone();
        self.sections.last().map(|section| Section {
            length: self.offset - section.offset,
            digest: open.finish(),
            ..*section
        })
    }

    /// Writes the header and gives the file its name.
    pub(crate) fn finish(mut self) -> Result<Written, Error> {
        self.end();
        let (header, seal) = header(&self.kind, self.offset, &self.sections);
        if let Some(mut output) = self.output {
            output.put_at_start(&header)?;
            output.finish()?;
        }
        Ok(Written { seal, length: self.offset, sections: self.sections })
    }
}

fn header(kind: &Kind, length: u64, sections: &[Section]) -> (Vec<u8>, Digest) {
    let mut header = Vec::with_capacity(HEAD_BYTES + sections.len() * LINE_BYTES);
    header.extend(kind.magic);
    header.extend(kind.version.to_le_bytes());
    header.extend((sections.len() as u32).to_le_bytes());
    header.extend(length.to_le_bytes());
    header.extend([0; 32]);
    for Section { number, offset, length, digest } in sections {
        header.extend(number.to_le_bytes());
        header.extend([0; 4]);
        header.extend(offset.to_le_bytes());
        header.extend(length.to_le_bytes());
        header.extend(digest);
    }
    let seal: Digest = Sha256::digest(&header).into();
    header[SEAL].copy_from_slice(&seal);
    (header, seal)
}
