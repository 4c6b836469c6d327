//! Stored circuits whose digests are right and whose sections are not.

use super::*;
use crate::error::Class;
use crate::sealed::tests::rewrite;

type Sections = Vec<(u32, Vec<u8>)>;

fn section(sections: &mut Sections, number: u32) -> &mut Vec<u8> {
    &mut sections.iter_mut().find(|section| section.0 == number).unwrap().1
}

/// The circuit after its sections were changed, and all digests with them.
fn read(change: impl FnOnce(&mut Sections)) -> Result<CircuitShape, Error> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("circuit.pce");
    CircuitShape::from_r1cs(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/circom/arrays.r1cs")))
        .unwrap()
        .write(&file, Origin::UNKNOWN)
        .unwrap();
    rewrite(&file, KIND, change);
    // The circuit's own digest is of the digests of its sections, which are those of the file.
    let sealed = Sealed::open(&file, KIND).unwrap();
    let sections = [FACTS, STREAM, STARTS, VALUES].map(|number| sealed.section(number, "it"));
    if let Ok(sections) = sections.into_iter().collect::<Result<Vec<_>, _>>() {
        rewrite(&file, KIND, |all| section(all, IDENTITY)[..32].copy_from_slice(&digest_of(&sections)));
    }
    CircuitShape::read(&file)
}

fn refused(result: Result<CircuitShape, Error>, says: &str) {
    let error = result.unwrap_err();
    let text = error.to_string();
    assert!(matches!(error.class(), Class::BadInput | Class::Mismatch), "{text}");
    assert!(text.contains(says), "{text:?} should say {says:?}");
}

#[test]
fn sections_that_are_missing_too_many_or_of_another_length_are_refused() {
    assert!(read(|_| ()).is_ok(), "sealed again without a change");
    for number in [FACTS, STREAM, STARTS, VALUES] {
        refused(read(|all| all.retain(|section| section.0 != number)), "is missing");
        for bytes in [1, 7] {
            refused(read(|all| section(all, number).extend(vec![0; bytes])), "");
        }
        refused(read(|all| _ = section(all, number).pop()), "");
    }
    refused(read(|all| all.push((6, b"more".to_vec()))), "a stored circuit has no section 6");
}

#[test]
fn sizes_at_the_end_of_their_range_are_refused() {
    for at in (0..64).step_by(8) {
        for value in [u64::MAX, 1 << 63, 1 << 32, u64::MAX / 1024 + 1] {
            refused(read(|all| section(all, FACTS)[at..at + 8].copy_from_slice(&value.to_le_bytes())), "");
        }
    }
    refused(read(|all| section(all, FACTS)[56] = 2), "C is known or it is not (1 or 0), and 2 is there");
    refused(read(|all| section(all, FACTS)[48] = 33), "the key's domain has 33 points");
}
