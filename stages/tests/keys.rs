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

/// p, big-endian as encodings are: the least coordinate that is none.
const PRIME: [u8; 48] = [
    0x1a, 0x01, 0x11, 0xea, 0x39, 0x7f, 0xe6, 0x9a, 0x4b, 0x1b, 0xa7, 0xb6, 0x43, 0x4b, 0xac, 0xd7, 0x64, 0x77, 0x4b,
    0x84, 0xf3, 0x85, 0x12, 0xbf, 0x67, 0x30, 0xd2, 0xa0, 0xf6, 0xb0, 0xf6, 0x24, 0x1e, 0xab, 0xff, 0xfe, 0xb1, 0x53,
    0xff, 0xff, 0xb9, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xaa, 0xab,
];

/// A coordinate's 48 bytes with p added, which stand for the same element and are another text for it; nothing if they are
/// too large for the bits that are left beside the flags.
fn plus_prime(bytes: &mut [u8]) -> bool {
    let mut carry = 0;
    for (byte, prime) in bytes.iter_mut().zip(&PRIME).rev() {
        let sum = u16::from(*byte) + u16::from(*prime) + carry;
        (*byte, carry) = (sum as u8, sum >> 8);
    }
    carry == 0 && bytes[0] < 0x20
}

/// Where each point of a `.params` file begins, and its bytes.
fn points_of(key: &Parameters) -> Vec<(usize, usize)> {
    let mut places: Vec<_> = [96, 96, 192, 192, 96, 192].map(|bytes| (0, bytes)).to_vec();
    let mut at = 0;
    for place in &mut places {
        place.0 = at;
        at += place.1;
    }
    let counts = [(key.vk.ic.len(), 96), (key.h.len(), 96), (key.l.len(), 96), (key.a.len(), 96), (key.b_g1.len(), 96)];
    for (count, bytes) in counts.into_iter().chain([(key.b_g2.len(), 192)]) {
        at += 4;
        for _ in 0..count {
            places.push((at, bytes));
            at += bytes;
        }
    }
    places
}

/// Every other way to write a point, in every place where one stands: flags where none may be, infinity with something behind
/// its flag, coordinates that are not below p, infinity itself. Only in L infinity may be.
#[test]
fn every_other_way_to_write_a_point_is_refused_everywhere() {
    let (folder, bytes) = written();
    let key = small();
    let places = points_of(&key);
    assert_eq!(places.last().map(|(at, length)| at + length), Some(bytes.len()));
    let l = places.len() - key.b_g2.len() - key.b_g1.len() - key.a.len() - key.l.len();
    let mut not_below = 0;
    for (number, (at, length)) in places.into_iter().enumerate() {
        let with = |change: &dyn Fn(&mut [u8])| {
            let mut bytes = bytes.clone();
            change(&mut bytes[at..at + length]);
            read(&folder, &bytes)
        };
        for flags in [0x20, 0x40, 0x60, 0x80, 0xa0, 0xc0, 0xe0] {
            refused(with(&|point| point[0] |= flags), &[&format!("offset {at}")]);
            let alone = with(&|point| {
                point.fill(0);
                point[0] = flags;
            });
            match alone {
                Ok(_) => assert!(flags == 0x40 && (l..l + key.l.len()).contains(&number), "flags {flags:x} at {at}"),
                alone => refused(alone, &[&format!("offset {at}")]),
            }
        }
        for behind in [1, 47, 48, 95, length - 1] {
            let infinity = |point: &mut [u8]| {
                point.fill(0);
                (point[0], point[behind]) = (0x40, 1);
            };
            refused(with(&infinity), &[&format!("offset {at}")]);
        }
        refused(with(&|point| point.fill(0)), &[&format!("offset {at}")]);
        for component in (0..length).step_by(48) {
            let mut raised = bytes[at + component..at + component + 48].to_vec();
            if plus_prime(&mut raised) {
                not_below += 1;
                refused(
                    with(&|point| point[component..component + 48].copy_from_slice(&raised)),
                    &[&format!("offset {at}")],
                );
            }
            refused(
                with(&|point| point[component..component + 48].copy_from_slice(&PRIME)),
                &[&format!("offset {at}")],
            );
        }
    }
    assert!(not_below > 3, "{not_below} coordinates could be raised by p");
}

/// Counts of all queries, one too many and one too few, and at the ends of their range.
#[test]
fn wrong_counts_are_refused() {
    let (folder, bytes) = written();
    let key = small();
    let mut at = VK_HEAD;
    for (count, each) in [
        (key.vk.ic.len(), 96),
        (key.h.len(), 96),
        (key.l.len(), 96),
        (key.a.len(), 96),
        (key.b_g1.len(), 96),
        (key.b_g2.len(), 192),
    ] {
        let count = count as u32;
        assert_eq!(bytes[at..at + 4], count.to_be_bytes());
        for wrong in [0, count - 1, count + 1, 1 << 31, u32::MAX] {
            let mut changed = bytes.clone();
            changed[at..at + 4].copy_from_slice(&wrong.to_be_bytes());
            refused(read(&folder, &changed), &[]);
        }
        at += 4 + each * count as usize;
    }
    assert_eq!(at, bytes.len());
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
