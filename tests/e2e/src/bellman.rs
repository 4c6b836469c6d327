//! bellperson, as prover and as verifier.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use bellpepper_core::Circuit;
use bellperson::groth16::{
    MappedParameters, ParameterSource, Parameters, Proof, create_proof, prepare_verifying_key, verify_proof,
};
use blstrs::{Bls12, Scalar};

/// Reads a `.params` file with bellperson's own checks.
#[must_use]
pub fn read(file: &Path) -> Parameters<Bls12> {
    Parameters::read(BufReader::new(File::open(file).unwrap()), true).unwrap()
}

/// Maps a `.params` file, as the network's programs do: points are read when they are needed, and not checked.
#[must_use]
pub fn map(file: &Path) -> MappedParameters<Bls12> {
    Parameters::build_mapped_parameters(file.to_owned(), false).unwrap()
}

/// bellperson's proof.
pub fn prove<C: Circuit<Scalar> + Send>(
    parameters: impl ParameterSource<Bls12>,
    circuit: C,
    r: Scalar,
    s: Scalar,
) -> Vec<u8> {
    let proof: Proof<Bls12> = create_proof(circuit, parameters, r, s).unwrap();
    let mut bytes = Vec::new();
    proof.write(&mut bytes).unwrap();
    bytes
}

/// bellperson's verdict; `false` also for bytes that are no proof.
#[must_use]
pub fn accepts(vk: &bellperson::groth16::VerifyingKey<Bls12>, proof: &[u8], public: &[Scalar]) -> bool {
    let prepared = prepare_verifying_key(vk);
    Proof::read(proof).is_ok_and(|proof| verify_proof(&prepared, &proof, public).unwrap())
}
