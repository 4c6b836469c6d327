//! What a job refuses, and what it says.

use std::path::Path;
use std::sync::Arc;

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use ff::Field;
use proofline_stages::circuits::{Builtin, witness_of};
use proofline_stages::error::Class;
use proofline_stages::params::setup::{Entropy, generate};
use proofline_stages::params::{Parameters, ProvingKey};
use proofline_stages::progress::unwatched;
use proofline_stages::{CircuitShape, Error, Job, WitnessSource, sequence};

/// x₀·x₀ = factor·x₁, x₁·x₁ = factor·x₂, …; the last is public, and the values are whatever the caller says.
#[derive(Clone)]
struct Chain {
    values: Vec<Option<Scalar>>,
    factor: Scalar,
}

impl Chain {
    fn blank(rows: usize) -> Self {
        Self { values: vec![None; rows + 1], factor: Scalar::ONE }
    }

    fn of(values: &[Scalar]) -> Self {
        Self { values: values.iter().copied().map(Some).collect(), factor: Scalar::ONE }
    }
}

impl Circuit<Scalar> for Chain {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let rows = self.values.len() - 1;
        let mut last = None;
        for (i, value) in self.values.into_iter().enumerate() {
            let value = || value.ok_or(SynthesisError::AssignmentMissing);
            let name = || format!("x{i}");
            let next = if i == rows { cs.alloc_input(name, value)? } else { cs.alloc(name, value)? };
            if let Some(last) = last {
                cs.enforce(|| format!("row {i}"), |lc| lc + last, |lc| lc + last, |lc| lc + (self.factor, next));
            }
            last = Some(next);
        }
        Ok(())
    }
}

const ROWS: usize = 6;

fn right() -> Vec<Scalar> {
    std::iter::successors(Some(Scalar::from(3)), |x| Some(x.square())).take(ROWS + 1).collect()
}

fn shape(rows: usize) -> Arc<CircuitShape> {
    Arc::new(CircuitShape::from_circuit(&format!("chain of {rows}"), Chain::blank(rows)).unwrap())
}

fn parameters(shape: &CircuitShape) -> Parameters {
    generate(shape, &Entropy::Seed("test"), &unwatched).unwrap()
}

fn key(shape: &CircuitShape) -> Arc<ProvingKey> {
    Arc::new(ProvingKey::new(parameters(shape)))
}

fn source(values: &[Scalar]) -> WitnessSource {
    WitnessSource::circuit(vec![values[values.len() - 1]], Chain::of(values))
}

fn job(shape: &Arc<CircuitShape>, source: WitnessSource) -> Job {
    Job::new(Arc::clone(shape), key(shape), vec![source]).unwrap()
}

fn says(error: &Error, class: Class, words: &[&str]) {
    let text = error.to_string();
    assert_eq!(error.class(), class, "{text}");
    words.iter().for_each(|word| assert!(text.contains(word), "{text:?} should say {word:?}"));
}

#[test]
fn a_right_witness_is_proved_from_every_kind_of_source() {
    let shape = shape(ROWS);
    let values = witness_of(&shape, Chain::of(&right())).unwrap().to_vec();
    let same = values.clone();
    let computed = WitnessSource::computed(move |places| {
        places.copy_from_slice(&same);
        Ok(())
    });
    assert_eq!(computed.public_inputs().get(), None, "it tells them when it has computed them");
    for source in [source(&right()), WitnessSource::values(&shape, values).unwrap(), computed] {
        let job = job(&shape, source);
        let proof = sequence::prove(&job, 0).unwrap();
        let points = proofline_stages::verify::ProofPoints::parse(&proof.bytes).unwrap();
        assert!(job.key().prepared().verify(&points, job.public_inputs(0).get().unwrap()).unwrap());
    }
}

/// Nothing but ONE: a domain of one point, and queries without any.
#[test]
fn a_circuit_of_nothing() {
    #[derive(Clone)]
    struct Nothing;
    impl Circuit<Scalar> for Nothing {
        fn synthesize<CS: ConstraintSystem<Scalar>>(self, _: &mut CS) -> Result<(), SynthesisError> {
            Ok(())
        }
    }
    let shape = Arc::new(CircuitShape::from_circuit("nothing", Nothing).unwrap());
    assert_eq!((shape.domain().size(), shape.variables(), shape.constraints()), (1, 1, 0));
    let proof = sequence::prove(&job(&shape, WitnessSource::circuit(vec![], Nothing)), 0).unwrap();
    assert!(proofline_stages::verify::ProofPoints::parse(&proof.bytes).is_ok());
}

