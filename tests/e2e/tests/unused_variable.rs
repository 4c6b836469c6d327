//! A variable that no constraint mentions. bellperson makes no key for such a circuit; arkworks and this project do,
//! with the point at infinity in L.

use std::sync::Arc;

use bellperson::groth16::generate_random_parameters;
use blstrs::{Bls12, Scalar};
use group::prime::PrimeCurveAffine;
use proofline_e2e::circuits::UnusedVariable;
use proofline_e2e::{arkworks, comparison};
use proofline_stages::CircuitShape;
use proofline_stages::params::setup::{Entropy, generate};
use proofline_stages::params::{Parameters, ProvingKey};
use proofline_stages::progress::unwatched;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The position of `w` among the auxiliary variables x, w, y.
const W: usize = 1;

fn shape() -> Arc<CircuitShape> {
    Arc::new(CircuitShape::from_circuit("unused", UnusedVariable::default()).unwrap())
}

#[test]
fn bellperson_refuses_it_at_setup() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let refusal = generate_random_parameters::<Bls12, _, _>(UnusedVariable::default(), &mut rng).err().unwrap();
    assert!(matches!(refusal, bellpepper_core::SynthesisError::UnconstrainedVariable), "{refusal}");
}

#[test]
fn the_circuit_knows_it() {
    let shape = shape();
    assert_eq!(shape.unused(), [shape.inputs() + W]);
}

/// With a key of ours and with one of arkworks' own: the same point of L is at infinity, the proofs are arkworks'
/// byte for byte, and arkworks accepts them.
#[test]
fn arkworks_and_this_project_agree_on_it() {
    let shape = shape();
    let ours = generate(&shape, &Entropy::Seed("unused"), &unwatched).unwrap();
    let theirs = arkworks::setup(&shape, 7);
    for (whose, parameters) in [("ours", ours), ("arkworks'", theirs)] {
        let at_infinity: Vec<bool> = parameters.l.iter().map(|point| point.is_identity().into()).collect();
        assert_eq!(at_infinity, [false, true, false], "{whose}");

        let folder = tempfile::tempdir().unwrap();
        parameters.write(folder.path()).unwrap();
        assert_eq!(Parameters::read(folder.path(), &unwatched).unwrap(), parameters, "{whose}: the file");

        let (x, y) = (Scalar::from(11), Scalar::from(13));
        let circuit = UnusedVariable { factors: Some((x, y)) };
        let values = comparison::witness(&shape, circuit);
        let (r, s) = comparison::blinding(whose);
        let key = Arc::new(ProvingKey::new(parameters.clone()));
        let proof = comparison::prove(&shape, &key, &values, r, s);
        let ark_key = arkworks::key(&shape, &parameters);
        assert_eq!(proof, arkworks::prove(&ark_key, &shape, &values, r, s), "{whose}: arkworks' proof");
        assert!(arkworks::accepts(&ark_key.vk, &proof, &[x * y]), "{whose}");
        assert!(!arkworks::accepts(&ark_key.vk, &proof, &[x + y]), "{whose}");
    }
}
