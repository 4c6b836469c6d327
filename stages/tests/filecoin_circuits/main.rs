//! Filecoin's circuits held against full synthesis, and what is refused before there is one.

mod every_byte;
mod full_synthesis;
mod refusals;

use std::path::{Path, PathBuf};

use blstrs::Scalar;
use ff::Field;
use serde_json::Value;

use proofline_stages::circuits::filecoin::*;
use proofline_stages::circuits::{Origin, extract, witness_of};
use proofline_stages::secret::SecretScalars;
use proofline_stages::{CircuitShape, Class, Error};

use full_synthesis::FullSynthesis;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/filecoin");

fn file(name: &str) -> PathBuf {
    Path::new(DATA).join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(file(name)).unwrap()
}

fn statement(kind: Kind, name: &str) -> Statement {
    let fields: Value = serde_json::from_slice(&bytes(name)).unwrap();
    Statement::from_json(kind, fields.as_object().unwrap()).unwrap()
}

fn post(kind: Kind, name: &str) -> PostStatement {
    match statement(kind, name) {
        Statement::Post(post) => post,
        other => panic!("{other:?}"),
    }
}

fn update() -> UpdateStatement {
    match statement(Kind::Update, "update-2k-sector1.meta.json") {
        Statement::Update(update) => update,
        other => panic!("{other:?}"),
    }
}

/// The vanilla proofs of files of these names, as they are or changed.
fn read(statement: &mut PostStatement, files: &[(&str, Vec<u8>)]) -> Result<Task, Error> {
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| file(name)).collect();
    let files: Vec<(&Path, &[u8])> = paths.iter().zip(files).map(|(path, (_, bytes))| (&**path, &bytes[..])).collect();
    statement.read_vanilla(&files)
}

const WINDOW: [&str; 2] = ["window-2k.vanilla0.bincode", "window-2k.vanilla1.bincode"];
const WINNING: &str = "winning-2k.vanilla0.bincode";
const C1: &str = "porep-2k-sector1.c1.json";

fn window() -> Task {
    let mut statement = post(Kind::Window, "window-2k.meta.json");
    read(&mut statement, &WINDOW.map(|name| (name, bytes(name)))).unwrap()
}

fn winning() -> Task {
    let mut statement = post(Kind::Winning, "winning-2k.meta.json");
    read(&mut statement, &[(WINNING, bytes(WINNING))]).unwrap()
}

/// The witness and A·w, B·w and C·w of every partition are those of full synthesis; every row is satisfied; the public inputs
/// are what the network's code derives from the statement.
fn expect_full_synthesis(shape: &CircuitShape, task: &Task) {
    for partition in 0..task.partitions() {
        let witness = witness_of(shape, task.circuit(partition)).unwrap();
        let mut straight = SecretScalars::zeros(shape.variables());
        task.witnesses()[partition].write(shape, &mut straight).unwrap();
        assert!(*straight == *witness, "the witness that a job computes is another");
        let full = FullSynthesis::of(task.circuit(partition));
        assert_eq!(witness[..shape.inputs()], full.inputs);
        assert!(witness[shape.inputs()..] == full.aux, "the auxiliary variables of partition {partition} differ");
        assert_eq!(witness[1..shape.inputs()], *task.public_inputs(partition));
        let rows = shape.matrices().rows();
        let mut products = [(); 3].map(|()| vec![Scalar::ZERO; rows]);
        let [a, b, c] = &mut products;
        shape.matrices().mul_into(&witness, a, b, c);
        for (product, full) in products.iter().zip(&full.evaluated) {
            assert_eq!(product.len(), full.len());
            let differs = product.iter().zip(full).position(|(product, full)| product != full);
            assert_eq!(differs, None, "the first row that differs");
        }
        let [a, b, c] = &products;
        let unsatisfied = a.iter().zip(b).zip(c).position(|((a, b), c)| a * b != *c);
        assert_eq!(unsatisfied, None, "the first row with a·b ≠ c");
    }
}

/// The structure does not depend on the witness: the matrices of a circuit without one are those of the task's.
fn expect_structure(task: &Task) -> CircuitShape {
    let shape = task.family().compile().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let of_task = folder.path().join("circuit.pce");
    let made = extract("with a witness", task.circuit(0), &of_task, Origin::UNKNOWN).unwrap();
    assert_eq!(shape.digest(), made.digest);
    shape
}

