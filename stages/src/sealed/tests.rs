use std::fs;

use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::pieces::digest_of_piece;
use super::*;
use crate::error::{Class, Error};

const KIND: Kind = Kind { magic: *b"PLTEST\r\n", version: 3, what: "a test", advice: "make it again" };

/// A file with an empty section, a short one, and one of several pieces.
fn written() -> (TempDir, Vec<Vec<u8>>, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let long = (0..2 * PIECE_BYTES + 77).map(|i| (i * 7 % 251) as u8).collect();
    let contents = vec![vec![], b"some bytes".to_vec(), long];
    let mut writer = SealedWriter::create(&folder.path().join("file"), KIND).unwrap();
    writer.section(7, &contents[0]).unwrap();
    writer.section(8, &contents[1]).unwrap();
    writer.begin(9).unwrap();
    contents[2].chunks(1000).for_each(|bytes| writer.append(bytes).unwrap());
    let written = writer.finish().unwrap();
    let bytes = fs::read(folder.path().join("file")).unwrap();
    assert_eq!(written.length, bytes.len() as u64);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no partial file is left");
    (folder, contents, bytes)
}

/// Writes a sealed file again with other sections, as somebody would who means harm: all digests are right.
pub(crate) fn rewrite(path: &std::path::Path, kind: Kind, change: impl FnOnce(&mut Vec<(u32, Vec<u8>)>)) {
    let sealed = Sealed::open(path, kind).unwrap();
    let numbers: Vec<u32> = (0..100).filter(|number| sealed.section(*number, "it").is_ok()).collect();
    let mut sections: Vec<_> = numbers.iter().map(|number| (*number, sealed.read(*number, "it").unwrap())).collect();
    change(&mut sections);
    let mut writer = SealedWriter::create(path, kind).unwrap();
    sections.iter().for_each(|(number, bytes)| writer.section(*number, bytes).unwrap());
    writer.finish().unwrap();
}

/// Opens these bytes and reads every section.
fn read(folder: &TempDir, bytes: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
    let path = folder.path().join("changed");
    fs::write(&path, bytes).unwrap();
    let sealed = Sealed::open(&path, KIND)?;
    [7, 8, 9].map(|number| sealed.read(number, "a section")).into_iter().collect()
}

fn refused(result: Result<Vec<Vec<u8>>, Error>, says: &str) {
    let error = result.unwrap_err();
    let text = error.to_string();
    assert_eq!(error.class(), Class::BadInput, "{text}");
    assert!(text.contains(says) && text.contains("changed"), "{text:?} should say {says:?}");
}

#[test]
fn what_was_written_is_read() {
    let (folder, contents, bytes) = written();
    assert_eq!(read(&folder, &bytes).unwrap(), contents);
    let sealed = Sealed::open(&folder.path().join("file"), KIND).unwrap();
    assert!([7, 8, 9].iter().all(|number| sealed.section(*number, "it").unwrap().offset.is_multiple_of(4096)));
    assert!(begins_as(&folder.path().join("file"), &KIND));
    assert!(!begins_as(&folder.path().join("file"), &Kind { magic: *b"PLOTHER\n", ..KIND }));
    assert!(!begins_as(&folder.path().join("nothing"), &KIND));
}

#[test]
fn a_rehearsal_learns_the_same_digests() {
    let (folder, contents, _) = written();
    let mut writer = SealedWriter::rehearsal(KIND);
    contents.iter().zip(7..).for_each(|(bytes, number)| writer.section(number, bytes).unwrap());
    let last = writer.last_section();
    let rehearsed = writer.finish().unwrap();
    assert_eq!(last.as_ref(), rehearsed.sections.last());
    let sealed = Sealed::open(&folder.path().join("file"), KIND).unwrap();
    let sections: Vec<_> = [7, 8, 9].iter().map(|number| sealed.section(*number, "it").unwrap()).collect();
    assert_eq!((rehearsed.sections, &rehearsed.seal), (sections, sealed.seal()));
}

#[test]
fn the_digest_is_the_documented_one() {
    let (folder, contents, _) = written();
    let mut hasher = Sha256::new();
    contents[2].chunks(PIECE_BYTES).for_each(|piece| hasher.update(digest_of_piece(piece)));
    hasher.update((contents[2].len() as u64).to_le_bytes());
    let want: Digest = hasher.finalize().into();
    let path = folder.path().join("plain");
    fs::write(&path, &contents[2]).unwrap();
    assert_eq!(digest_of_file(&path).unwrap(), (want, contents[2].len() as u64));
    let sealed = Sealed::open(&folder.path().join("file"), KIND).unwrap();
    assert_eq!(sealed.section(9, "it").unwrap().digest, want);
}

