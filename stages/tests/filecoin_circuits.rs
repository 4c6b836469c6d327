//! Filecoin's circuits held against full synthesis, and what is refused before there is one.

use std::path::{Path, PathBuf};

use bellpepper_core::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field;
use serde_json::Value;

use proofline_stages::circuits::filecoin::*;
use proofline_stages::circuits::witness_of;
use proofline_stages::secret::SecretScalars;
use proofline_stages::{CircuitShape, Class, Error};

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

/// Full synthesis, as bellperson does it: it is extensible and evaluates every sum.
#[derive(Default)]
struct FullSynthesis {
    inputs: Vec<Scalar>,
    aux: Vec<Scalar>,
    evaluated: [Vec<Scalar>; 3],
}

impl FullSynthesis {
    fn value(&self, sum: &LinearCombination<Scalar>) -> Scalar {
        let value = |variable: Variable| match variable.get_unchecked() {
            Index::Input(index) => self.inputs[index],
            Index::Aux(index) => self.aux[index],
        };
        sum.iter().map(|(variable, coefficient)| value(variable) * coefficient).sum()
    }

    /// Of a circuit, with the rows that bellperson appends.
    fn of(circuit: impl Circuit<Scalar>) -> Self {
        let mut cs = Self::default();
        cs.alloc_input(|| "", || Ok(Scalar::ONE)).unwrap();
        circuit.synthesize(&mut cs).unwrap();
        for input in 0..cs.inputs.len() {
            let input = Variable::new_unchecked(Index::Input(input));
            cs.enforce(|| "", |sum| sum + input, |sum| sum, |sum| sum);
        }
        cs
    }
}

impl ConstraintSystem<Scalar> for FullSynthesis {
    type Root = Self;

    fn new() -> Self {
        Self::default()
    }

    fn is_extensible() -> bool {
        true
    }

    fn extend(&mut self, other: &Self) {
        // The first input of the other is its own ONE.
        self.inputs.extend(&other.inputs[1..]);
        self.aux.extend(&other.aux);
        self.evaluated.iter_mut().zip(&other.evaluated).for_each(|(to, from)| to.extend(from));
    }

