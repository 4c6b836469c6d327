//! Filecoin's proofs of spacetime: the same bytes as bellperson's, accepted by the verifier of the network's nodes, and refused
//! by it for any other statement.
//!
//! Proofs of replication and updates take minutes without optimisation: `make prove-filecoin` and the benchmark do theirs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use blstrs::Scalar;
use proofline::{Job, Prover, ProvingKey, setup, unwatched};
use proofline_e2e::bellman;
use proofline_stages::circuits::filecoin::{Family, Kind, PostStatement, Statement, Task};
use tempfile::TempDir;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/filecoin");

/// A statement of the test data, and its vanilla proofs as a task.
fn read(kind: Kind, name: &str, vanilla: &[&str]) -> (PostStatement, Task) {
    let bytes = |name: &str| std::fs::read(Path::new(DATA).join(name)).unwrap();
    let fields: serde_json::Value = serde_json::from_slice(&bytes(name)).unwrap();
    let Statement::Post(mut statement) = Statement::from_json(kind, fields.as_object().unwrap()).unwrap() else {
        panic!("{name} is another kind's");
    };
    let vanilla: Vec<(PathBuf, Vec<u8>)> = vanilla.iter().map(|name| (name.into(), bytes(name))).collect();
    let files: Vec<(&Path, &[u8])> = vanilla.iter().map(|(name, bytes)| (&**name, &bytes[..])).collect();
    let task = statement.read_vanilla(&files).unwrap();
    (statement, task)
}

/// What the verifier of the nodes says.
fn network_says(keys: &TempDir, kind: Kind, statement: &PostStatement, proof: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let [statement_file, proof_file] = ["statement.json", "proof.bin"].map(|name| folder.path().join(name));
    std::fs::write(&statement_file, Statement::Post(statement.clone()).to_json().to_string()).unwrap();
    std::fs::write(&proof_file, proof).unwrap();
    let mut verifier = Command::new(env!("CARGO_BIN_EXE_network-verifier"));
    verifier.arg(kind.to_string()).args([statement_file, proof_file]);
    let output = verifier.env("FIL_PROOFS_PARAMETER_CACHE", keys.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn proved_as_bellperson_proves(kind: Kind, statement: &PostStatement, task: &Task) {
    let family = Family { kind, size: "2KiB".parse().unwrap() };
    let keys = tempfile::tempdir().unwrap();
    let (params, vk) = (family.params_in(keys.path()).unwrap(), family.vk_in(keys.path()).unwrap());
    let shape = Arc::new(family.compile().unwrap());
    let made = setup::generate(&shape, &setup::Entropy::Seed("tests"), &unwatched).unwrap();
    made.write_files(&params, &vk).unwrap();
    // bellperson reads the key with all of its checks.
    let theirs = bellman::read(&params);
    let (r, s) = (Scalar::from(0x0123_4567_89ab), Scalar::from(0xfedc_ba98_7654));
    let expected = bellman::prove(&theirs, task.circuit(0), r, s);

    let job = Job::new(shape, Arc::new(ProvingKey::new(made)), task.witnesses()).unwrap();
    let job = job.with_blinding_for_tests(0, r, s);
    let proofs = Prover::start().unwrap().submit(job).unwrap().wait().unwrap();
    assert_eq!(proofs.len(), 1);
    let proof = proofs[0].bytes;
    assert_eq!(proof[..], expected[..], "bellperson's bytes are others");

    assert_eq!(network_says(&keys, kind, statement, &proof), "true");
    for change in [
        |statement: &mut PostStatement| statement.randomness[0] ^= 1,
        |statement: &mut PostStatement| statement.sectors[0].1[0] ^= 1,
        |statement: &mut PostStatement| {
            statement.sectors[0].0 += 7;
            statement.sectors.sort_unstable();
        },
    ] {
        let mut other = statement.clone();
        change(&mut other);
        assert_eq!(network_says(&keys, kind, &other, &proof), "false");
        // What the command says is the same.
        let vk = proofline::VerifyingKey::read(&vk).unwrap();
        assert!(!Statement::Post(other).verify(&vk, Path::new("proof.bin"), &proof).unwrap());
        assert!(Statement::Post(statement.clone()).verify(&vk, Path::new("proof.bin"), &proof).unwrap());
    }
}

#[test]
fn window_post() {
    let files = ["window-2k.vanilla0.bincode", "window-2k.vanilla1.bincode"];
    let (statement, task) = read(Kind::Window, "window-2k.meta.json", &files);
    proved_as_bellperson_proves(Kind::Window, &statement, &task);
}

#[test]
fn winning_post() {
    let (statement, task) = read(Kind::Winning, "winning-2k.meta.json", &["winning-2k.vanilla0.bincode"]);
    proved_as_bellperson_proves(Kind::Winning, &statement, &task);
}
