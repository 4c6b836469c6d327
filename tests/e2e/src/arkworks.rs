//! ark-groth16, as prover and as verifier. Points and scalars cross over in their byte encodings.

use ark_bls12_381::{Bls12_381, Fr, G1Affine, G2Affine};
use ark_ff::PrimeField as _;
use ark_groth16::r1cs_to_qap::LibsnarkReduction;
use ark_groth16::{Groth16, Proof, ProvingKey, VerifyingKey};
use ark_relations::gr1cs::{ConstraintSynthesizer, ConstraintSystemRef, LinearCombination, SynthesisError, Variable};
use ark_serialize::{CanonicalDeserialize, CanonicalSerialize};
use ark_snark::SNARK;
use blstrs::Scalar;
use proofline_stages::CircuitShape;
use proofline_stages::params::{Convention, Parameters};
use proofline_stages::verify::ProofPoints;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;

/// A scalar in arkworks' type.
#[must_use]
pub fn scalar(scalar: &Scalar) -> Fr {
    Fr::from_le_bytes_mod_order(&scalar.to_bytes_le())
}

/// A point of a key in arkworks' type. bellperson has read the same key with its checks, so arkworks need not.
pub fn g1(point: &blstrs::G1Affine) -> G1Affine {
    G1Affine::deserialize_uncompressed_unchecked(&point.to_uncompressed()[..]).unwrap()
}

/// A point of a key in arkworks' type, as [`g1`].
pub fn g2(point: &blstrs::G2Affine) -> G2Affine {
    G2Affine::deserialize_uncompressed_unchecked(&point.to_uncompressed()[..]).unwrap()
}

/// A point in blstrs' type.
#[must_use]
pub fn back_g1(point: &G1Affine) -> blstrs::G1Affine {
    let mut bytes = [0; 48];
    point.serialize_compressed(&mut bytes[..]).unwrap();
    blstrs::G1Affine::from_compressed(&bytes).unwrap()
}

/// A point in blstrs' type.
#[must_use]
pub fn back_g2(point: &G2Affine) -> blstrs::G2Affine {
    let mut bytes = [0; 96];
    point.serialize_compressed(&mut bytes[..]).unwrap();
    blstrs::G2Affine::from_compressed(&bytes).unwrap()
}

/// A key in arkworks' form, whose queries A and B have a point for every variable.
#[must_use]
pub fn key(shape: &CircuitShape, parameters: &Parameters) -> ProvingKey<Bls12_381> {
    let [a, b, _] = shape.matrices().column_densities();
    let spread_g1 = |map: &proofline_kernels::sparse::Bitmap, points: &[blstrs::G1Affine]| {
        let mut points = points.iter();
        let all = (0..map.len()).map(|i| if map.get(i) { g1(points.next().unwrap()) } else { G1Affine::default() });
        all.collect::<Vec<_>>()
    };
    let mut b_g2 = parameters.b_g2.iter();
    ProvingKey {
        vk: verifying_key(parameters),
        beta_g1: g1(&parameters.vk.beta_g1),
        delta_g1: g1(&parameters.vk.delta_g1),
        a_query: spread_g1(&a, &parameters.a),
        b_g1_query: spread_g1(&b, &parameters.b_g1),
        b_g2_query: (0..b.len())
            .map(|i| if b.get(i) { g2(b_g2.next().unwrap()) } else { G2Affine::default() })
            .collect(),
        h_query: parameters.h.iter().map(g1).collect(),
        l_query: parameters.l.iter().map(g1).collect(),
    }
}

/// A verifying key in arkworks' form.
#[must_use]
pub fn verifying_key(parameters: &Parameters) -> VerifyingKey<Bls12_381> {
    let vk = &parameters.vk;
    VerifyingKey {
        alpha_g1: g1(&vk.alpha_g1),
        beta_g2: g2(&vk.beta_g2),
        gamma_g2: g2(&vk.gamma_g2),
        delta_g2: g2(&vk.delta_g2),
        gamma_abc_g1: vk.ic.iter().map(g1).collect(),
    }
}

