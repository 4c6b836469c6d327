//! With the same key, witness, r and s, a proof has the same bytes as bellperson's and arkworks'.

use std::path::Path;

use blstrs::Scalar;
use proofline_e2e::circuits::{Circom, EmptyB, ExplicitZeros, LateInputs, NothingPublic, OneConstraint, Squarings};
use proofline_e2e::comparison::compare;
use proofline_stages::circuits::{R1cs, Sha256Preimage, read_wtns};
use zeroize::Zeroizing;

fn x() -> Scalar {
    Scalar::from(0x5eed_cafe)
}

#[test]
fn no_public_inputs() {
    compare("nothing public", NothingPublic::default(), NothingPublic { x: Some(x()) }, &[]);
}

#[test]
fn one_constraint() {
    let (x, y) = (x(), Scalar::from(3));
    compare("one constraint", OneConstraint::default(), OneConstraint { factors: Some((x, y)) }, &[x * y]);
}

#[test]
fn a_b_query_of_zero_density() {
    compare("empty B", EmptyB::default(), EmptyB { x: Some(x()) }, &[x()]);
}

#[test]
fn inputs_allocated_after_constraints() {
    let (blank, circuit) = (LateInputs { x: None, powers: 5 }, LateInputs { x: Some(x()), powers: 5 });
    compare("late inputs", blank, circuit, &LateInputs::public(x(), 5));
}

#[test]
fn terms_with_coefficient_zero() {
    let factors = (x(), Scalar::from(9));
    compare(
        "explicit zeros",
        ExplicitZeros::default(),
        ExplicitZeros { factors: Some(factors) },
        &[factors.0 * factors.1],
    );
}

#[test]
fn a_witness_of_zeros() {
    let zero = Scalar::from(0);
    compare("zeros", OneConstraint::default(), OneConstraint { factors: Some((zero, zero)) }, &[zero]);
}

/// Rows just below, at and just above a power of two.
#[test]
fn domains_around_a_power_of_two() {
    for rows in [31, 32, 33, 255, 256, 257] {
        let squarings = rows - 2;
        let (blank, circuit) = (Squarings { x: None, squarings }, Squarings { x: Some(x()), squarings });
        compare(&format!("{rows} rows"), blank, circuit, &Squarings::public(x(), squarings));
    }
}

#[test]
fn the_sha256_family() {
    let circuit = Sha256Preimage::of_preimage(Zeroizing::new(b"a preimage of less than one block".to_vec()));
    let public = circuit.public_inputs().unwrap();
    compare("sha256:1", Sha256Preimage::of_blocks(1), circuit, &public);
}

#[test]
fn circom() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/circom");
    let r1cs = R1cs::read(&data.join("poseidon_m7.r1cs")).unwrap();
    let witness = read_wtns(&data.join("poseidon_m7.wtns")).unwrap();
    let circuit = Circom { r1cs: &r1cs, witness: Some(&witness) };
    compare("poseidon_m7", Circom { r1cs: &r1cs, witness: None }, circuit, &witness[1..r1cs.inputs()]);
}
