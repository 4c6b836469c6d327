//! Keys that bellperson and arkworks made: read, and used for the same proofs.

use std::fs::File;
use std::io::BufWriter;
use std::sync::Arc;

use bellperson::groth16::generate_random_parameters;
use blstrs::{Bls12, Scalar};
use proofline_e2e::arkworks;
use proofline_e2e::circuits::{EmptyB, ExplicitZeros, LateInputs, NothingPublic};
use proofline_e2e::comparison::compare_with_key;
use proofline_stages::CircuitShape;
use proofline_stages::params::{PARAMS_FILE, Parameters};
use proofline_stages::progress::unwatched;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn x() -> Scalar {
    Scalar::from(0xf00d)
}

/// Lets bellperson make a key and write it, and compares the proofs made with what is read of it.
fn with_bellpersons_key<C>(name: &str, blank: C, circuit: C, public: &[Scalar])
where
    C: bellpepper_core::Circuit<Scalar> + Clone + Send,
{
    let shape = Arc::new(CircuitShape::from_circuit(name, blank.clone()).unwrap());
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let theirs = generate_random_parameters::<Bls12, _, _>(blank, &mut rng).unwrap();
    let folder = tempfile::tempdir().unwrap();
    theirs.write(BufWriter::new(File::create(folder.path().join(PARAMS_FILE)).unwrap())).unwrap();
    let read = Parameters::read(folder.path(), &unwatched).unwrap();
    compare_with_key(name, &shape, &read, circuit, public);
}

#[test]
fn bellpersons_keys() {
    with_bellpersons_key("nothing public", NothingPublic::default(), NothingPublic { x: Some(x()) }, &[]);
    with_bellpersons_key("empty B", EmptyB::default(), EmptyB { x: Some(x()) }, &[x()]);
    let (blank, circuit) = (LateInputs { x: None, powers: 4 }, LateInputs { x: Some(x()), powers: 4 });
    with_bellpersons_key("late inputs", blank, circuit, &LateInputs::public(x(), 4));
    let circuit = ExplicitZeros { factors: Some((x(), x())) };
    with_bellpersons_key("explicit zeros", ExplicitZeros::default(), circuit, &[x() * x()]);
}

#[test]
fn arkworks_keys() {
    let (blank, circuit) = (LateInputs { x: None, powers: 4 }, LateInputs { x: Some(x()), powers: 4 });
    let shape = Arc::new(CircuitShape::from_circuit("late inputs", blank).unwrap());
    let key = arkworks::setup(&shape, 3);
    compare_with_key("late inputs", &shape, &key, circuit, &LateInputs::public(x(), 4));
}