    fn alloc<F, A, AR>(&mut self, _: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.aux.push(f()?);
        Ok(Variable::new_unchecked(Index::Aux(self.aux.len() - 1)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.inputs.push(f()?);
        Ok(Variable::new_unchecked(Index::Input(self.inputs.len() - 1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        let sums = [a(LinearCombination::zero()), b(LinearCombination::zero()), c(LinearCombination::zero())];
        let values = sums.map(|sum| self.value(&sum));
        self.evaluated.iter_mut().zip(values).for_each(|(to, value)| to.push(value));
    }

    fn push_namespace<NR, N>(&mut self, _: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
    }

    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self::Root {
        self
    }
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
    let of_task = CircuitShape::from_circuit("with a witness", task.circuit(0)).unwrap();
    assert_eq!(shape.digest(), of_task.digest());
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

#[test]
fn another_sectors_c1_output_is_refused() {
    let json = bytes(C1);
    let miner = prover_id("f01000").unwrap();
    let read = |json: &[u8], miner, sector| read_c1(Path::new("c1.json"), json, (miner, sector)).map(drop);
    read(&json, miner, 1).unwrap();
    assert!(refused(read(&json, miner, 2), Class::Mismatch).contains("is not of sector 2 of this miner"));
    let other = prover_id("f01001").unwrap();
    assert!(refused(read(&json, other, 1), Class::Mismatch).contains("--miner"));
    // Another ticket, commitment or identity gives another replica; another seed other challenges.
    let changed = |field: &str, change: fn(&mut Value)| {
        let mut value: Value = serde_json::from_slice(&json).unwrap();
        change(&mut value[field]);
        serde_json::to_vec(&value).unwrap()
    };
    let first_byte = |value: &mut Value| value[0] = Value::from(value[0].as_u64().unwrap() ^ 1);
    for field in ["ticket", "comm_d", "replica_id"] {
        let error = refused(read(&changed(field, first_byte), miner, 1), Class::Mismatch);
        assert!(error.contains("the replica's identity"), "{field}: {error}");
    }
    for field in ["seed", "comm_r"] {
        let error = refused(read(&changed(field, first_byte), miner, 1), Class::Mismatch);
        assert!(error.contains("do not answer the challenges"), "{field}: {error}");
    }
    let zero = |value: &mut Value| *value = Value::from(vec![0; 32]);
    assert!(refused(read(&changed("seed", zero), miner, 1), Class::BadInput).contains("the seed is zero"));
    let above = |value: &mut Value| *value = Value::from(vec![255; 32]);
    assert!(refused(read(&changed("comm_r", above), miner, 1), Class::BadInput).contains("below the field's prime"));
    // Another version of the rules has another number, which the replica depends on.
    let name = |value: &mut Value| *value = Value::from("StackedDrg2KiBV1");
    refused(read(&changed("registered_proof", name), miner, 1), Class::Mismatch);
    let name = |value: &mut Value| *value = Value::from("StackedDrg8MiBV1_1");
    assert!(
        refused(read(&changed("registered_proof", name), miner, 1), Class::BadInput).contains("`StackedDrg2KiBV1`")
    );
    let name = |value: &mut Value| *value = Value::from("StackedDrg2KiBV9");
    assert!(
        refused(read(&changed("registered_proof", name), miner, 1), Class::BadInput).contains("`StackedDrg2KiBV9`")
    );
    let twice = |value: &mut Value| {
        let partitions = value["StackedDrg2KiBV1"].as_array_mut().unwrap();
        partitions.push(partitions[0].clone());
    };
    let error = refused(read(&changed("vanilla_proofs", twice), miner, 1), Class::BadInput);
    assert!(error.contains("has 2 partitions") && error.contains("has 1"), "{error}");
    for none in [
        |value: &mut Value| value["StackedDrg2KiBV1"] = Value::Array(Vec::new()),
        |value: &mut Value| value["StackedDrg2KiBV1"][0] = Value::Array(Vec::new()),
        |value: &mut Value| *value = Value::Object(serde_json::Map::new()),
    ] {
        refused(read(&changed("vanilla_proofs", none), miner, 1), Class::BadInput);
    }
    let fewer = |value: &mut Value| drop(value["StackedDrg2KiBV1"][0].as_array_mut().unwrap().pop());
    refused(read(&changed("vanilla_proofs", fewer), miner, 1), Class::Mismatch);
    // Cut off anywhere: the place is named.
    for length in [0, 1, json.len() / 3, json.len() - 1] {
        assert!(refused(read(&json[..length], miner, 1), Class::BadInput).contains("cut off"), "{length}");
    }
}

#[test]
fn the_wrapper_of_curio_and_lotus_is_unwrapped_and_held_against_its_contents() {
    use base64::Engine;
    let miner = prover_id("f01000").unwrap();
    let inner = base64::engine::general_purpose::STANDARD.encode(bytes(C1));
    let wrapped = |sector: u64, inner: &str, size: u64| {
        let value = serde_json::json!({"SectorNum": sector, "Phase1Out": inner, "SectorSize": size});
        let json = serde_json::to_vec(&value).unwrap();
        read_c1(Path::new("c1.json"), &json, (miner, 1)).map(|(statement, task)| (statement.sector, task.partitions()))
    };
    assert_eq!(wrapped(1, &inner, 2048).unwrap(), (1, 1));
    assert!(refused(wrapped(2, &inner, 2048), Class::Mismatch).contains("is of sector 2 (`SectorNum`)"));
    assert!(refused(wrapped(1, &inner, 4096), Class::BadInput).contains("`SectorSize` is 4096"));
    assert!(refused(wrapped(1, &inner[..inner.len() - 1], 2048), Class::BadInput).contains("no Base64"));
    assert!(refused(wrapped(1, &inner[..4000], 2048), Class::BadInput).contains("cut off"));
    assert!(refused(wrapped(1, "", 2048), Class::BadInput).contains("cut off"));
}

#[test]
fn other_vanilla_proofs_of_spacetime_are_refused() {
    let window = || post(Kind::Window, "window-2k.meta.json");
    let [one, two] = WINDOW.map(|name| (name, bytes(name)));
    // The order of the files is nobody's business.
    read(&mut window(), &[two.clone(), one.clone()]).unwrap();
    let try_window = |files: &[_]| read(&mut window(), files).map(drop);
    assert!(refused(try_window(&[]), Class::Mismatch).contains("no vanilla proof is given"));
    assert!(refused(try_window(std::slice::from_ref(&one)), Class::Mismatch).contains("of the sectors 1, and"));
    refused(try_window(&[one.clone(), one.clone()]), Class::Mismatch);
    refused(try_window(&[one.clone(), two.clone(), two.clone()]), Class::Mismatch);
    let mut statement = window();
    statement.sectors.clear();
    let error = refused(read(&mut statement, &[one.clone(), one.clone()]).map(drop), Class::Mismatch);
    assert!(error.contains("sector 1 is given twice"), "{error}");
    // What is claimed is another thing than what the files prove.
    let changed = |change: fn(&mut PostStatement)| {
        let mut statement = window();
        change(&mut statement);
        read(&mut statement, &[one.clone(), two.clone()]).map(drop)
    };
    let error = refused(changed(|statement| statement.randomness[0] ^= 1), Class::Mismatch);
    assert!(error.contains("challenges of this randomness"), "{error}");
    let error = refused(changed(|statement| statement.randomness[31] = 0xff), Class::BadInput);
    assert!(error.contains("the randomness") && error.contains("below the field's prime"), "{error}");
    let error = refused(changed(|statement| statement.sectors[1].1[0] ^= 1), Class::Mismatch);
    assert!(error.contains("sector 2 is of another comm_r"), "{error}");
    refused(changed(|statement| statement.sectors[1].0 = 3), Class::Mismatch);
    // The older rules draw the second sector's challenges otherwise; sectors of another size are another circuit.
    let older = |statement: &mut PostStatement| {
        statement.proof = RegisteredProof::named(Kind::Window, "StackedDrgWindow2KiBV1").unwrap();
    };
    refused(changed(older), Class::Mismatch);
    for name in ["StackedDrgWindow8MiBV1_2", "StackedDrgWindow4KiBV1_2", "StackedDrgWindow32KiBV1_2"] {
        let mut statement = window();
        statement.proof = RegisteredProof::named(Kind::Window, name).unwrap();
        assert!(read(&mut statement, &[one.clone(), two.clone()]).is_err(), "{name}");
    }
    let winning = |files: &[(&str, Vec<u8>)]| read(&mut post(Kind::Winning, "winning-2k.meta.json"), files).map(drop);
    winning(&[(WINNING, bytes(WINNING))]).unwrap();
    refused(winning(std::slice::from_ref(&one)), Class::Mismatch);
    refused(winning(&[(WINNING, bytes(WINNING)), two]), Class::Mismatch);
    let mut statement = post(Kind::Winning, "winning-2k.meta.json");
    statement.sectors.push((2, [1; 32]));
    refused(read(&mut statement, &[(WINNING, bytes(WINNING)), one]).map(drop), Class::Mismatch);
}

#[test]
fn other_vanilla_proofs_of_an_update_are_refused() {
    let name = "update-2k-sector1.vanilla0.bincode";
    let (path, good) = (file(name), bytes(name));
    let read = |statement: &UpdateStatement, files: &[&[u8]]| {
        let files: Vec<(&Path, &[u8])> = files.iter().map(|bytes| (&*path, *bytes)).collect();
        statement.read_vanilla(&files).map(drop)
    };
    read(&update(), &[&good]).unwrap();
    assert!(refused(read(&update(), &[]), Class::Mismatch).contains("0 vanilla proofs are given"));
    assert!(refused(read(&update(), &[&good, &good]), Class::Mismatch).contains("has 1 partitions"));
    for change in [
        |statement: &mut UpdateStatement| statement.comm_r_old[0] ^= 1,
        |statement: &mut UpdateStatement| statement.comm_r_new[0] ^= 1,
        |statement: &mut UpdateStatement| statement.comm_d_new[0] ^= 1,
    ] {
        let mut statement = update();
        change(&mut statement);
        assert!(refused(read(&statement, &[&good]), Class::Mismatch).contains("not of an update from this comm_r_old"));
    }
    let mut statement = update();
    statement.comm_r_new = [0; 32];
    assert!(refused(read(&statement, &[&good]), Class::BadInput).contains("comm_r_new is zero"));
}

/// Files that were cut, lengthened or changed are refused with their names; nothing panics, and nothing is reserved that the
/// file does not hold.
#[test]
fn damaged_vanilla_proofs_are_refused() {
    let window = |bytes: &[u8]| {
        let mut statement = post(Kind::Window, "window-2k.meta.json");
        statement.sectors.truncate(1);
        read(&mut statement, &[(WINDOW[0], bytes.to_vec())]).map(drop)
    };
    let good = bytes(WINDOW[0]);
    window(&good).unwrap();
    let longer = [&good[..], &[0]].concat();
    assert!(refused(window(&longer), Class::BadInput).contains("1 bytes follow the end"));
    for length in (0..good.len()).step_by(97).chain([good.len() - 1]) {
        let error = refused(window(&good[..length]), Class::BadInput);
        assert!(error.contains(WINDOW[0]) && error.contains("ends too early"), "{error}");
    }
    // A few hundred bytes of all places; each is part of the proof.
    for at in (0..good.len()).step_by(13) {
        let mut changed = good.clone();
        changed[at] ^= 0x40;
        assert!(window(&changed).is_err(), "byte {at} can be changed");
    }
    let name = "update-2k-sector1.vanilla0.bincode";
    let (path, good) = (file(name), bytes(name));
    for at in (0..good.len()).step_by(61) {
        let mut changed = good.clone();
        changed[at] ^= 0x40;
        assert!(update().read_vanilla(&[(&path, &changed)]).is_err(), "byte {at} can be changed");
        assert!(update().read_vanilla(&[(&path, &good[..at])]).is_err(), "{at} bytes are enough");
    }
}

#[test]
fn statements_are_read_back_and_refused_with_the_field() {
    for (kind, name) in [
        (Kind::Porep, "porep-2k-sector1.meta.json"),
        (Kind::Winning, "winning-2k.meta.json"),
        (Kind::Window, "window-2k.meta.json"),
        (Kind::Update, "update-2k-sector1.meta.json"),
    ] {
        let statement = statement(kind, name);
        let json = statement.to_json();
        let fields = json.as_object().unwrap();
        assert_eq!(Statement::from_json(kind, fields).unwrap(), statement);
        for field in fields.keys().filter(|field| *field != "sectors") {
            let mut fewer = fields.clone();
            fewer.remove(field);
            assert!(refused(Statement::from_json(kind, &fewer), Class::BadInput).contains(&format!("`{field}`")));
            let mut wrong = fields.clone();
            wrong.insert(field.clone(), Value::Bool(true));
            assert!(refused(Statement::from_json(kind, &wrong), Class::BadInput).contains(&format!("`{field}`")));
        }
        let mut more = fields.clone();
        more.insert("comm_x".to_owned(), Value::from(1));
        assert!(refused(Statement::from_json(kind, &more), Class::BadInput).contains("`comm_x`"));
    }
}

#[test]
fn sectors_that_are_too_large_are_not_sealed() {
    let folder = tempfile::tempdir().unwrap();
    let sealing = Sealing { size: "32GiB".parse().unwrap(), proof: None, prover: [0; 32], sectors: 1, seed: "tests" };
    let error = refused(sealing.write(folder.path(), &|_| ()).map(drop), Class::BadInput);
    assert!(error.contains("512MiB is the largest"), "{error}");
}
