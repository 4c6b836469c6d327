//! Each byte of each kind of file, changed: the file is refused with a clear error, or what is made of it is right all the
//! same. Never a panic, never a wrong proof.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use blstrs::Scalar;
use ff::{Field, PrimeField};
use proofline_stages::circuits::{Origin, read_wtns};
use proofline_stages::error::Class;
use proofline_stages::params::resident::convert;
use proofline_stages::params::setup::{Entropy, generate_for};
use proofline_stages::params::{Convention, PARAMS_FILE, ProvingKey, VK_FILE, VerifyingKey, Zkey};
use proofline_stages::progress::unwatched;
use proofline_stages::verify::{PreparedKey, ProofPoints, parse_public_inputs, snarkjs, write_public_inputs};
use proofline_stages::{CircuitShape, Error, Job, WitnessSource, sequence};
use tempfile::TempDir;

/// A container of circom's.
fn container(magic: &str, version: u32, sections: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = magic.as_bytes().to_vec();
    bytes.extend(version.to_le_bytes());
    bytes.extend((sections.len() as u32).to_le_bytes());
    for (id, content) in sections {
        bytes.extend(id.to_le_bytes());
        bytes.extend((content.len() as u64).to_le_bytes());
        bytes.extend(content);
    }
    bytes
}

fn prime() -> Vec<u8> {
    let mut prime = (-Scalar::ONE).to_repr();
    prime[0] += 1;
    [&32u32.to_le_bytes()[..], &prime].concat()
}

fn sum(terms: &[(u32, u64)]) -> Vec<u8> {
    let mut bytes = (terms.len() as u32).to_le_bytes().to_vec();
    for (wire, coefficient) in terms {
        bytes.extend(wire.to_le_bytes());
        bytes.extend(Scalar::from(*coefficient).to_repr());
    }
    bytes
}

/// Wires ONE, y (output), k (public input), a, b, t: a·b = t, t·(k + 2) = y.
fn r1cs() -> Vec<u8> {
    let rows = [
        [sum(&[(3, 1)]), sum(&[(4, 1)]), sum(&[(5, 1)])].concat(),
        [sum(&[(5, 1)]), sum(&[(0, 2), (2, 1)]), sum(&[(1, 1)])].concat(),
    ];
    let mut header = prime();
    [6u32, 1, 1, 2].iter().for_each(|n| header.extend(n.to_le_bytes()));
    header.extend(6u64.to_le_bytes());
    header.extend(2u32.to_le_bytes());
    let labels = (0u64..6).flat_map(u64::to_le_bytes).collect();
    container("r1cs", 1, &[(1, header), (2, rows.concat()), (3, labels)])
}

fn wtns() -> Vec<u8> {
    let values = [1u64, 90, 4, 3, 5, 15].map(|value| Scalar::from(value).to_repr());
    container("wtns", 2, &[(1, [prime(), 6u32.to_le_bytes().to_vec()].concat()), (2, values.concat())])
}

/// Every kind of file, right.
struct Files {
    folder: TempDir,
}

const FILES: [&str; 10] = [
    "circuit.r1cs",
    "circuit.wtns",
    "circuit.pce",
    "circuit.zkey",
    "zkey.pce",
    "proof.json",
    "vk.json",
    "proof.bin",
    "public.json",
    "zkey.resident",
];

