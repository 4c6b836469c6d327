//! Filecoin's proofs: the same bytes as bellperson's, accepted by the verifier of the network's nodes, and refused by it for any
//! other statement.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use blstrs::Scalar;
use proofline::{Job, Prover, ProvingKey, VerifyingKey, setup, unwatched};
use proofline_e2e::bellman;
use proofline_stages::circuits::filecoin::{Fabricating, Kind, RegisteredProof, Statement, Task, prover_id, read_c1};
use tempfile::TempDir;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/filecoin");

/// A statement, and its vanilla proofs as a task.
fn task_of(statement: &mut Statement, files: &[(PathBuf, Vec<u8>)]) -> Task {
    let files: Vec<(&Path, &[u8])> = files.iter().map(|(name, bytes)| (&**name, &bytes[..])).collect();
    match statement {
        Statement::Seal(seal) => read_c1(files[0].0, files[0].1, (seal.prover, seal.sector)).unwrap().1,
        Statement::Post(post) => post.read_vanilla(&files).unwrap(),
        Statement::Update(update) => update.read_vanilla(&files).unwrap(),
    }
}

/// Of the test data.
fn read(kind: Kind, name: &str, vanilla: &[&str]) -> (Statement, Task) {
    let bytes = |name: &str| std::fs::read(Path::new(DATA).join(name)).unwrap();
    let fields: serde_json::Value = serde_json::from_slice(&bytes(name)).unwrap();
    let mut statement = Statement::from_json(kind, fields.as_object().unwrap()).unwrap();
    let vanilla: Vec<(PathBuf, Vec<u8>)> = vanilla.iter().map(|name| (name.into(), bytes(name))).collect();
    let task = task_of(&mut statement, &vanilla);
    (statement, task)
}

