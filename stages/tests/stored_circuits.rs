//! Circuits on disk: what was written is read, and nothing else.

use std::fs;
use std::path::Path;

use blstrs::Scalar;
use proofline_stages::circuits::{Builtin, Origin, StoredCircuit};
use proofline_stages::error::Class;
use proofline_stages::{CircuitShape, Error};
use sha2::{Digest, Sha256};

fn sha256() -> CircuitShape {
    CircuitShape::from_builtin("sha256:1").unwrap()
}

fn r1cs() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/circom/poseidon_m7.r1cs")
}

/// The rows of a circuit, whatever form they are kept in.
fn rows(shape: &CircuitShape) -> Vec<[Vec<(u32, Scalar)>; 3]> {
    let mut all = Vec::new();
    shape.matrices().for_each_row(|_, row| all.push(row.map(|row| row.terms().map(|(c, v)| (c, *v)).collect())));
    all
}

#[test]
fn a_circuit_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("circuit.pce");
    let origins = [Origin::of_builtin(Builtin::Sha256 { blocks: 1 }), Origin::of_r1cs(&r1cs()).unwrap()];
    for (shape, origin) in [sha256(), CircuitShape::from_r1cs(&r1cs()).unwrap()].iter().zip(origins) {
        shape.write(&file, origin).unwrap();
        let stored = StoredCircuit::open(&file).unwrap();
        assert_eq!((stored.origin(), stored.digest()), (origin, shape.digest()));
        let read = stored.shape().unwrap();
        assert_eq!((read.name(), read.builtin(), read.sizes()), (shape.name(), shape.builtin(), shape.sizes()));
        assert_eq!(read.unused(), shape.unused());
        assert_eq!(rows(&read), rows(shape));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no partial file is left");
    }
}

#[test]
fn a_stored_circuit_is_small() {
    let shape = sha256();
    let nonzeros: usize = shape.matrices().nonzeros().iter().sum();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("circuit.pce");
    shape.write(&file, Origin::UNKNOWN).unwrap();
    let bytes = fs::metadata(&file).unwrap().len();
    // 4.5 bytes for a non-zero, all arrays counted, and the pages of header and sections.
    assert!(bytes as f64 <= 4.5 * nonzeros as f64 + 6.0 * 4096.0, "{bytes} bytes for {nonzeros} non-zeros");
}

#[test]
fn a_name_alone_makes_no_built_in_circuit() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("circuit.pce");
    sha256().write(&file, Origin::UNKNOWN).unwrap();
    assert_eq!(CircuitShape::read(&file).unwrap().builtin(), None);
}

#[test]
fn equal_circuits_have_equal_digests_and_others_do_not() {
    let poseidon = CircuitShape::from_r1cs(&r1cs()).unwrap();
    assert_eq!(sha256().digest(), sha256().digest());
    assert_ne!(sha256().digest(), poseidon.digest());
    let copy = tempfile::tempdir().unwrap();
    let file = copy.path().join("another name.r1cs");
    fs::copy(r1cs(), &file).unwrap();
    assert_eq!(CircuitShape::from_r1cs(&file).unwrap().digest(), poseidon.digest());
    assert_eq!(Origin::of_r1cs(&file).unwrap(), Origin::of_r1cs(&r1cs()).unwrap());
}

/// If this fails, the built-in circuit has changed: raise `REVISION` in `circuits/builtin.rs`, so that circuits stored
/// before are not taken for it, and write the new digest here.
#[test]
fn the_built_in_circuit_is_the_one_that_its_revision_says() {
    let mut hasher = Sha256::new();
    for row in rows(&sha256()) {
        for terms in row {
            hasher.update((terms.len() as u64).to_le_bytes());
            for (column, value) in terms {
                hasher.update(column.to_le_bytes());
                hasher.update(value.to_bytes_le());
            }
        }
    }
    let digest: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(digest, "74c17b69d2bd5ebd2b88ae8585c1bb7f5a79e1a53e48c9fc7e87e1f0fd67ac17");
}

/// If this fails, and the test above does not, the kernels lay rows out in another way: raise the `version` of stored
/// circuits in `circuits/pce/mod.rs`, so that files written before are refused and made again, and write the new digest here.
#[test]
fn the_layout_is_the_one_that_the_version_says() {
    let digest: String = sha256().digest().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(digest, "0653204b0b9b99cdd6cc9d7b3aa0db650e5bca3cc4243671130978e95e292d66");
}

fn refused(result: Result<CircuitShape, Error>, says: &str) {
    let error = result.unwrap_err();
    let text = error.to_string();
    assert_eq!(error.class(), Class::BadInput, "{text}");
    assert!(text.contains(says) && text.contains("changed.pce"), "{text:?} should say {says:?}");
    assert!(!text.contains('\n'), "one line: {text}");
}