impl Files {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().to_owned();
        let at = |name: &str| place.join(name);
        fs::write(at("circuit.r1cs"), r1cs()).unwrap();
        fs::write(at("circuit.wtns"), wtns()).unwrap();
        let shape = CircuitShape::from_r1cs(&at("circuit.r1cs")).unwrap();
        shape.write(&at("circuit.pce"), Origin::UNKNOWN).unwrap();
        let key = |convention| generate_for(&shape, convention, &Entropy::Seed("bytes"), &unwatched).unwrap();
        key(Convention::Coefficients).write(folder.path()).unwrap();
        fs::rename(convert(folder.path(), &unwatched).unwrap().file, at("params.resident")).unwrap();
        let of_snarkjs = key(Convention::OddCoset);
        Zkey::write(&at("circuit.zkey"), &of_snarkjs, &shape).unwrap();
        fs::rename(convert(&at("circuit.zkey"), &unwatched).unwrap().file, at("zkey.resident")).unwrap();
        let without_c = Zkey::open(&at("circuit.zkey"), &unwatched).unwrap().shape(&unwatched).unwrap();
        without_c.write(&at("zkey.pce"), Origin::UNKNOWN).unwrap();
        fs::write(at("vk.json"), snarkjs::write_key(&of_snarkjs.vk)).unwrap();
        let files = Self { folder };
        let proof = files.prove(CircuitShape::from_r1cs(&at("circuit.r1cs")), ProvingKey::new(of_snarkjs)).unwrap();
        fs::write(at("proof.bin"), proof.0).unwrap();
        fs::write(at("proof.json"), snarkjs::write_proof(&ProofPoints::parse(&proof.0).unwrap())).unwrap();
        fs::write(at("public.json"), write_public_inputs(&proof.1)).unwrap();
        files
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn prove(&self, shape: Result<CircuitShape, Error>, key: ProvingKey) -> Result<([u8; 192], Vec<Scalar>), Error> {
        let shape = shape?.with_domain(key.domain())?;
        let source = WitnessSource::from_wtns(&shape, &self.at("circuit.wtns"))?;
        let public = source.public_inputs().get().unwrap().to_vec();
        let job = Job::new(Arc::new(shape), Arc::new(key), vec![source])?;
        let job = job.with_blinding_for_tests(0, Scalar::from(5), Scalar::from(6));
        Ok((sequence::prove(&job, 0)?.bytes, public))
    }

    /// Proves with circuit and key from these files.
    fn prove_from(&self, shape: Result<CircuitShape, Error>, key: &Path) -> Result<([u8; 192], Vec<Scalar>), Error> {
        self.prove(shape, ProvingKey::read(key, &unwatched)?)
    }

    fn r1cs(&self) -> Result<CircuitShape, Error> {
        CircuitShape::from_r1cs(&self.at("circuit.r1cs"))
    }

    /// The verdict on what is in the folder.
    fn verdict(&self) -> Result<bool, Error> {
        let text = |name: &str| {
            String::from_utf8(fs::read(self.at(name)).unwrap())
                .map_err(|_| Error::BadText(format!("{name} is no text")))
        };
        let key = snarkjs::parse_key(&text("vk.json")?)?;
        let public = parse_public_inputs(&text("public.json")?)?;
        let binary = ProofPoints::parse(&fs::read(self.at("proof.bin")).unwrap())?;
        let json = snarkjs::parse_proof(&text("proof.json")?)?;
        Ok(key.verify(&binary, &public)? && key.verify(&json, &public)?)
    }
}

/// What became of a changed file.
#[derive(Default, Debug)]
struct Count {
    refused: usize,
    harmless: usize,
}

/// Changes each byte of a file in turn, in a way that depends on the byte, and judges what comes of it.
fn change_each(files: &Files, name: &str, judge: impl Fn() -> Result<(), Error>) -> Count {
    let path = files.at(name);
    let right = fs::read(&path).unwrap();
    judge().unwrap_or_else(|error| panic!("{name}, unchanged: {error}"));
    let mut count = Count::default();
    // A sealed file is padded to pages, whose every byte the tests of `sealed` change.
    let sealed = right.starts_with(b"PL");
    let padding = |at: usize| sealed && right[at.saturating_sub(8)..].iter().take(16).all(|byte| *byte == 0);
    for at in (0..right.len()).filter(|at| !padding(*at) || at % 509 == 0) {
        let mut wrong = right.clone();
        wrong[at] ^= [0x01, 0x80, 0xff, 0x10][at % 4];
        fs::write(&path, &wrong).unwrap();
        match judge() {
            Ok(()) => count.harmless += 1,
            Err(error) => {
                assert!(!matches!(error.class(), Class::Internal), "{name}, byte {at}: {error}");
                assert!(error.to_string().len() > 20, "{name}, byte {at}: {error}");
                count.refused += 1;
            }
        }
    }
    fs::write(&path, right).unwrap();
    assert!(count.refused > count.harmless, "{name}: {count:?}");
    count
}

