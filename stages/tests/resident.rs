//! Converted keys: the same proofs, and no file that is not what was converted.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use blstrs::{G1Affine, G2Affine, Scalar};
use proofline_kernels::msm::Curve;
use proofline_stages::circuits::Sha256Preimage;
use proofline_stages::error::Class;
use proofline_stages::params::resident::{Resident, Verified, convert, files_of, verify};
use proofline_stages::params::setup::{Entropy, generate};
use proofline_stages::params::{PARAMS_FILE, Parameters, ProvingKey};
use proofline_stages::progress::{Progress, unwatched};
use proofline_stages::{CircuitShape, Error, Job, WitnessSource, sequence};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use zeroize::Zeroizing;

static SHAPE: LazyLock<Arc<CircuitShape>> =
    LazyLock::new(|| Arc::new(CircuitShape::from_builtin("sha256:1").expect("a built-in circuit")));
static KEY: LazyLock<Parameters> =
    LazyLock::new(|| generate(&SHAPE, &Entropy::Seed("resident"), &unwatched).expect("a key"));

/// A folder with a key, and its converted file.
fn converted(key: &Parameters) -> (TempDir, PathBuf, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    key.write(folder.path()).unwrap();
    let done = convert(folder.path(), &unwatched).unwrap();
    assert_eq!(done.file, folder.path().join("circuit.params.resident"));
    let bytes = fs::read(&done.file).unwrap();
    assert_eq!(done.bytes, bytes.len() as u64);
    (folder, done.file, bytes)
}

/// A small key: a few points of each query, one of L at infinity.
fn small() -> Parameters {
    let mut key = KEY.clone();
    key.h.truncate(5);
    key.l.truncate(7);
    key.l[3] = G1Affine::infinity();
    key.a.truncate(3);
    key.b_g1.truncate(4);
    key.b_g2.truncate(4);
    key
}

/// A proof with fixed randomness.
fn proof(key: ProvingKey) -> [u8; 192] {
    let circuit = Sha256Preimage::of_preimage(Zeroizing::new(b"the same preimage".to_vec()));
    let public = circuit.public_inputs().unwrap();
    let job = Job::new(Arc::clone(&SHAPE), Arc::new(key), vec![WitnessSource::circuit(public, circuit)]).unwrap();
    let job = job.with_blinding_for_tests(0, Scalar::from(5), Scalar::from(6));
    sequence::prove(&job, 0).unwrap().bytes
}

#[test]
fn a_converted_key_makes_the_same_proofs() {
    let (folder, file, _) = converted(&KEY);
    let want = proof(ProvingKey::new(KEY.clone()));
    let from = |path: &Path| proof(ProvingKey::read(path, &unwatched).unwrap());
    assert_eq!(from(folder.path()), want);
    assert_eq!(from(&file), want, "the file itself");
    fs::remove_file(folder.path().join(PARAMS_FILE)).unwrap();
    assert_eq!(from(folder.path()), want, "without its source");
}

#[test]
fn a_converted_key_says_what_is_in_it() {
    let (folder, file, _) = converted(&small());
    let key = Resident::open(&file).unwrap();
    assert_eq!(key.queries(), [("h", 5, 0), ("l", 7, 1), ("a", 3, 0), ("b_g1", 4, 0), ("b_g2", 4, 0)]);
    assert_eq!(key.verifying_key(), &KEY.vk);
    assert_eq!(key.source().0, fs::metadata(folder.path().join(PARAMS_FILE)).unwrap().len());
    assert_eq!(files_of(folder.path()), (folder.path().join(PARAMS_FILE), file.clone()));
    assert_eq!(files_of(&file), (folder.path().join(PARAMS_FILE), file.clone()));
    let seen = std::cell::RefCell::new(Vec::<Progress>::new());
    key.load(&|progress| seen.borrow_mut().push(progress)).unwrap();
    assert!(seen.into_inner().iter().filter(|progress| progress.done == progress.total).count() >= 5);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "no partial file is left");
}

fn load(file: &Path) -> Result<ProvingKey, Error> {
    Resident::open(file)?.load(&unwatched)
}

fn refused<T>(result: Result<T, Error>, class: Class, says: &str) {
    let Err(error) = result else { panic!("not refused: {says}") };
    let text = error.to_string();
    assert_eq!(error.class(), class, "{text}");
    assert!(text.contains(says), "{text:?} should say {says:?}");
    assert!(!text.contains('\n'), "one line: {text}");
}

#[test]
fn every_truncation_is_refused() {
    let (_folder, file, bytes) = converted(&small());
    for length in (0..bytes.len()).step_by(211).chain([bytes.len() - 1]) {
        fs::write(&file, &bytes[..length]).unwrap();
        refused(load(&file), Class::BadInput, "circuit.params.resident");
    }
    fs::write(&file, [&bytes[..], &[0]].concat()).unwrap();
    refused(load(&file), Class::BadInput, "it was cut off or added to; delete it, or convert the key again");
}

#[test]
fn every_change_of_a_byte_is_refused() {
    let (_folder, file, bytes) = converted(&small());
    for at in (0..bytes.len()).step_by(101) {
        for change in [1, 0x80] {
            let mut changed = bytes.clone();
            changed[at] ^= change;
            fs::write(&file, &changed).unwrap();
            refused(load(&file), Class::BadInput, "circuit.params.resident");
        }
    }
}

