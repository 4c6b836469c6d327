//! The container that circom and snarkjs put everything in: a magic word, a version, and sections in any order.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use super::cursor::Cursor;
use crate::error::Error;

/// A file's sections, by number.
pub(super) struct Container<'a> {
    whole: Cursor<'a>,
    sections: Vec<(u32, Cursor<'a>)>,
}

/// More sections than this are no file of circom's, and looking through them would take for ever.
const MOST_SECTIONS: usize = 1024;

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
        if count > MOST_SECTIONS {
            let fault = format!("it says that it has {count} sections, and files of this kind have fewer than 16");
            return Err(cursor.malformed(8, fault));
        }
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

/// Reads a whole file of circom's. Its first bytes are looked at before the rest is read: a large file of another kind
/// costs nothing, and a device or a pipe is not read at all.
pub(super) fn read_whole(file: &Path, magic: &str) -> Result<Vec<u8>, Error> {
    let mut reader = File::open(file).map_err(Error::io("open", file))?;
    let metadata = reader.metadata().map_err(Error::io("read", file))?;
    if !metadata.is_file() {
        return Err(Error::BadText(format!("{} is not a regular file: give a `.{magic}` file", file.display())));
    }
    let mut bytes = Vec::new();
    let head = magic.len() as u64;
    reader.by_ref().take(head).read_to_end(&mut bytes).map_err(Error::io("read", file))?;
    if bytes == magic.as_bytes() {
        let rest = metadata.len().saturating_sub(head);
        // One allocation: a growing one would leave copies of a witness behind.
        let reserved = usize::try_from(rest).ok().and_then(|rest| bytes.try_reserve_exact(rest).ok());
        reserved.ok_or_else(|| Error::io("read", file)(ErrorKind::OutOfMemory.into()))?;
        // The file's length bounds what is read, also where it grows meanwhile.
        reader.take(rest).read_to_end(&mut bytes).map_err(Error::io("read", file))?;
    }
    Ok(bytes)
}
