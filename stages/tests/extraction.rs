//! Circuits compiled straight into files: the file is the one that a circuit in memory is written to.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field;
use proofline_stages::circuits::{Builtin, Origin, Sha256Preimage, extract};
use proofline_stages::error::Class;
use proofline_stages::{CircuitShape, Error};

/// All that makes rows awkward: inputs behind constraints, coefficients that are zero or cancel, empty sums, long ones.
#[derive(Clone)]
struct Awkward {
    steps: usize,
}

impl Circuit<Scalar> for Awkward {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let none = || Err(SynthesisError::AssignmentMissing);
        let mut aux: Vec<Variable> = Vec::new();
        for step in 0..self.steps {
            let x = cs.alloc(|| "x", none)?;
            aux.push(x);
            let few = Scalar::from(step as u64 % 300);
            cs.enforce(|| "zero", |lc| lc + (Scalar::ZERO, x) + CS::one(), |lc| lc + x - x, |lc| lc);
            if step % 100 == 0 {
                let y = cs.alloc_input(|| "y", none)?;
                let all = |lc| aux.iter().fold(lc, |lc, x| lc + (few, *x));
                cs.enforce(|| "late", |lc| all(lc) + y, |lc| lc + (-Scalar::ONE, y), |lc| lc + (few, x));
            }
        }
        Ok(())
    }
}

fn origin() -> Origin {
    Origin::of_builtin(Builtin::Sha256 { blocks: 1 })
}

fn expect_same<C: Circuit<Scalar> + Clone>(name: &str, circuit: C) {
    let folder = tempfile::tempdir().unwrap();
    let [whole, streamed] = ["whole", "streamed"].map(|name| folder.path().join(name));
    let shape = CircuitShape::from_circuit(name, circuit.clone()).unwrap();
    shape.write(&whole, origin()).unwrap();
    let made = extract(name, circuit, &streamed, origin()).unwrap();
    assert!(fs::read(&whole).unwrap() == fs::read(&streamed).unwrap(), "{name}: the files differ");
    assert_eq!((made.constraints, made.inputs, made.aux), (shape.constraints(), shape.inputs(), shape.aux()));
    assert_eq!((made.nonzeros, made.digest), (shape.matrices().nonzeros(), shape.digest()));
    assert_eq!(made.bytes, fs::metadata(&streamed).unwrap().len());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no partial file is left");
}

#[test]
fn the_file_is_that_of_a_circuit_in_memory() {
    // Below, at and above the borders of blocks, counted with the rows that stand for inputs.
    for steps in [0, 1, 500, 1012, 1013, 1014, 3000] {
        expect_same(&format!("{steps} steps"), Awkward { steps });
    }
    expect_same("sha256", Sha256Preimage::of_blocks(1));
}

#[test]
fn rows_are_numbered_when_the_inputs_are_known() {
    let shape = CircuitShape::from_circuit("awkward", Awkward { steps: 150 }).unwrap();
    // ONE and two inputs; the last row of the circuit itself names the first auxiliary variable.
    assert_eq!((shape.inputs(), shape.aux(), shape.constraints()), (3, 150, 152));
    let mut rows = Vec::new();
    let row_of =
        |row: [proofline_kernels::sparse::Row<'_>; 3]| row.map(|row| row.terms().map(|t| t.0).collect::<Vec<_>>());
    shape.matrices().for_each_row(|_, row| rows.push(row_of(row)));
    assert_eq!(rows[0], [vec![0], vec![], vec![]]);
    // Step 0 has the coefficient 0.
    assert_eq!(rows[1], [vec![1], vec![1], vec![]]);
    assert_eq!(rows[102], [[&[2][..], &(3..104).collect::<Vec<u32>>()].concat(), vec![2], vec![103]]);
    assert_eq!(rows[152..], [0, 1, 2].map(|input| [vec![input], vec![], vec![]]));
}

/// What becomes of the rows, the auxiliary variables and a coefficient of [`Fickle`].
type Change = fn(&mut usize, &mut usize, &mut Scalar);

/// Another circuit from the second time on that it is synthesised.
#[derive(Clone)]
struct Fickle {
    synthesised: Arc<AtomicUsize>,
    change: Change,
}

impl Circuit<Scalar> for Fickle {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let (mut rows, mut aux, mut factor) = (5, 5, Scalar::from(3));
        if self.synthesised.fetch_add(1, Ordering::Relaxed) > 0 {
            (self.change)(&mut rows, &mut aux, &mut factor);
        }
        for _ in 0..aux {
            cs.alloc(|| "x", || Err(SynthesisError::AssignmentMissing))?;
        }
        for _ in 0..rows {
            cs.enforce(|| "row", |lc| lc + (factor, CS::one()), |lc| lc + CS::one(), |lc| lc);
        }
        Ok(())
    }
}

fn refused<T>(result: Result<T, Error>, says: &str) {
    let error = result.map(drop).unwrap_err();
    assert_eq!(error.class(), Class::Mismatch, "{error}");
    assert!(error.to_string().contains(says), "{error}");
}

#[test]
fn a_circuit_that_is_another_one_the_second_time_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("circuit.pce");
    let changes: [(Change, &str); 5] = [
        (|rows, _, _| *rows += 1, "row 6 is not as it was"),
        (|rows, _, _| *rows -= 1, "is not as it was"),
        (|_, aux, _| *aux += 1, "is not as it was"),
        (|_, _, factor| *factor += Scalar::ONE, "row 0 is not as it was"),
        (|_, _, factor| *factor = Scalar::ZERO, "is not as it was"),
    ];
    for (change, says) in changes {
        let fickle = || Fickle { synthesised: Arc::default(), change };
        refused(CircuitShape::from_circuit("fickle", fickle()), says);
        refused(extract("fickle", fickle(), &file, origin()), says);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
    }
}

#[test]
fn a_circuit_that_names_another_systems_variables_is_refused() {
    #[derive(Clone)]
    struct Stray;
    impl Circuit<Scalar> for Stray {
        fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
            let stray = Variable::new_unchecked(bellpepper_core::Index::Aux(7));
            cs.enforce(|| "row", |lc| lc + stray, |lc| lc, |lc| lc);
            Ok(())
        }
    }
    assert!(matches!(CircuitShape::from_circuit("stray", Stray), Err(Error::Synthesis { .. })));
}

#[test]
fn a_folder_that_is_not_there_is_an_error_of_the_file() {
    let error = extract("awkward", Awkward { steps: 1 }, Path::new("no/such/circuit.pce"), origin()).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
}