#[test]
fn two_proofs_of_one_witness_differ() {
    let shape = shape(ROWS);
    let job = Job::new(Arc::clone(&shape), key(&shape), vec![source(&right()), source(&right())]).unwrap();
    assert_ne!(sequence::prove(&job, 0).unwrap(), sequence::prove(&job, 1).unwrap());
}

#[test]
fn the_first_unsatisfied_row_is_named() {
    let shape = shape(ROWS);
    for row in 0..ROWS {
        let mut values = right();
        // Changes the result of this row and the ones behind it stay wrong or become so.
        values[row + 1] += Scalar::ONE;
        let error = sequence::prove(&job(&shape, source(&values)), 0).unwrap_err();
        says(&error, Class::Unsatisfied, &[&format!("constraint {row} (counted from 0)"), "chain of 6"]);
    }
}

#[test]
fn a_witness_of_another_circuit() {
    let (six, seven) = (shape(ROWS), shape(ROWS + 1));
    let error = sequence::prove(&job(&seven, source(&right())), 0).unwrap_err();
    says(&error, Class::Mismatch, &["made 2 inputs and 6 auxiliary", "has 2 and 7"]);
    let values = witness_of(&six, Chain::of(&right())).unwrap().to_vec();
    let error = WitnessSource::values(&seven, values).err().unwrap();
    says(&error, Class::Mismatch, &["has 8 values", "has 9 variables"]);
}

#[test]
fn a_public_input_that_is_not_the_witness_s() {
    let shape = shape(ROWS);
    let source = WitnessSource::circuit(vec![Scalar::from(4)], Chain::of(&right()));
    says(&sequence::prove(&job(&shape, source), 0).unwrap_err(), Class::Mismatch, &["public input 0"]);
    let source = WitnessSource::circuit(vec![], Chain::of(&right()));
    let error = Job::new(Arc::clone(&shape), key(&shape), vec![source]).unwrap_err();
    says(&error, Class::Mismatch, &["0 public inputs are given", "has 1"]);
}

#[test]
fn a_key_of_another_shape_is_refused_with_both_numbers() {
    let (six, ninety) = (shape(ROWS), shape(90));
    let error = Job::new(Arc::clone(&six), key(&ninety), vec![source(&right())]).unwrap_err();
    says(&error, Class::Mismatch, &["chain of 6", "points in the domain", "has 128", "circuit 8"]);
}

#[test]
fn a_key_of_another_circuit_of_the_same_shape_is_found_by_the_verification() {
    let other = CircuitShape::from_circuit("doubled", Chain { factor: Scalar::from(2), ..Chain::blank(ROWS) }).unwrap();
    let shape = shape(ROWS);
    let job = Job::new(Arc::clone(&shape), key(&other), vec![source(&right())]).unwrap();
    says(&sequence::prove(&job, 0).unwrap_err(), Class::Mismatch, &["does not verify", "withheld", "chain of 6"]);
}

#[test]
fn a_job_without_witnesses() {
    let shape = shape(ROWS);
    says(&Job::new(Arc::clone(&shape), key(&shape), vec![]).unwrap_err(), Class::Mismatch, &["not 0"]);
}

#[test]
fn names_of_built_in_circuits() {
    for name in ["sha256", "sha256:", "sha256:0", "sha256:-1", "sha256:65537", "sha256:99999999999999999999", "md5:1"] {
        says(&name.parse::<Builtin>().unwrap_err(), Class::BadInput, &[name, "sha256:"]);
    }
    assert_eq!("sha256:4".parse::<Builtin>().unwrap().to_string(), "sha256:4");
}

#[test]
fn fresh_witnesses_differ_and_are_satisfied() {
    let shape = Arc::new(CircuitShape::from_builtin("sha256:1").unwrap());
    let builtin = shape.builtin().unwrap();
    let (one, two) = (builtin.fresh_witness(), builtin.fresh_witness());
    assert_ne!(one.public_inputs().get(), two.public_inputs().get());
    assert_eq!(one.public_inputs().get().map(<[Scalar]>::len), Some(2));
    sequence::prove(&Job::new(Arc::clone(&shape), key(&shape), vec![one]).unwrap(), 0).unwrap();
}

#[test]
fn a_circom_witness_that_is_wrong_in_one_value() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/circom");
    let shape = Arc::new(CircuitShape::from_r1cs(&data.join("poseidon_m7.r1cs")).unwrap());
    assert_eq!(shape.name(), "poseidon_m7");
    let mut values = proofline_stages::circuits::read_wtns(&data.join("poseidon_m7.wtns")).unwrap();
    values[100] += Scalar::ONE;
    let job = job(&shape, WitnessSource::values(&shape, values).unwrap());
    says(&sequence::prove(&job, 0).unwrap_err(), Class::Unsatisfied, &["poseidon_m7", "constraint"]);
}
