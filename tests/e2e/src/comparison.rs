//! One circuit, one witness, three provers, three verifiers.

use std::sync::Arc;

use bellpepper_core::Circuit;
use blstrs::Scalar;
use ff::Field;
use proofline::Prover;
use proofline_stages::params::setup::{Entropy, generate};
use proofline_stages::params::{PARAMS_FILE, Parameters, ProvingKey};
use proofline_stages::progress::unwatched;
use proofline_stages::verify::ProofPoints;
use proofline_stages::{CircuitShape, Job, WitnessSource, sequence};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::{arkworks, bellman};

/// r and s that are the same in every run.
#[must_use]
pub fn blinding(name: &str) -> (Scalar, Scalar) {
    let mut rng = ChaCha8Rng::seed_from_u64(name.bytes().fold(7, |sum, byte| sum * 31 % 1_000_003 + u64::from(byte)));
    (Scalar::random(&mut rng), Scalar::random(&mut rng))
}

/// Proves with fixed r and s, the stages one after the other and through the compiled pipeline; both proofs are equal.
#[must_use]
pub fn prove(shape: &Arc<CircuitShape>, key: &Arc<ProvingKey>, values: &[Scalar], r: Scalar, s: Scalar) -> Vec<u8> {
    let source = WitnessSource::values(shape, values.to_vec()).unwrap();
    let job = Job::new(Arc::clone(shape), Arc::clone(key), vec![source]).unwrap().with_blinding_for_tests(0, r, s);
    let in_sequence = sequence::prove(&job, 0).unwrap();
    let through_the_pipeline = Prover::start().unwrap().submit(job).unwrap().wait().unwrap();
    assert_eq!(through_the_pipeline, [in_sequence], "{}: the pipeline's proof", shape.name());
    in_sequence.bytes.to_vec()
}

/// All values of a circuit's witness.
#[must_use]
pub fn witness<C: Circuit<Scalar>>(shape: &CircuitShape, circuit: C) -> Vec<Scalar> {
    proofline_stages::circuits::witness_of(shape, circuit).unwrap().to_vec()
}

/// Holds a circuit's proof against bellperson and arkworks: equal bytes with equal randomness, from a key that
/// bellperson reads with its own checks; accepted by all three verifiers; refused by all three with another public
/// input.
pub fn compare<B, C>(name: &str, blank: B, circuit: C, public: &[Scalar])
where
    B: Circuit<Scalar> + Clone,
    C: Circuit<Scalar> + Clone + Send,
{
    let shape = Arc::new(CircuitShape::from_circuit(name, blank).unwrap());
    let ours = generate(&shape, &Entropy::Seed(name), &unwatched).unwrap();
    compare_with_key(name, &shape, &ours, circuit, public);
}

/// As [`compare`], with a key from elsewhere.
pub fn compare_with_key<C>(name: &str, shape: &Arc<CircuitShape>, ours: &Parameters, circuit: C, public: &[Scalar])
where
    C: Circuit<Scalar> + Clone + Send,
{
    let folder = tempfile::tempdir().unwrap();
    ours.write(folder.path()).unwrap();
    let theirs = bellman::read(&folder.path().join(PARAMS_FILE));
    assert_eq!(&Parameters::read(folder.path(), &unwatched).unwrap(), ours, "{name}: what was written is read");

    let (r, s) = blinding(name);
    let values = witness(shape, circuit.clone());
    assert_eq!(&values[1..shape.inputs()], public, "{name}: the circuit's public inputs");
    let key = Arc::new(ProvingKey::new(ours.clone()));
    let proof = prove(shape, &key, &values, r, s);

    assert_eq!(proof, bellman::prove(&theirs, circuit, r, s), "{name}: bellperson's proof");
    let ark_key = arkworks::key(shape, ours);
    assert_eq!(proof, arkworks::prove(&ark_key, shape, &values, r, s), "{name}: arkworks' proof");

    let verdicts = |public: &[Scalar]| {
        let points = ProofPoints::parse(&proof).unwrap();
        [
            key.prepared().verify(&points, public).unwrap(),
            bellman::accepts(&theirs.vk, &proof, public),
            arkworks::accepts(&ark_key.vk, &proof, public),
        ]
    };
    assert_eq!(verdicts(public), [true; 3], "{name}: the verifiers");
    for index in 0..public.len() {
        let mut other = public.to_vec();
        other[index] += Scalar::ONE;
        assert_eq!(verdicts(&other), [false; 3], "{name}: the verifiers with another public input {index}");
    }
}
