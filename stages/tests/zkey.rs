//! snarkjs' keys: the same statements, proved with the other convention.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use blstrs::Scalar;
use proofline_stages::error::Class;
use proofline_stages::params::resident::{Resident, Verified, convert, verify};
use proofline_stages::params::setup::{Entropy, generate_for};
use proofline_stages::params::{Convention, Parameters, ProvingKey, Zkey};
use proofline_stages::progress::unwatched;
use proofline_stages::verify::{PreparedKey, ProofPoints, snarkjs};
use proofline_stages::{CircuitShape, Error, Job, WitnessSource, sequence};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/circom");

fn data(name: &str) -> PathBuf {
    Path::new(DATA).join(name)
}

/// A circuit of circom, with C.
static SHAPE: LazyLock<CircuitShape> =
    LazyLock::new(|| CircuitShape::from_r1cs(&data("poseidon_m7.r1cs")).expect("a circuit"));
static KEY: LazyLock<Parameters> =
    LazyLock::new(|| generate_for(&SHAPE, Convention::OddCoset, &Entropy::Seed("zkey"), &unwatched).expect("a key"));
static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("circuit.zkey");
    Zkey::write(&file, &KEY, &SHAPE).expect("a key file");
    fs::read(file).expect("a key file")
});

fn proof(shape: CircuitShape, key: ProvingKey) -> Result<[u8; 192], Error> {
    let source = WitnessSource::from_wtns(&shape, &data("poseidon_m7.wtns"))?;
    let job = Job::new(Arc::new(shape), Arc::new(key), vec![source])?;
    Ok(sequence::prove(&job.with_blinding_for_tests(0, Scalar::from(5), Scalar::from(6)), 0)?.bytes)
}

/// A file with these bytes, in a folder that lives as long as it is kept.
fn written(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("circuit.zkey");
    fs::write(&file, bytes).unwrap();
    (folder, file)
}

fn open(file: &Path) -> Result<Zkey, Error> {
    Zkey::open(file, &unwatched)
}

#[test]
fn a_key_that_was_written_is_read_again() {
    let (_folder, file) = written(&BYTES);
    let zkey = open(&file).unwrap();
    assert_eq!(zkey.verifying_key(), &KEY.vk);
    assert_eq!(
        (zkey.inputs(), zkey.wires(), zkey.domain()),
        (SHAPE.inputs(), SHAPE.variables(), SHAPE.domain().size())
    );
    assert_eq!(Parameters::of_zkey(&zkey, &unwatched).unwrap(), *KEY);
    let shape = zkey.shape(&unwatched).unwrap();
    assert!(!shape.knows_c());
    assert_eq!(shape.name(), "circuit");
    let mut rows = Vec::new();
    SHAPE.matrices().for_each_row(|_, [a, b, _]| {
        rows.push([a, b].map(|row| row.terms().map(|(wire, c)| (wire, *c)).collect::<Vec<_>>()));
    });
    shape.matrices().for_each_row(|at, [a, b, c]| {
        assert_eq!([a, b].map(|row| row.terms().map(|(wire, c)| (wire, *c)).collect::<Vec<_>>()), rows[at], "row {at}");
        assert_eq!(c.terms().count(), 0);
    });
    assert_eq!(shape.constraints(), SHAPE.constraints());
}

#[test]
fn proofs_are_the_same_with_and_without_c_and_converted() {
    let (_folder, file) = written(&BYTES);
    let without_c = open(&file).unwrap().shape(&unwatched).unwrap();
    let with_c = CircuitShape::from_r1cs(&data("poseidon_m7.r1cs")).unwrap();
    let want = proof(with_c, ProvingKey::new(KEY.clone())).unwrap();
    assert_eq!(
        proof(without_c, ProvingKey::read(&file, &unwatched).unwrap()).unwrap(),
        want,
        "from the key's own matrices"
    );

    let converted = convert(&file, &unwatched).unwrap();
    assert_eq!(converted.file.file_name().unwrap(), "circuit.zkey.resident");
    assert_eq!(Resident::open(&converted.file).unwrap().convention(), Convention::OddCoset);
    let shape = open(&file).unwrap().shape(&unwatched).unwrap();
    assert_eq!(proof(shape, ProvingKey::read(&file, &unwatched).unwrap()).unwrap(), want, "converted");
    assert_eq!(verify(&converted.file, Some(&file), &unwatched).unwrap(), Verified::WithSource);

    let json = snarkjs::write_proof(&ProofPoints::parse(&want).unwrap());
    let vk = snarkjs::parse_key(&snarkjs::write_key(&KEY.vk)).unwrap();
    let public =
        proofline_stages::verify::parse_public_inputs(&fs::read_to_string(data("poseidon_m7.public.json")).unwrap());
    let public = public.unwrap();
    assert!(vk.verify(&snarkjs::parse_proof(&json).unwrap(), &public).unwrap());
    assert!(PreparedKey::new(&KEY.vk).verify(&snarkjs::parse_proof(&json).unwrap(), &public).unwrap());
}