/// A proof that left is right: for the statement of its own witness, before the key as it was.
fn right(key: &PreparedKey, made: Result<([u8; 192], Vec<Scalar>), Error>) -> Result<(), Error> {
    let (proof, public) = made?;
    assert!(key.verify(&ProofPoints::parse(&proof)?, &public)?, "a wrong proof left");
    Ok(())
}

#[test]
fn circuits_and_witnesses() {
    let files = Files::new();
    let key = PreparedKey::new(&VerifyingKey::read(&files.at(VK_FILE)).unwrap());
    let params = files.at(PARAMS_FILE);
    change_each(&files, "circuit.wtns", || right(&key, files.prove_from(files.r1cs(), &params)));
    change_each(&files, "circuit.r1cs", || right(&key, files.prove_from(files.r1cs(), &params)));
    let pce = || CircuitShape::read(&files.at("circuit.pce"));
    assert_eq!(change_each(&files, "circuit.pce", || right(&key, files.prove_from(pce(), &params))).harmless, 0);
    assert!(FILES.iter().all(|name| files.at(name).exists()));
    assert_eq!(read_wtns(&files.at("circuit.wtns")).unwrap().len(), 6);
}

#[test]
fn keys_of_bellperson() {
    let files = Files::new();
    let key = PreparedKey::new(&VerifyingKey::read(&files.at(VK_FILE)).unwrap());
    let from = |name: &str| right(&key, files.prove_from(files.r1cs(), &files.at(name)));
    change_each(&files, PARAMS_FILE, || from(PARAMS_FILE));
    assert_eq!(change_each(&files, "params.resident", || from("params.resident")).harmless, 0);
    let vk = || VerifyingKey::read(&files.at(VK_FILE)).map(drop);
    assert_eq!(change_each(&files, VK_FILE, vk).harmless, 0);
}

#[test]
fn keys_of_snarkjs() {
    let files = Files::new();
    let key = snarkjs::parse_key(&fs::read_to_string(files.at("vk.json")).unwrap()).unwrap();
    let zkey = files.at("circuit.zkey");
    let own = || Zkey::open(&zkey, &unwatched).and_then(|zkey| zkey.shape(&unwatched));
    let count = change_each(&files, "circuit.zkey", || right(&key, files.prove_from(own(), &zkey)));
    // What the ceremony left, which is not read: the digest, the number of contributions, the section's number.
    assert!(count.harmless <= 64 + 4 + 4, "{count:?}");
    let pce = || CircuitShape::read(&files.at("zkey.pce"));
    let resident = files.at("zkey.resident");
    assert_eq!(change_each(&files, "zkey.pce", || right(&key, files.prove_from(pce(), &resident))).harmless, 0);
    assert_eq!(change_each(&files, "zkey.resident", || right(&key, files.prove_from(pce(), &resident))).harmless, 0);
}

const NAME_OF_PAIRING: &[u8] = b"vk_alphabeta_12";

/// Here nothing is made of a file: a changed one is refused, or the verdict on it is no, or it says the same.
#[test]
fn proofs_and_verdicts() {
    let files = Files::new();
    assert!(files.verdict().unwrap());
    for name in ["proof.bin", "proof.json", "public.json", "vk.json"] {
        let path = files.at(name);
        let right = fs::read(&path).unwrap();
        let mut accepted = 0;
        for at in 0..right.len() {
            let mut wrong = right.clone();
            wrong[at] ^= [0x01, 0x08, 0x80][at % 3];
            fs::write(&path, &wrong).unwrap();
            if let Ok(true) = files.verdict() {
                accepted += 1;
                // White space, the names of what is not asked for: one of those has digits.
                let changed = [right[at], wrong[at]].map(char::from);
                let pairing = right.windows(NAME_OF_PAIRING.len()).position(|name| name == NAME_OF_PAIRING);
                let in_name = pairing.is_some_and(|start| (start..start + NAME_OF_PAIRING.len()).contains(&at));
                let told = in_name || changed.iter().all(|c| !c.is_ascii_digit());
                assert!(told && name != "proof.bin", "{name}, byte {at}: {changed:?} was accepted");
            }
        }
        assert!(accepted < right.len(), "{name}: {accepted} changes accepted");
        fs::write(&path, right).unwrap();
    }
}