/// The constraints of a circuit in arkworks' form, without the rows for the inputs, which arkworks adds itself.
#[must_use]
pub fn matrices(shape: &CircuitShape) -> Vec<Vec<Vec<(Fr, usize)>>> {
    let mut matrices = vec![Vec::new(); 3];
    shape.matrices().for_each_row(|row, rows| {
        for (matrix, terms) in matrices.iter_mut().zip(rows).filter(|_| row < shape.constraints()) {
            matrix.push(terms.terms().map(|(column, c)| (scalar(c), column as usize)).collect());
        }
    });
    matrices
}

/// A key that arkworks makes for the circuit, without the points that bellperson's files leave out.
#[must_use]
pub fn setup(shape: &CircuitShape, seed: u64) -> Parameters {
    let constraints = Constraints { matrices: matrices(shape), inputs: shape.inputs(), variables: shape.variables() };
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let key = Groth16::<Bls12_381>::generate_random_parameters_with_reduction(constraints, &mut rng).unwrap();
    let dense_g1 =
        |points: &[G1Affine]| points.iter().filter(|point| **point != G1Affine::default()).map(back_g1).collect();
    Parameters {
        convention: Convention::Coefficients,
        vk: proofline_stages::VerifyingKey {
            alpha_g1: back_g1(&key.vk.alpha_g1),
            beta_g1: back_g1(&key.beta_g1),
            beta_g2: back_g2(&key.vk.beta_g2),
            gamma_g2: back_g2(&key.vk.gamma_g2),
            delta_g1: back_g1(&key.delta_g1),
            delta_g2: back_g2(&key.vk.delta_g2),
            ic: key.vk.gamma_abc_g1.iter().map(back_g1).collect(),
        },
        h: key.h_query.iter().map(back_g1).collect(),
        l: key.l_query.iter().map(back_g1).collect(),
        a: dense_g1(&key.a_query),
        b_g1: dense_g1(&key.b_g1_query),
        b_g2: key.b_g2_query.iter().filter(|point| **point != G2Affine::default()).map(back_g2).collect(),
    }
}

/// Constraints as a circuit of arkworks, for setup: it has no values.
struct Constraints {
    matrices: Vec<Vec<Vec<(Fr, usize)>>>,
    inputs: usize,
    variables: usize,
}

impl ConstraintSynthesizer<Fr> for Constraints {
    fn generate_constraints(self, cs: ConstraintSystemRef<Fr>) -> Result<(), SynthesisError> {
        let none = || Err(SynthesisError::AssignmentMissing);
        let mut variables = vec![Variable::One];
        for index in 1..self.variables {
            let input = index < self.inputs;
            variables.push(if input { cs.new_input_variable(none)? } else { cs.new_witness_variable(none)? });
        }
        let sum = |row: &[(Fr, usize)]| {
            LinearCombination(row.iter().map(|(coefficient, column)| (*coefficient, variables[*column])).collect())
        };
        let [a, b, c] = &self.matrices[..] else { unreachable!("there are three matrices") };
        for ((a, b), c) in a.iter().zip(b).zip(c) {
            cs.enforce_r1cs_constraint(|| sum(a), || sum(b), || sum(c))?;
        }
        Ok(())
    }
}

/// arkworks' proof for all values of a witness.
#[must_use]
pub fn prove(key: &ProvingKey<Bls12_381>, shape: &CircuitShape, witness: &[Scalar], r: Scalar, s: Scalar) -> Vec<u8> {
    let values: Vec<Fr> = witness.iter().map(scalar).collect();
    let proof = Groth16::<Bls12_381, LibsnarkReduction>::create_proof_with_reduction_and_matrices(
        key,
        scalar(&r),
        scalar(&s),
        &matrices(shape),
        shape.inputs(),
        shape.constraints(),
        &values,
    )
    .unwrap();
    ProofPoints { a: back_g1(&proof.a), b: back_g2(&proof.b), c: back_g1(&proof.c) }.to_bytes().to_vec()
}

/// arkworks' verdict; `false` also for bytes that are no proof.
#[must_use]
pub fn accepts(vk: &VerifyingKey<Bls12_381>, proof: &[u8], public: &[Scalar]) -> bool {
    let public: Vec<Fr> = public.iter().map(scalar).collect();
    Proof::<Bls12_381>::deserialize_compressed(proof)
        .is_ok_and(|proof| Groth16::<Bls12_381>::verify(vk, &public, &proof).unwrap())
}
