//! A container that is in memory.

use std::path::Path;

use super::{Cursor, MOST_SECTIONS, SECTION_HEAD_BYTES};
use crate::error::Error;
use crate::kind;

/// A file's sections, by number.
pub(crate) struct Container<'a> {
    whole: Cursor<'a>,
    sections: Vec<(u32, Cursor<'a>)>,
}

impl<'a> Container<'a> {
    /// Finds the sections. Unknown ones are kept too, unread; what follows the last one is an error.
    pub(crate) fn open(file: &'a Path, bytes: &'a [u8], magic: &str, version: u32) -> Result<Self, Error> {
        let mut cursor = Cursor::new(file, bytes);
        check_magic(&mut cursor, magic)?;
        check_version(&mut cursor, magic, version)?;
        let count = u64::from(cursor.u32("the number of sections")?);
        let count = check_sections(&cursor, count, cursor.left() / SECTION_HEAD_BYTES)?;
        let mut sections = Vec::with_capacity(count);
        for _ in 0..count {
            let at = cursor.offset();
            let id = cursor.u32("a section's number")?;
            let length = cursor.u64("a section's length")?;
            if sections.iter().any(|(other, _)| *other == id) {
                return Err(cursor.malformed(at, format!("section {id} is there twice")));
            }
            sections.push((id, cursor.section(length, &format!("section {id}"))?));
        }
        if cursor.left() > 0 {
            let fault = format!("{} bytes follow the last section; the file is damaged", cursor.left());
            return Err(cursor.malformed(cursor.offset(), fault));
        }
        Ok(Self { whole: cursor, sections })
    }

    /// The section with this number.
    pub(crate) fn section(&self, id: u32, what: &str) -> Result<Cursor<'a>, Error> {
        self.sections.iter().find(|(found, _)| *found == id).map(|(_, section)| section.clone()).ok_or_else(|| {
            self.whole.malformed(self.whole.offset(), format!("the file ends without section {id}, {what}"))
        })
    }
}

pub(super) fn check_magic(cursor: &mut Cursor<'_>, magic: &str) -> Result<(), Error> {
    if cursor.left() == 0 {
        return Err(cursor.malformed(0, format!("this is an empty file: give a `.{magic}` file")));
    }
    let found = cursor.take(4, "the magic word")?;
    if found != magic.as_bytes() {
        let kind = kind::of_bytes(found).unwrap_or("another kind of file");
        let fault =
            format!("it begins with {:?}, not with \"{magic}\"; this is {kind}: give a `.{magic}` file", shown(found));
        return Err(cursor.malformed(0, fault));
    }
    Ok(())
}

pub(super) fn check_version(cursor: &mut Cursor<'_>, magic: &str, version: u32) -> Result<(), Error> {
    let found = cursor.u32("the version")?;
    if found != version {
        let fault = format!("the version is {found}, and this program reads version {version} of `.{magic}` files");
        return Err(cursor.malformed(4, fault));
    }
    Ok(())
}

/// Holds the number of sections, which was just read, against the bytes that are there.
pub(super) fn check_sections(cursor: &Cursor<'_>, count: u64, most: u64) -> Result<usize, Error> {
    let at = cursor.offset() - 4;
    if count > most {
        let fault = format!(
            "the number of sections is {count}, but the bytes that follow hold {most} at most; the file is damaged"
        );
        return Err(cursor.malformed(at, fault));
    }
    match usize::try_from(count) {
        Ok(count) if count <= MOST_SECTIONS => Ok(count),
        _ => {
            let fault = format!("it says that it has {count} sections, and files of this kind have fewer than 16");
            Err(cursor.malformed(at, fault))
        }
    }
}

/// A magic word as a person can read it.
fn shown(bytes: &[u8]) -> String {
    bytes.iter().map(|b| if b.is_ascii_graphic() { char::from(*b) } else { '.' }).collect()
}

/// Refuses what a section has left over when everything expected of it was read.
pub(crate) fn expect_end(section: &Cursor<'_>, what: &str) -> Result<(), Error> {
    match section.left() {
        0 => Ok(()),
        left => {
            Err(section.malformed(section.offset(), format!("{left} bytes too many in {what}; the file is damaged")))
        }
    }
}
