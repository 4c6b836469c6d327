//! Key files, whole and damaged.

use std::fs;
use std::path::Path;

use blstrs::{G1Affine, G2Affine};
use group::prime::PrimeCurveAffine;
use proofline_stages::error::Class;
use proofline_stages::params::setup::{Entropy, generate};
use proofline_stages::params::{PARAMS_FILE, Parameters, VK_FILE, VerifyingKey};
use proofline_stages::progress::{Progress, unwatched};
use proofline_stages::{CircuitShape, Error};
use tempfile::TempDir;

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar;

/// x · y = z, z public.
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

fn small() -> Parameters {
    let shape = CircuitShape::from_circuit("product", Product).unwrap();
    generate(&shape, &Entropy::Seed("a seed"), &unwatched).unwrap()
}

fn written() -> (TempDir, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    small().write(folder.path()).unwrap();
    let bytes = fs::read(folder.path().join(PARAMS_FILE)).unwrap();
    (folder, bytes)
}

/// What reading these bytes as a key says.
fn read(folder: &TempDir, bytes: &[u8]) -> Result<Parameters, Error> {
    let file = folder.path().join("changed.params");
    fs::write(&file, bytes).unwrap();
    Parameters::read(&file, &unwatched)
}

fn refused(result: Result<Parameters, Error>, says: &[&str]) {
    let error = result.unwrap_err();
    let text = error.to_string();
    assert_eq!(error.class(), Class::BadInput, "{text}");
    assert!(text.contains("changed.params"), "{text}");
    says.iter().for_each(|word| assert!(text.contains(word), "{text:?} should say {word:?}"));
}

/// The bytes of a verifying key before its IC.
const VK_HEAD: usize = 3 * 96 + 3 * 192;

#[test]
fn the_same_seed_makes_the_same_key_and_another_one_another() {
    assert_eq!(small(), small());
    let shape = CircuitShape::from_circuit("product", Product).unwrap();
    assert_ne!(small(), generate(&shape, &Entropy::Seed("another seed"), &unwatched).unwrap());
    let system = || generate(&shape, &Entropy::System, &unwatched).unwrap();
    assert_ne!(system(), system());
}

#[test]
fn a_key_is_read_as_it_was_written() {
    let (folder, bytes) = written();
    assert_eq!(Parameters::read(folder.path(), &unwatched).unwrap(), small());
    assert_eq!(read(&folder, &bytes).unwrap(), small());
    let vk = VerifyingKey::read(&folder.path().join(VK_FILE)).unwrap();
    assert_eq!(vk, small().vk);
    assert_eq!(VerifyingKey::read(folder.path()).unwrap(), vk, "the folder stands for the file in it");
    let alone = fs::read(folder.path().join(VK_FILE)).unwrap();
    assert!(bytes.starts_with(&alone), "a .params file begins with the .vk file");
    assert!(!folder.path().join(format!("{PARAMS_FILE}.partial")).exists());
}

#[test]
fn progress_is_reported_and_comes_to_its_end() {
    let (folder, _) = written();
    let seen = std::cell::RefCell::new(Vec::<Progress>::new());
    Parameters::read(folder.path(), &|progress| seen.borrow_mut().push(progress)).unwrap();
    let seen = seen.into_inner();
    for what in ["ic", "h", "l", "a", "b_g1", "b_g2"] {
        let last = seen.iter().rfind(|progress| progress.what == what).unwrap();
        assert_eq!(last.done, last.total, "{what}");
        assert!(last.total > 0, "{what}");
    }
}

#[test]
fn every_truncation_is_refused() {
    let (folder, bytes) = written();
    for length in (0..bytes.len()).step_by(7) {
        refused(read(&folder, &bytes[..length]), &[]);
    }
    refused(read(&folder, &bytes[..100]), &["ends too early: beta in G1 at offset 96 takes 96 bytes and 4 are left"]);
    refused(read(&folder, &[&bytes[..], &[0]].concat()), &["1 bytes follow the end"]);
}

/// Whatever byte is changed: no panic, and no key that is not one.
#[test]
fn no_change_of_a_byte_is_a_panic() {
    let (folder, bytes) = written();
    let (mut refusals, mut changes) = (0, 0);
    for at in (0..bytes.len()).step_by(5) {
        for change in [1, 0x80] {
            let mut bytes = bytes.clone();
            bytes[at] ^= change;
            changes += 1;
            refusals += usize::from(read(&folder, &bytes).is_err());
        }
    }
    assert_eq!(refusals, changes, "a changed coordinate is no point any more");
}

#[test]
fn a_count_that_the_file_cannot_hold() {
    let (folder, mut bytes) = written();
    bytes[VK_HEAD..VK_HEAD + 4].fill(0xff);
    refused(read(&folder, &bytes), &["ic should have 4294967295 points", "offset 864"]);
}

/// Offset of the first point of `h`.
fn h_offset() -> usize {
    VK_HEAD + 4 + 96 * small().vk.ic.len() + 4
}

/// A point of the curve y² = x³ + 4, most of which are in no subgroup of prime order.
fn outside_subgroup() -> G1Affine {
    let candidates = (1..=u8::MAX).map(|x| {
        let mut bytes = [0; 48];
        (bytes[0], bytes[47]) = (0x80, x);
        Option::<G1Affine>::from(G1Affine::from_compressed_unchecked(&bytes))
    });
    candidates.flatten().find(|point| bool::from(point.is_on_curve() & !point.is_torsion_free())).unwrap()
}

#[test]
fn points_that_are_none_are_named() {
    let (folder, bytes) = written();
    let at = h_offset() + 96;
    let with = |point: &[u8]| {
        let mut bytes = bytes.clone();
        bytes[at..at + 96].copy_from_slice(point);
        read(&folder, &bytes)
    };
    let place = format!("offset {at}");
    let mut not_below_p = [0x1f; 96];
    not_below_p[1..].fill(0xff);
    refused(with(&not_below_p), &["point 1 of h (G1) is not on the curve, or is no uncompressed point", &place]);
    let mut off_curve = small().h[1].to_uncompressed();
    off_curve[95] ^= 1;
    refused(with(&off_curve), &["point 1 of h (G1) is not on the curve", &place]);
    refused(
        with(&outside_subgroup().to_uncompressed()),
        &["point 1 of h (G1) is on the curve, but not in the", &place],
    );
    let mut compressed = [0; 96];
    compressed[..48].copy_from_slice(&small().h[1].to_compressed());
    refused(with(&compressed), &["point 1 of h (G1) is compressed", &place]);
    refused(with(&G1Affine::identity().to_uncompressed()), &["point 1 of h (G1) is the point at infinity", &place]);
}

#[test]
fn points_of_g2_are_checked_too() {
    let (folder, mut bytes) = written();
    let at = bytes.len() - 192;
    bytes[at..].copy_from_slice(&G2Affine::identity().to_uncompressed());
    refused(read(&folder, &bytes), &["point 0 of b_g2 (G2) is the point at infinity"]);
    bytes[at..].fill(0);
    refused(read(&folder, &bytes), &["point 0 of b_g2 (G2) is not on the curve"]);
}

#[test]
fn a_file_that_is_not_there_is_a_fault_of_the_system() {
    let error = Parameters::read(Path::new("no/such.params"), &unwatched).unwrap_err();
    assert_eq!(error.class(), Class::Io);
    assert!(error.to_string().starts_with("cannot open no/such.params: "), "{error}");
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "in the way").unwrap();
    let error = small().write(&file.join("folder")).unwrap_err();
    assert_eq!(error.class(), Class::Io);
    assert!(error.to_string().contains("cannot create "), "{error}");
}