/// Rewrites the section of this number and seals the file again, as somebody would who means harm or has a fault.
fn resealed(bytes: &[u8], number: u32, change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let word = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let count = bytes[12] as usize;
    let line = (0..count).map(|index| 56 + 56 * index).find(|line| bytes[*line..*line + 4] == number.to_le_bytes());
    let line = line.unwrap();
    let (offset, length) = (word(&bytes, line + 8), word(&bytes, line + 16));
    change(&mut bytes[offset..offset + length]);
    let digest: [u8; 32] = {
        let piece = (length > 0).then(|| Sha256::digest(&bytes[offset..offset + length]));
        let mut hasher = Sha256::new();
        piece.iter().for_each(|piece| hasher.update(piece));
        hasher.update((length as u64).to_le_bytes());
        hasher.finalize().into()
    };
    bytes[line + 24..line + 56].copy_from_slice(&digest);
    bytes[24..56].fill(0);
    let seal = Sha256::digest(&bytes[..56 + 56 * count]);
    bytes[24..56].copy_from_slice(&seal);
    bytes
}

#[test]
fn a_sealed_file_that_lies_is_refused_too() {
    let (_folder, file, bytes) = converted(&small());
    let with = |number: u32, change: &dyn Fn(&mut [u8])| {
        fs::write(&file, resealed(&bytes, number, change)).unwrap();
        load(&file)
    };
    assert!(with(10, &|_| ()).is_ok(), "sealed again without a change");
    for at in (0..88).step_by(8) {
        refused(with(1, &|facts| facts[at..at + 8].fill(0xff)), Class::BadInput, "circuit.params.resident");
    }
    refused(with(1, &|facts| facts[0] = 2), Class::BadInput, "there is no convention 2");
    refused(with(1, &|facts| facts[8] = 6), Class::BadInput, "h should have 6 points");
    refused(with(3, &|vk| vk[95] ^= 1), Class::BadInput, "alpha in G1 (G1) is not on the curve");
    refused(with(10, &|h| h[96..192].fill(0)), Class::BadInput, "stored point 1 of h is none");
    refused(with(10, &|h| h[40..48].fill(0xff)), Class::BadInput, "stored point 0 of h is none");
    refused(with(14, &|b| b[180..192].fill(0xff)), Class::BadInput, "stored point 0 of b_g2 is none");
    refused(with(21, &|position| position[0] = 7), Class::BadInput, "l: the positions of the points at infinity");
}

#[test]
fn a_verification_finds_points_that_are_none() {
    let (folder, file, bytes) = converted(&small());
    let source = folder.path().join(PARAMS_FILE);
    assert_eq!(verify(&file, Some(&source), &unwatched).unwrap(), Verified::WithSource);
    assert_eq!(verify(&file, None, &unwatched).unwrap(), Verified::Alone);
    let with = |number: u32, change: &dyn Fn(&mut [u8])| {
        fs::write(&file, resealed(&bytes, number, change)).unwrap();
        verify(&file, Some(&source), &unwatched)
    };
    refused(with(10, &|h| h[0] ^= 1), Class::BadInput, "stored point 0 of h (G1) is not on the curve");
    refused(with(14, &|b| b[192] ^= 1), Class::BadInput, "stored point 1 of b_g2 (G2) is not on the curve");
    let mut outside = [0; 96];
    outside_subgroup().to_plain(&mut outside);
    let fault = "stored point 2 of a (G1) is on the curve, but not in the subgroup";
    refused(with(12, &|a| a[192..288].copy_from_slice(&outside)), Class::BadInput, fault);
    refused(with(12, &|a| a.copy_within(0..96, 96)), Class::Mismatch, "has other points than");
    let mut bent = bytes.clone();
    let middle = bent.len() - 5000;
    bent[middle] ^= 1;
    fs::write(&file, &bent).unwrap();
    refused(verify(&file, None, &unwatched), Class::BadInput, "altered");
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
fn a_key_that_was_replaced_is_not_read_from_the_old_conversion() {
    let (folder, file, bytes) = converted(&small());
    let source = folder.path().join(PARAMS_FILE);
    let original = fs::read(&source).unwrap();
    let read = || ProvingKey::read(folder.path(), &unwatched);
    // Two points change places: the same length, and with the old time of modification.
    let mut other = original.clone();
    let at = original.len() - 2 * 192;
    other[at..at + 192].copy_from_slice(&original[at + 192..]);
    other[at + 192..].copy_from_slice(&original[at..at + 192]);
    let modified = fs::metadata(&source).unwrap().modified().unwrap();
    fs::write(&source, &other).unwrap();
    fs::File::options().write(true).open(&source).unwrap().set_modified(modified).unwrap();
    refused(read(), Class::Mismatch, "was made from another key than");
    refused(verify(&file, Some(&source), &unwatched), Class::Mismatch, "was made from another key than");
    // The same bytes under another inode are the same key.
    fs::remove_file(&source).unwrap();
    fs::write(&source, &original).unwrap();
    assert!(read().is_ok());
    // A setup removes the conversion of the key that it replaces.
    small().write(folder.path()).unwrap();
    assert!(!file.exists());
    fs::write(&file, &bytes).unwrap();
    assert!(read().is_ok(), "the seed made the same key");
}

#[test]
fn a_key_that_is_none_is_not_converted() {
    let folder = tempfile::tempdir().unwrap();
    small().write(folder.path()).unwrap();
    let source = folder.path().join(PARAMS_FILE);
    let mut bytes = fs::read(&source).unwrap();
    let at = bytes.len() - 192;
    bytes[at..].copy_from_slice(&<G2Affine as Curve>::infinity().to_uncompressed());
    fs::write(&source, &bytes).unwrap();
    refused(convert(folder.path(), &unwatched), Class::BadInput, "point 3 of b_g2 (G2) is the point at infinity");
    fs::write(&source, &bytes[..at]).unwrap();
    refused(convert(folder.path(), &unwatched), Class::BadInput, "b_g2 should have 4 points");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left of what failed");
    refused(convert(Path::new("no/such"), &unwatched), Class::Io, "cannot open no/such");
}
