//! Which file a converted key was made from.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::error::Error;
use crate::sealed::{Digest, digest_of_file};

/// A file that changed this recently can change again without a new stamp: clocks of file systems tick slowly.
const SETTLED: Duration = Duration::from_secs(2);

/// Inode, time of change and time of modification, as words; zeros if the file was too young for a stamp.
///
/// Every write and every renaming changes the time of change, which no program can set. Size and time of modification
/// alone would not do: they are copied with the file, and set at will.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stamp([u64; 5]);

impl Stamp {
    /// The stamp of a file that has not changed for a while; zeros for a younger one.
    pub(super) fn settled(metadata: &Metadata) -> Self {
        let seconds = u64::try_from(metadata.ctime()).unwrap_or(0);
        let changed = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
        let age = changed.and_then(|changed| SystemTime::now().duration_since(changed).ok());
        if age.is_some_and(|age| age > SETTLED) { Self::of(metadata) } else { Self::default() }
    }

    pub(super) fn of(metadata: &Metadata) -> Self {
        Self([
            metadata.ino(),
            metadata.ctime().cast_unsigned(),
            metadata.ctime_nsec().cast_unsigned(),
            metadata.mtime().cast_unsigned(),
            metadata.mtime_nsec().cast_unsigned(),
        ])
    }
}

/// What is known of the file that a key was converted from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Source {
    pub(super) length: u64,
    pub(super) digest: Digest,
    pub(super) stamp: Stamp,
}

impl Source {
    /// Bytes of the section.
    pub(super) const BYTES: usize = 8 + 32 + 40;

    pub(super) fn to_bytes(self) -> Vec<u8> {
        let mut bytes = self.length.to_le_bytes().to_vec();
        bytes.extend(self.digest);
        self.stamp.0.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let word = |at: usize| bytes[at..at + 8].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let mut digest = [0; 32];
        digest.copy_from_slice(&bytes[8..40]);
        Self { length: word(0), digest, stamp: Stamp([40, 48, 56, 64, 72].map(word)) }
    }

    /// Whether a file is this one. A stamp that is equal answers at once, otherwise the file is read.
    pub(super) fn is(&self, file: &Path) -> Result<bool, Error> {
        let metadata = std::fs::metadata(file).map_err(Error::io("read", file))?;
        if metadata.len() != self.length {
            return Ok(false);
        }
        if self.stamp != Stamp::default() && self.stamp == Stamp::of(&metadata) {
            return Ok(true);
        }
        Ok(digest_of_file(file)? == (self.digest, self.length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_answers_without_reading_and_a_digest_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, b"a key").unwrap();
        let metadata = std::fs::metadata(&file).unwrap();
        assert_eq!(Stamp::settled(&metadata), Stamp::default(), "the file has just been written");
        let (digest, length) = digest_of_file(&file).unwrap();
        let young = Source { length, digest, stamp: Stamp::default() };
        assert!(young.is(&file).unwrap());
        let trusting = Source { digest: [7; 32], stamp: Stamp::of(&metadata), ..young };
        assert!(trusting.is(&file).unwrap(), "nobody reads a file whose stamp is equal");
        assert_eq!(Source::from_bytes(trusting.to_bytes()[..].try_into().unwrap()), trusting);

        // The same length and the same time of modification, as `cp --preserve` leaves it.
        let modified = metadata.modified().unwrap();
        std::fs::write(&file, b"a kez").unwrap();
        std::fs::File::options().write(true).open(&file).unwrap().set_modified(modified).unwrap();
        assert!(!young.is(&file).unwrap());
        let stamped = Source { stamp: Stamp::of(&metadata), ..young };
        assert!(!stamped.is(&file).unwrap() || Stamp::of(&std::fs::metadata(&file).unwrap()) == stamped.stamp);
        std::fs::write(&file, b"a longer key").unwrap();
        assert!(!trusting.is(&file).unwrap());
    }
}