/// Sectors of a size, sealed anew: all that is made of them.
fn sealed(size: &str, sectors: u64) -> (tempfile::TempDir, Vec<Made>) {
    let folder = tempfile::tempdir().unwrap();
    let size = size.parse().unwrap();
    let proof = RegisteredProof::newest(Family { kind: Kind::Porep, size }).ok();
    let sealing = Sealing { size, proof, prover: prover_id("f01234").unwrap(), sectors, seed: "tests" };
    let made = sealing.write(folder.path(), &|_| ()).unwrap();
    (folder, made)
}

/// The task of what was sealed.
fn task_of(made: &Made) -> Task {
    let vanilla: Vec<Vec<u8>> = made.vanilla.iter().map(|file| std::fs::read(file).unwrap()).collect();
    let files: Vec<(&Path, &[u8])> =
        made.vanilla.iter().zip(&vanilla).map(|(file, bytes)| (&**file, &bytes[..])).collect();
    match &made.statement {
        Statement::Seal(seal) => read_c1(files[0].0, files[0].1, (seal.prover, seal.sector)).unwrap().1,
        Statement::Post(post) => post.clone().read_vanilla(&files).unwrap(),
        Statement::Update(update) => update.read_vanilla(&files).unwrap(),
    }
}

fn nonzeros(shape: &CircuitShape) -> [usize; 3] {
    let [a, b, c] = shape.matrices().nonzeros();
    // Without the rows that stand for the inputs.
    [a - shape.inputs(), b, c]
}

#[test]
fn window_post_is_the_circuit_that_full_synthesis_evaluates() {
    let task = window();
    let shape = expect_structure(&task);
    assert_eq!((shape.constraints(), shape.inputs(), shape.aux()), (21_866, 23, 22_128));
    assert_eq!(nonzeros(&shape), [150_262, 22_230, 27_456]);
    expect_full_synthesis(&shape, &task);
    // Three other sectors in two partitions, the second of which is filled up with its only one.
    let (_folder, made) = sealed("2KiB", 3);
    let window = made.iter().find(|made| made.statement.family().kind == Kind::Window).unwrap();
    let other = task_of(window);
    assert_eq!((other.partitions(), window.statement.partitions()), (2, 2));
    expect_full_synthesis(&expect_structure(&other), &other);
}

#[test]
fn winning_post_is_the_circuit_that_full_synthesis_evaluates() {
    let task = winning();
    let shape = expect_structure(&task);
    assert_eq!((shape.constraints(), shape.inputs(), shape.aux()), (90_750, 133, 91_674));
    assert_eq!(nonzeros(&shape), [621_852, 92_070, 113_652]);
    expect_full_synthesis(&shape, &task);
    let (_folder, made) = sealed("2KiB", 1);
    let winning = made.iter().find(|made| made.statement.family().kind == Kind::Winning).unwrap();
    expect_full_synthesis(&shape, &task_of(winning));
}

#[test]
fn sectors_of_every_shape_of_trees_make_circuits() {
    for size in ["4KiB", "16KiB", "32KiB"] {
        let (_folder, made) = sealed(size, 2);
        let window = made.iter().find(|made| made.statement.family().kind == Kind::Window).unwrap();
        let task = task_of(window);
        expect_full_synthesis(&expect_structure(&task), &task);
    }
}

/// A production size without a sector of it: the network's code accepts the made-up vanilla proof.
#[test]
fn winning_post_of_32_gib_is_made_of_random_nodes_beside_its_paths() {
    let task = fabricated("StackedDrgWinning32GiBV1", Kind::Winning, 1);
    let shape = expect_structure(&task);
    assert_eq!((task.partitions(), shape.inputs(), shape.domain().size()), (1, 133, 1 << 19));
    expect_full_synthesis(&shape, &task);
}

fn fabricated(name: &str, kind: Kind, sectors: u64) -> Task {
    let folder = tempfile::tempdir().unwrap();
    let proof = RegisteredProof::named(kind, name).unwrap();
    let making = Fabricating { proof, prover: prover_id("f01234").unwrap(), sectors, seed: "tests" };
    task_of(&making.write(folder.path()).unwrap())
}

