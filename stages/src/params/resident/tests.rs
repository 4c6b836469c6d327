//! Converted keys whose digests are right and whose sections are not.

use std::path::{Path, PathBuf};

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar;

use super::*;
use crate::error::{Class, Error};
use crate::params::ProvingKey;
use crate::params::setup::{Entropy, generate};
use crate::progress::unwatched;
use crate::sealed::tests::rewrite;
use crate::{CircuitShape, sealed};

/// x · y = z, z public.
#[derive(Clone)]
struct Product;

impl Circuit<Scalar> for Product {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let none = || Err(SynthesisError::AssignmentMissing);
        let (x, y) = (cs.alloc(|| "x", none)?, cs.alloc(|| "y", none)?);
        let z = cs.alloc_input(|| "z", none)?;
        cs.enforce(|| "product", |lc| lc + x, |lc| lc + y, |lc| lc + z);
        Ok(())
    }
}

type Sections = Vec<(u32, Vec<u8>)>;

/// A converted key, and what reading it says after its sections were changed and sealed again.
struct Changed {
    _folder: tempfile::TempDir,
    file: PathBuf,
    bytes: Vec<u8>,
}

impl Changed {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let shape = CircuitShape::from_circuit("product", Product).unwrap();
        generate(&shape, &Entropy::Seed("changed"), &unwatched).unwrap().write(folder.path()).unwrap();
        let file = convert(folder.path(), &unwatched).unwrap().file;
        let bytes = std::fs::read(&file).unwrap();
        Self { _folder: folder, file, bytes }
    }

    fn read(&self, change: impl FnOnce(&mut Sections)) -> Result<ProvingKey, Error> {
        std::fs::write(&self.file, &self.bytes).unwrap();
        rewrite(&self.file, KIND, change);
        ProvingKey::read(&self.file, &unwatched)
    }
}

fn section(sections: &mut Sections, number: u32) -> &mut Vec<u8> {
    &mut sections.iter_mut().find(|section| section.0 == number).unwrap().1
}

fn refused(result: Result<ProvingKey, Error>, says: &str) {
    let error = result.unwrap_err();
    let text = error.to_string();
    assert_eq!(error.class(), Class::BadInput, "{text}");
    assert!(text.contains(says) && text.contains("circuit.params.resident"), "{text:?} should say {says:?}");
}

#[test]
fn sections_that_are_missing_too_many_or_of_another_length_are_refused() {
    let key = Changed::new();
    assert!(key.read(|_| ()).is_ok(), "sealed again without a change");
    for number in [1, 2, 3, 10, 11, 12, 13, 14, 20, 21, 22, 23, 24] {
        refused(key.read(|all| all.retain(|section| section.0 != number)), "is missing");
        for bytes in [1, 3, 7] {
            refused(key.read(|all| section(all, number).extend(vec![0; bytes])), "");
        }
        if number < 20 {
            refused(key.read(|all| _ = section(all, number).pop()), "");
        }
    }
    refused(key.read(|all| all.push((99, b"more".to_vec()))), "a converted key has no section 99");
    refused(key.read(|all| all.push((10, vec![]))), "has the number of another");
    refused(key.read(|all| section(all, FACTS).push(0)), "the key's sizes are not eleven");
    refused(
        key.read(|all| section(all, INFINITIES).extend([0, 0])),
        "a position of a point at infinity of h is cut off",
    );
}

/// Sizes at the ends of their range, and sizes that overflow when they are multiplied.
#[test]
fn sizes_near_the_end_of_their_range_are_refused() {
    let key = Changed::new();
    for at in (8..88).step_by(8) {
        for value in [u64::MAX, 1 << 63, u64::MAX / 96 + 1, u64::MAX / 192 + 1, 1 << 32, 1 << 31] {
            refused(key.read(|all| section(all, FACTS)[at..at + 8].copy_from_slice(&value.to_le_bytes())), "");
        }
    }
}

#[test]
fn the_key_of_the_other_convention_fits_no_circuit() {
    let key = Changed::new();
    let other = key.read(|all| section(all, FACTS)[0] = 1).unwrap();
    let shape = CircuitShape::from_circuit("product", Product).unwrap();
    let error = other.check(&shape).unwrap_err();
    assert_eq!(error.class(), Class::Mismatch);
    assert!(error.to_string().contains("points in the domain"), "{error}");
}

#[test]
fn another_kind_of_sealed_file_is_refused() {
    let key = Changed::new();
    let other = sealed::Kind { magic: *b"PLCIRC\r\n", ..KIND };
    let bytes = std::fs::read(&key.file).unwrap();
    std::fs::write(&key.file, [&other.magic[..], &bytes[8..]].concat()).unwrap();
    let error = Resident::open(Path::new(&key.file)).err().unwrap();
    assert!(error.to_string().contains("it does not begin as a converted key does"), "{error}");
}