/// A small circuit's file.
fn small() -> (tempfile::TempDir, Vec<u8>) {
    use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
    #[derive(Clone)]
    struct Powers;
    impl Circuit<Scalar> for Powers {
        fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
            let none = || Err(SynthesisError::AssignmentMissing);
            let mut x = cs.alloc_input(|| "x", none)?;
            for i in 0..20 {
                let y = cs.alloc(|| format!("y{i}"), none)?;
                let five = Scalar::from(5 + i);
                cs.enforce(|| "step", |lc| lc + x, |lc| lc + (five, x) - CS::one(), |lc| lc + y);
                x = y;
            }
            Ok(())
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("circuit.pce");
    CircuitShape::from_circuit("powers", Powers).unwrap().write(&file, Origin::UNKNOWN).unwrap();
    let bytes = fs::read(&file).unwrap();
    (folder, bytes)
}

fn read(folder: &tempfile::TempDir, bytes: &[u8]) -> Result<CircuitShape, Error> {
    let file = folder.path().join("changed.pce");
    fs::write(&file, bytes).unwrap();
    CircuitShape::read(&file)
}

#[test]
fn every_truncation_is_refused() {
    let (folder, bytes) = small();
    assert!(read(&folder, &bytes).is_ok());
    for length in (0..bytes.len()).step_by(41).chain([bytes.len() - 1]) {
        refused(read(&folder, &bytes[..length]), "");
    }
    refused(read(&folder, &[&bytes[..], &[0]].concat()), "added to; delete it, and it is made again");
}

#[test]
fn every_change_of_a_byte_is_refused() {
    let (folder, bytes) = small();
    for at in (0..bytes.len()).step_by(11) {
        let mut changed = bytes.clone();
        changed[at] ^= 4;
        refused(read(&folder, &changed), "");
    }
}

/// The bytes with a section changed, sealed again, and with the circuit's digest of the new sections.
fn resealed(bytes: &[u8], number: u32, change: &dyn Fn(&mut [u8])) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let count = bytes[12] as usize;
    let find = |bytes: &[u8], number: u32| {
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
        let lines = (0..count).map(|index| 56 + 56 * index);
        let line = lines.into_iter().find(|line| bytes[*line..*line + 4] == number.to_le_bytes()).unwrap();
        (line, word(line + 8)..word(line + 8) + word(line + 16))
    };
    let digest = |bytes: &[u8]| -> [u8; 32] {
        let mut hasher = Sha256::new();
        if !bytes.is_empty() {
            hasher.update(Sha256::digest(bytes));
        }
        hasher.update((bytes.len() as u64).to_le_bytes());
        hasher.finalize().into()
    };
    let reseal = |bytes: &mut Vec<u8>, number: u32, change: &dyn Fn(&mut [u8])| {
        let (line, range) = find(bytes, number);
        change(&mut bytes[range.clone()]);
        let digest = digest(&bytes[range]);
        bytes[line + 24..line + 56].copy_from_slice(&digest);
    };
    reseal(&mut bytes, number, change);
    let mut hasher = Sha256::new_with_prefix("proofline circuit");
    for number in [1, 3, 4, 5] {
        let (line, _) = find(&bytes, number);
        hasher.update(&bytes[line + 24..line + 56]);
    }
    let circuit: [u8; 32] = hasher.finalize().into();
    reseal(&mut bytes, 2, &|identity| {
        if number != 2 {
            identity[..32].copy_from_slice(&circuit);
        }
    });
    bytes[24..56].fill(0);
    let seal = Sha256::digest(&bytes[..56 + 56 * count]);
    bytes[24..56].copy_from_slice(&seal);
    bytes
}

#[test]
fn a_sealed_file_that_lies_is_refused_too() {
    let (folder, bytes) = small();
    let with = |number: u32, change: &dyn Fn(&mut [u8])| read(&folder, &resealed(&bytes, number, change));
    assert!(with(3, &|_| ()).is_ok(), "sealed again without a change");
    for at in (0..48).step_by(8) {
        for value in [0, 0xff] {
            refused(with(1, &|facts| facts[at..at + 8].fill(value)), "");
        }
    }
    refused(with(1, &|facts| facts[0] = 200), "are no circuit");
    refused(with(1, &|facts| facts[16] -= 1), "");
    refused(with(2, &|identity| identity[0] ^= 1), "the circuit's digest is not that of its sections");
    refused(with(2, &|identity| identity[64] = 0xff), "the circuit's name is no text");
    refused(with(4, &|starts| starts[0] = 1), "does not start at the front");
    refused(with(5, &|values| values[0] = 2), "do not begin with 1 and -1");
    refused(with(5, &|values| values[31] = 0xff), "a coefficient is not below the field's prime r");
}

/// Whatever the rows' bytes are, and whoever sealed them: a circuit or a refusal.
#[test]
fn no_change_of_the_rows_is_a_panic() {
    let (folder, bytes) = small();
    let mut refusals = 0;
    for at in 0..60 {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let change = |rows: &mut [u8]| {
                if let Some(byte) = rows.get_mut(at) {
                    *byte = value;
                }
            };
            refusals += usize::from(read(&folder, &resealed(&bytes, 3, &change)).is_err());
        }
    }
    assert!(refusals > 30, "{refusals}");
}