#[test]
fn vanilla_proofs_can_be_made_up_for_every_size() {
    for size in SectorSize::ALL {
        let winning = RegisteredProof::newest(Family { kind: Kind::Winning, size }).unwrap();
        assert_eq!(fabricated(&winning.to_string(), Kind::Winning, 1).partitions(), 1);
        let window = RegisteredProof::newest(Family { kind: Kind::Window, size }).unwrap();
        if size.bytes() < 1 << 35 {
            assert_eq!(fabricated(&window.to_string(), Kind::Window, 3).partitions(), 2);
        }
    }
    let proof = RegisteredProof::named(Kind::Winning, "StackedDrgWinning2KiBV1").unwrap();
    let making = Fabricating { proof, prover: [0; 32], sectors: 2, seed: "tests" };
    assert!(refused(making.write(Path::new("nowhere")).map(drop), Class::BadInput).contains("not for 2 of winning"));
}

/// The rules differ in how challenges are drawn; the circuit is the same.
#[test]
fn sectors_of_all_rules_make_the_same_circuit() {
    for (name, partitions) in [
        ("StackedDrg2KiBV1", 1),
        ("StackedDrg2KiBV1_1_Feat_SyntheticPoRep", 1),
        ("StackedDrg2KiBV1_2_Feat_NonInteractivePoRep", 13),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let proof = RegisteredProof::named(Kind::Porep, name).unwrap();
        let size = proof.family().size;
        let sealing =
            Sealing { size, proof: Some(proof), prover: prover_id("f01234").unwrap(), sectors: 1, seed: "tests" };
        let made = sealing.write(folder.path(), &|_| ()).unwrap();
        let seal = made.iter().find(|made| made.statement.family().kind == Kind::Porep).unwrap();
        let task = task_of(seal);
        assert_eq!((task.partitions(), seal.statement.partitions()), (partitions, partitions), "{name}");
        let last = task.circuit(partitions - 1);
        let full = FullSynthesis::of(last);
        assert_eq!(full.inputs[1..], *task.public_inputs(partitions - 1));
        let [a, b, c] = &full.evaluated;
        assert_eq!(a.len(), 2_687_921 + 40);
        assert!(a.iter().zip(b).zip(c).all(|((a, b), c)| a * b == *c), "{name}");
    }
}

#[test]
fn proofs_of_replication_and_updates_are_the_circuits_that_full_synthesis_evaluates() {
    let prover = prover_id("t01000").unwrap();
    let (claimed, task) = read_c1(&file(C1), &bytes(C1), (prover, 1)).unwrap();
    assert_eq!(Statement::Seal(claimed), statement(Kind::Porep, "porep-2k-sector1.meta.json"));
    let shape = expect_structure(&task);
    assert_eq!((shape.constraints(), shape.inputs(), shape.aux()), (2_687_921, 40, 2_685_673));
    assert_eq!(nonzeros(&shape), [6_420_965, 2_689_006, 5_824_682]);
    let (bytes_used, all) = (shape.matrices().bytes(), shape.matrices().nonzeros().iter().sum::<usize>());
    assert!(2 * bytes_used <= 9 * all, "{bytes_used} bytes for {all} non-zeros");
    expect_full_synthesis(&shape, &task);
    let (_folder, made) = sealed("2KiB", 1);
    let of = |kind| task_of(made.iter().find(|made| made.statement.family().kind == kind).unwrap());
    expect_full_synthesis(&shape, &of(Kind::Porep));
    let name = "update-2k-sector1.vanilla0.bincode";
    let task = update().read_vanilla(&[(&file(name), &bytes(name))]).unwrap();
    let shape = expect_structure(&task);
    assert_eq!((shape.constraints(), shape.inputs(), shape.aux()), (1_705_039, 5, 1_703_569));
    // One coefficient of A is an explicit zero, which does not count.
    assert_eq!(nonzeros(&shape), [4_030_887, 1_706_537, 3_616_648]);
    expect_full_synthesis(&shape, &task);
    expect_full_synthesis(&shape, &of(Kind::Update));
}

/// The message of an error of a class.
fn refused<T>(result: Result<T, Error>, class: Class) -> String {
    match result {
        Ok(_) => panic!("it was not refused"),
        Err(error) => {
            assert_eq!(error.class(), class, "{error}");
            error.to_string()
        }
    }
}