/// What the verifier of the nodes says.
fn network_says(keys: &TempDir, statement: &Statement, proof: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let [statement_file, proof_file] = ["statement.json", "proof.bin"].map(|name| folder.path().join(name));
    std::fs::write(&statement_file, statement.to_json().to_string()).unwrap();
    std::fs::write(&proof_file, proof).unwrap();
    let mut verifier = Command::new(env!("CARGO_BIN_EXE_network-verifier"));
    verifier.arg(statement.family().kind.to_string()).args([statement_file, proof_file]);
    let output = verifier.env("FIL_PROOFS_PARAMETER_CACHE", keys.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Statements that differ from one in a single value.
fn others(statement: &Statement) -> Vec<Statement> {
    fn each<T: Clone>(one: &T, changes: &[fn(&mut T)], statement: fn(T) -> Statement) -> Vec<Statement> {
        let changed = |change: &fn(&mut T)| {
            let mut other = one.clone();
            change(&mut other);
            statement(other)
        };
        changes.iter().map(changed).collect()
    }
    match statement {
        Statement::Seal(seal) => each(
            seal,
            &[
                |seal| seal.seed[0] ^= 1,
                |seal| seal.ticket[0] ^= 1,
                |seal| seal.comm_r[0] ^= 1,
                |seal| seal.comm_d[0] ^= 1,
                |seal| seal.sector += 1,
                |seal| seal.prover[0] ^= 1,
            ],
            Statement::Seal,
        ),
        Statement::Post(post) => each(
            post,
            &[
                |post| post.randomness[0] ^= 1,
                |post| post.sectors[0].1[0] ^= 1,
                |post| {
                    post.sectors[0].0 += 7;
                    post.sectors.sort_unstable();
                },
            ],
            Statement::Post,
        ),
        Statement::Update(update) => each(
            update,
            &[
                |update| update.comm_r_old[0] ^= 1,
                |update| update.comm_r_new[0] ^= 1,
                |update| update.comm_d_new[0] ^= 1,
            ],
            Statement::Update,
        ),
    }
}

/// How bellperson has its key.
enum Bellperson {
    /// In memory, read with all of its checks.
    Checked,
    /// Mapped, as the network's programs have it: the checks of a large one take minutes.
    Mapped,
    /// It does not prove.
    Absent,
}

fn proved(statement: &Statement, task: &Task, bellperson: &Bellperson) {
    let family = task.family();
    let keys = tempfile::tempdir().unwrap();
    let (params, vk) = (family.params_in(keys.path()).unwrap(), family.vk_in(keys.path()).unwrap());
    let shape = Arc::new(family.compile().unwrap());
    let made = setup::generate(&shape, &setup::Entropy::Seed("tests"), &unwatched).unwrap();
    // One of the two large copies of the key goes before bellperson needs its memory.
    made.write_converted(&params, &vk, &unwatched).unwrap();
    drop(made);
    let (r, s) = (Scalar::from(0x0123_4567_89ab), Scalar::from(0xfedc_ba98_7654));
    let expected = match bellperson {
        Bellperson::Checked => Some(bellman::prove(&bellman::read(&params), task.circuit(0), r, s)),
        Bellperson::Mapped => Some(bellman::prove(&bellman::map(&params), task.circuit(0), r, s)),
        Bellperson::Absent => None,
    };

    let key = Arc::new(ProvingKey::read(&params, &unwatched).unwrap());
    let job = Job::new(shape, key, task.witnesses()).unwrap().with_blinding_for_tests(0, r, s);
    let proofs = Prover::start().unwrap().submit(job).unwrap().wait().unwrap();
    assert_eq!(proofs.len(), 1);
    let proof = proofs[0].bytes;
    if let Some(expected) = expected {
        assert_eq!(proof[..], expected[..], "bellperson's bytes are others");
    }

    // What the command says is what the verifier of the nodes says.
    let vk = VerifyingKey::read(&vk).unwrap();
    let says = |statement: &Statement| statement.verify(&vk, Path::new("proof.bin"), &proof).unwrap();
    assert_eq!((&*network_says(&keys, statement, &proof), says(statement)), ("true", true));
    for other in others(statement) {
        assert_eq!((&*network_says(&keys, &other, &proof), says(&other)), ("false", false), "{other:?}");
    }
}

#[test]
fn window_post() {
    let files = ["window-2k.vanilla0.bincode", "window-2k.vanilla1.bincode"];
    let (statement, task) = read(Kind::Window, "window-2k.meta.json", &files);
    proved(&statement, &task, &Bellperson::Checked);
}

#[test]
fn winning_post() {
    let (statement, task) = read(Kind::Winning, "winning-2k.meta.json", &["winning-2k.vanilla0.bincode"]);
    proved(&statement, &task, &Bellperson::Checked);
}

/// A production size, whose vanilla proof is made up: 370,000 constraints.
#[test]
fn winning_post_of_32_gib() {
    let folder = tempfile::tempdir().unwrap();
    let proof = RegisteredProof::named(Kind::Winning, "StackedDrgWinning32GiBV1").unwrap();
    let making = Fabricating { proof, prover: prover_id("f01234").unwrap(), sectors: 1, seed: "tests" };
    let mut made = making.write(folder.path()).unwrap();
    let files: Vec<_> = made.vanilla.iter().map(|file| (file.clone(), std::fs::read(file).unwrap())).collect();
    let task = task_of(&mut made.statement, &files);
    proved(&made.statement, &task, &Bellperson::Absent);
}

/// One after the other: each has 1.1 GB of key, and bellperson takes 3 GB.
#[test]
fn porep_and_update() {
    let (statement, task) = read(Kind::Porep, "porep-2k-sector1.meta.json", &["porep-2k-sector1.c1.json"]);
    proved(&statement, &task, &Bellperson::Mapped);
    let vanilla = ["update-2k-sector1.vanilla0.bincode"];
    let (statement, task) = read(Kind::Update, "update-2k-sector1.meta.json", &vanilla);
    proved(&statement, &task, &Bellperson::Mapped);
}