#[test]
fn a_key_of_a_larger_domain_is_as_good() {
    let shape = || CircuitShape::from_r1cs(&data("poseidon_m7.r1cs")).unwrap().with_domain(1 << 13).unwrap();
    assert_eq!(SHAPE.domain().size(), 1 << 12);
    let key = generate_for(&shape(), Convention::OddCoset, &Entropy::Seed("large"), &unwatched).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large.zkey");
    Zkey::write(&file, &key, &shape()).unwrap();
    let zkey = open(&file).unwrap();
    assert_eq!(zkey.domain(), 1 << 13);
    // `prove` verifies.
    proof(zkey.shape(&unwatched).unwrap(), ProvingKey::read(&file, &unwatched).unwrap()).unwrap();
    let small = CircuitShape::from_r1cs(&data("poseidon_m7.r1cs")).unwrap().with_domain(1 << 11);
    assert!(small.unwrap_err().to_string().contains("the key's domain has 2048 points"));
}

/// A circuit is kept with its domain, and with what it knows of C.
#[test]
fn a_circuit_without_c_is_stored_as_one() {
    let (folder, file) = written(&BYTES);
    let shape = open(&file).unwrap().shape(&unwatched).unwrap();
    let stored = folder.path().join("circuit.pce");
    shape.write(&stored, proofline_stages::circuits::Origin::UNKNOWN).unwrap();
    let read = CircuitShape::read(&stored).unwrap();
    assert!(!read.knows_c());
    assert_eq!(read.sizes(), shape.sizes());
    assert_ne!(read.digest(), SHAPE.digest());
}

fn refused(bytes: &[u8], class: Class, says: &str) {
    let (_folder, file) = written(bytes);
    let all = || {
        let zkey = open(&file)?;
        zkey.shape(&unwatched)?;
        ProvingKey::read(&file, &unwatched).map(drop)
    };
    let error = all().expect_err(says);
    let text = error.to_string();
    assert_eq!(error.class(), class, "{text}");
    assert!(text.contains(says) && text.contains("circuit.zkey"), "{text:?} should say {says:?}");
}

/// Where the content of a section is.
fn section(bytes: &[u8], wanted: u32) -> (usize, usize) {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let mut at = 12;
    loop {
        let (id, length) = (word(at), u64::from_le_bytes(bytes[at + 4..at + 12].try_into().unwrap()) as usize);
        if id == wanted {
            return (at + 12, length);
        }
        at += 12 + length;
    }
}

#[test]
fn damage_is_named() {
    let change = |section_number: u32, within: usize, new: &[u8]| {
        let mut bytes = BYTES.clone();
        let at = section(&bytes, section_number).0 + within;
        bytes[at..at + new.len()].copy_from_slice(new);
        bytes
    };
    let header = |within, new: &[u8]| change(2, within, new);
    refused(&change(1, 0, &[2]), Class::BadInput, "it is a key of PLONK (number 2)");
    refused(&change(1, 0, &[77]), Class::BadInput, "an unknown protocol (number 77)");
    refused(&header(0, &[32]), Class::BadInput, "circom's default curve; compile the circuit with `--prime bls12381`");
    refused(&header(4, &[0]), Class::BadInput, "the prime of the coordinates is not BLS12-381's p");
    refused(&header(56, &[0]), Class::BadInput, "which is not BLS12-381's r");
    refused(&header(88, &[0xff; 4]), Class::BadInput, "wires, and this program proves");
    refused(&header(92, &[0xff; 4]), Class::BadInput, "public ones; the file is damaged");
    refused(&header(96, &[3, 0, 0, 0]), Class::BadInput, "a domain of 3 points is none");
    refused(&header(96, &[0, 0, 0, 0x80]), Class::BadInput, "a domain of 2147483648 points is none");
    refused(&header(96, &[0, 0x20, 0, 0]), Class::BadInput, "section 9, the points of H, has");
    refused(&header(100, &[0; 96]), Class::BadInput, "alpha in G1 (G1) is the point at infinity");
    refused(&header(100, &[1]), Class::BadInput, "alpha in G1 (G1) is not on the curve");
    refused(&header(100, &[0xff; 48]), Class::BadInput, "alpha in G1 (G1) has a coordinate that is not below p");
    refused(&change(3, 96, &[0; 96]), Class::BadInput, "point 1 of ic (G1) is the point at infinity");
    refused(&change(4, 0, &[0; 4]), Class::BadInput, "0 coefficients take 4 bytes, and section 4 has");
    refused(&change(4, 4, &[2]), Class::BadInput, "a coefficient is of matrix 2");
    refused(&change(4, 8, &[0xff; 4]), Class::BadInput, "a coefficient is of row 4294967295");
    refused(&change(4, 12, &[0xff; 4]), Class::BadInput, "a coefficient is of wire 4294967295");
    refused(&change(4, 16, &[0xff; 32]), Class::BadInput, "a coefficient is not below the field's prime r");
    let last = section(&BYTES, 4).1 - 44;
    refused(&change(4, last + 12, &[7]), Class::BadInput, "the last rows of A are not the 2 rows of the public wires");
    for (number, name) in [(5, "a (G1)"), (6, "b_g1 (G1)"), (7, "b_g2 (G2)"), (8, "l (G1)"), (9, "h (G1)")] {
        let wire = first_point(number);
        refused(
            &change(number, wire, &[0xff; 48]),
            Class::BadInput,
            &format!("{name} has a coordinate that is not below p"),
        );
        refused(&change(number, wire, &[1, 2, 3]), Class::BadInput, &format!("{name} is not on the curve"));
    }
    refused(
        &change(9, 5 * 96, &stranger()),
        Class::BadInput,
        "point 5 of h (G1) is on the curve, but not in the subgroup",
    );

    let absent = (0..SHAPE.variables()).find(|wire| !SHAPE.matrices().column_densities()[1].get(*wire)).unwrap();
    let (of_h, _) = section(&BYTES, 9);
    let stray = change(6, absent * 96, &BYTES[of_h..of_h + 96]);
    refused(&stray, Class::BadInput, &format!("b_g1 has a point for wire {absent}, which occurs in no row"));
}

