//! A container that stays on disk: only the places of its sections are in memory.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::container::{check_magic, check_sections, check_version};
use super::{Cursor, HEAD_BYTES, MOST_HEADER_BYTES, SECTION_HEAD_BYTES};
use crate::error::Error;
use crate::partial::open_regular;

/// Where a section's content is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// From the start of the file.
    pub(crate) offset: u64,
    /// Bytes.
    pub(crate) length: u64,
}

/// A container, open for reading at any place, by several threads at once.
pub(crate) struct SectionFile {
    path: PathBuf,
    file: File,
    length: u64,
    sections: Vec<(u32, Place)>,
}

impl SectionFile {
    /// Opens a file and finds its sections. Unknown ones are kept too; what follows the last one is an error.
    pub(crate) fn open(path: &Path, magic: &str, version: u32) -> Result<Self, Error> {
        let file = open_regular(path).map_err(|error| match error {
            Error::NotRegular { file, .. } => Error::NotRegular { file, advice: format!(": give a `.{magic}` file") },
            other => other,
        })?;
        let metadata = file.metadata().map_err(Error::io("read", path))?;
        let mut opened = Self { path: path.to_owned(), file, length: metadata.len(), sections: Vec::new() };
        opened.find_sections(magic, version)?;
        Ok(opened)
    }

    fn find_sections(&mut self, magic: &str, version: u32) -> Result<(), Error> {
        let head = self.read_small(Place { offset: 0, length: HEAD_BYTES.min(self.length) })?;
        let path = self.path.clone();
        let mut cursor = Cursor::new(&path, &head);
        check_magic(&mut cursor, magic)?;
        check_version(&mut cursor, magic, version)?;
        let count = u64::from(cursor.u32("the number of sections")?);
        check_sections(&cursor, count, self.length.saturating_sub(HEAD_BYTES) / SECTION_HEAD_BYTES)?;
        let mut offset = HEAD_BYTES;
        for _ in 0..count {
            let head = self.read_small(Place { offset, length: SECTION_HEAD_BYTES.min(self.length - offset) })?;
            let mut cursor = Cursor::at(&path, &head, offset);
            let id = cursor.u32("a section's number")?;
            let length = cursor.u64("a section's length")?;
            if self.sections.iter().any(|(other, _)| *other == id) {
                return Err(self.malformed(offset, format!("section {id} is there twice")));
            }
            offset += SECTION_HEAD_BYTES;
            let left = self.length - offset;
            if length > left {
                let (file, what) = (path, format!("section {id}"));
                return Err(Error::Truncated { file, offset, what, needed: length, left });
            }
            self.sections.push((id, Place { offset, length }));
            offset += length;
        }
        match self.length - offset {
            0 => Ok(()),
            left => Err(self.malformed(offset, format!("{left} bytes follow the last section; the file is damaged"))),
        }
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The section with this number.
    pub(crate) fn section(&self, id: u32, what: &str) -> Result<Place, Error> {
        let found = self.sections.iter().find(|(found, _)| *found == id).map(|(_, place)| *place);
        found.ok_or_else(|| self.malformed(self.length, format!("the file ends without section {id}, {what}")))
    }

    /// The section with this number, which must have so many bytes.
    pub(crate) fn section_of(&self, id: u32, what: &str, length: u64) -> Result<Place, Error> {
        let place = self.section(id, what)?;
        if place.length != length {
            let fault = format!(
                "section {id}, {what}, has {} bytes, and {length} are what the header makes of it; the file is damaged",
                place.length
            );
            return Err(self.malformed(place.offset, fault));
        }
        Ok(place)
    }

    /// Reads a place whose length the caller has bounded.
    pub(crate) fn read_small(&self, place: Place) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; usize::try_from(place.length).unwrap_or(usize::MAX)];
        self.read_at(place.offset, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads a section that is a header, with its offset; of one that is far too long only the beginning.
    pub(crate) fn read_header(&self, id: u32) -> Result<(Vec<u8>, u64), Error> {
        let place = self.section(id, "the header")?;
        let bytes = self.read_small(Place { length: place.length.min(MOST_HEADER_BYTES), ..place })?;
        Ok((bytes, place.offset))
    }

    /// Fills `bytes` with what is at `offset`.
    pub(crate) fn read_at(&self, offset: u64, bytes: &mut [u8]) -> Result<(), Error> {
        self.file.read_exact_at(bytes, offset).map_err(Error::io("read", &self.path))
    }

    /// An error at a place of this file.
    pub(crate) fn malformed(&self, offset: u64, fault: String) -> Error {
        Error::Malformed { file: self.path.clone(), offset, fault }
    }
}
