//! The container that circom and snarkjs put everything in: a magic word, a version, and sections in any order.

use std::path::Path;

use super::cursor::Cursor;
use crate::error::Error;

/// A file's sections, by number.
pub(super) struct Container<'a> {
    whole: Cursor<'a>,
    sections: Vec<(u32, Cursor<'a>)>,
}

impl<'a> Container<'a> {
    /// Finds the sections. Unknown ones are kept too, unread; what follows the last one is an error.
    pub(super) fn open(file: &'a Path, bytes: &'a [u8], magic: &str, version: u32) -> Result<Self, Error> {
        let mut cursor = Cursor::new(file, bytes);
        let found = cursor.take(4, "the magic word")?;
        if found != magic.as_bytes() {
            let fault =
                format!("it begins with {:?}, not with \"{magic}\"; this is another kind of file", shown(found));
            return Err(cursor.malformed(0, fault));
        }
        let found = cursor.u32("the version")?;
        if found != version {
            let fault = format!("the version is {found}, and this program reads version {version} of `.{magic}` files");
            return Err(cursor.malformed(4, fault));
        }
        let count = cursor.count(12, "the number of sections")?;
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
    pub(super) fn section(&self, id: u32, what: &str) -> Result<Cursor<'a>, Error> {
        self.sections.iter().find(|(found, _)| *found == id).map(|(_, section)| section.clone()).ok_or_else(|| {
            self.whole.malformed(self.whole.offset(), format!("the file ends without section {id}, {what}"))
        })
    }
}

/// A magic word as a person can read it.
fn shown(bytes: &[u8]) -> String {
    bytes.iter().map(|b| if b.is_ascii_graphic() { char::from(*b) } else { '.' }).collect()
}

/// Refuses what a section has left over when everything expected of it was read.
pub(super) fn expect_end(section: &Cursor<'_>, what: &str) -> Result<(), Error> {
    match section.left() {
        0 => Ok(()),
        left => {
            Err(section.malformed(section.offset(), format!("{left} bytes too many in {what}; the file is damaged")))
        }
    }
}