/// Where the first point of a section is that is not at infinity.
fn first_point(number: u32) -> usize {
    let (at, length) = section(&BYTES, number);
    BYTES[at..at + length].iter().position(|byte| *byte != 0).unwrap() / 192 * 192
}

/// A point of the curve with a small x that is not in the subgroup, as nearly all are, in the key's form.
fn stranger() -> [u8; 96] {
    use proofline_kernels::msm::Curve;
    let candidates = (1..=u8::MAX).map(|x| {
        let mut bytes = [0; 48];
        (bytes[0], bytes[47]) = (0x80, x);
        Option::<blstrs::G1Affine>::from(blstrs::G1Affine::from_compressed_unchecked(&bytes))
    });
    let point = candidates.flatten().find(|point| !bool::from(point.is_torsion_free())).unwrap();
    let mut plain = [0; 96];
    point.to_plain(&mut plain);
    plain
}

#[test]
fn every_truncation_and_other_order_of_sections() {
    let length = BYTES.len();
    for cut in (0..400).chain((400..length).step_by(length / 50)) {
        let (_folder, file) = written(&BYTES[..cut]);
        assert_eq!(open(&file).unwrap_err().class(), Class::BadInput, "{cut} bytes");
    }
    let mut turned = BYTES[..8].to_vec();
    turned.extend(11u32.to_le_bytes());
    for number in (1..=10).rev() {
        let (at, length) = section(&BYTES, number);
        turned.extend(number.to_le_bytes());
        turned.extend((length as u64).to_le_bytes());
        turned.extend(&BYTES[at..at + length]);
    }
    // One that nobody knows.
    turned.extend(99u32.to_le_bytes());
    turned.extend(3u64.to_le_bytes());
    turned.extend(b"new");
    let (_folder, file) = written(&turned);
    assert_eq!(Parameters::of_zkey(&open(&file).unwrap(), &unwatched).unwrap(), *KEY);
}

/// Sections are found where they are, however far that is: here behind five GiB that take no room on disk.
#[test]
fn sections_beyond_four_gib() {
    use std::os::unix::fs::FileExt;
    let folder = tempfile::tempdir().unwrap();
    for (name, whole) in [("far.zkey", BYTES.clone()), ("far.r1cs", fs::read(data("poseidon_m7.r1cs")).unwrap())] {
        let path = folder.path().join(name);
        let file = fs::File::create(&path).unwrap();
        let hole = 5u64 << 30;
        let mut head = whole[..8].to_vec();
        let sections = u32::from_le_bytes(whole[8..12].try_into().unwrap());
        head.extend((sections + 1).to_le_bytes());
        head.extend(99u32.to_le_bytes());
        head.extend(hole.to_le_bytes());
        file.write_all_at(&head, 0).unwrap();
        file.write_all_at(&whole[12..], 24 + hole).unwrap();
        if name == "far.r1cs" {
            assert_eq!(CircuitShape::from_r1cs(&path).unwrap().digest(), SHAPE.digest());
            continue;
        }
        let zkey = open(&path).unwrap();
        assert_eq!(zkey.shape(&unwatched).unwrap().sizes(), SHAPE.sizes());
        assert_eq!(Parameters::of_zkey(&zkey, &unwatched).unwrap(), *KEY);
    }
}

/// An unsatisfied witness is not seen from A and B: the proof does not leave.
#[test]
fn without_c_a_wrong_witness_is_found_out_by_its_proof() {
    let (_folder, file) = written(&BYTES);
    let shape = open(&file).unwrap().shape(&unwatched).unwrap();
    let mut values = proofline_stages::circuits::read_wtns(&data("poseidon_m7.wtns")).unwrap();
    values[100] += Scalar::from(1);
    let source = WitnessSource::values(&shape, values.to_vec()).unwrap();
    let key = ProvingKey::read(&file, &unwatched).unwrap();
    let job = Job::new(Arc::new(shape), Arc::new(key), vec![source]).unwrap();
    let error = sequence::prove(&job, 0).unwrap_err();
    assert_eq!(error.class(), Class::Unsatisfied);
    assert!(error.to_string().contains("the witness does not satisfy the circuit"), "{error}");
}