#[test]
fn every_truncation_and_every_addition_is_refused() {
    let (folder, _, bytes) = written();
    for length in (0..60).chain((60..bytes.len()).step_by(4999)).chain(bytes.len() - 3..bytes.len()) {
        refused(read(&folder, &bytes[..length]), "");
    }
    refused(read(&folder, &bytes[..100]), "the header of a test takes 4096 bytes and 100 are there; make it again");
    refused(read(&folder, &bytes[..bytes.len() - 1]), "it was cut off or added to; make it again");
    refused(read(&folder, &[&bytes[..], &[0]].concat()), "it was cut off or added to");
}

#[test]
fn every_change_of_a_byte_is_refused() {
    let (folder, _, bytes) = written();
    for at in (0..4200).step_by(3).chain((0..bytes.len()).step_by(30_011)).chain([bytes.len() - 1]) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        refused(read(&folder, &changed), "");
    }
    let changed = |at: usize| {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        read(&folder, &changed)
    };
    refused(changed(0), "it does not begin as a test does");
    refused(changed(8), "the version is 2, and this program reads 3");
    refused(changed(15), "16777219 sections, and 72 fit");
    refused(changed(60), "the header was altered");
    refused(changed(4000), "there are bytes between the sections");
    refused(changed(4096 + 20), "there are bytes between the sections");
    refused(changed(4096), "a section was altered: its digest is another; make it again");
}

/// A header that was sealed again still cannot point outside of the file, or twice at the same bytes.
#[test]
fn a_table_that_lies_is_refused() {
    let (folder, _, bytes) = written();
    let resealed = |at: usize, value: u64| {
        let mut changed = bytes.clone();
        changed[at..at + 8].copy_from_slice(&value.to_le_bytes());
        changed[SEAL].fill(0);
        let seal = Sha256::digest(&changed[..HEAD_BYTES + 3 * LINE_BYTES]);
        changed[SEAL].copy_from_slice(&seal);
        read(&folder, &changed)
    };
    let line = |index: usize| HEAD_BYTES + index * LINE_BYTES;
    refused(resealed(16, u64::MAX), "it should have 18446744073709551615 bytes");
    for value in [0, 1, 4096, u64::MAX - 5, u64::MAX] {
        refused(resealed(line(2) + 8, value), "section 2 is not where it should be");
    }
    refused(resealed(line(2) + 16, u64::MAX), "section 2 is not where it should be");
    refused(resealed(line(2) + 16, 5), "bytes follow the last section");
    refused(resealed(line(1), 99), "a section is missing");
    // The number of another section, and a number with bits that have no meaning.
    refused(resealed(line(1), 7), "section 1 has the number of another, or none");
    refused(resealed(line(1), 8 | 1 << 32), "section 1 has the number of another, or none");
}

#[test]
fn a_section_that_nobody_reads_is_refused() {
    let (folder, _, _) = written();
    let sealed = Sealed::open(&folder.path().join("file"), KIND).unwrap();
    assert!(sealed.expect(&[9, 8, 7]).is_ok());
    let error = sealed.expect(&[7, 9]).unwrap_err();
    assert!(error.to_string().contains("a test has no section 8; make it again"), "{error}");
}

/// A file that is cut off, or written over, between its opening and its reading.
#[test]
fn a_file_that_changes_while_it_is_read_is_refused() {
    let (folder, contents, bytes) = written();
    let path = folder.path().join("file");
    let sealed = Sealed::open(&path, KIND).unwrap();
    let mut other = bytes.clone();
    let last = other.len() - 1;
    other[last] ^= 1;
    fs::write(&path, &other).unwrap();
    let error = sealed.read(9, "a section").unwrap_err();
    assert_eq!(error.class(), Class::BadInput, "{error}");
    assert_eq!(sealed.read(8, "a section").unwrap(), contents[1], "this section is as it was");
    fs::File::options().write(true).open(&path).unwrap().set_len(5000).unwrap();
    assert_eq!(sealed.read(9, "a section").unwrap_err().class(), Class::Io);
    // Another file under its name is not read: the old one is open.
    fs::write(&path, &bytes).unwrap();
    let sealed = Sealed::open(&path, KIND).unwrap();
    fs::rename(&path, folder.path().join("old")).unwrap();
    fs::write(&path, b"something else").unwrap();
    assert_eq!(sealed.read(9, "a section").unwrap(), contents[2]);
}
