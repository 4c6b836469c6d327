//! The provers, each with everything resident that can be, and nothing else: what is timed is the proof.

use std::error::Error;
use std::sync::Arc;

use ark_bls12_381::{Bls12_381, Fr};
use ark_groth16::Groth16;
use ark_groth16::r1cs_to_qap::LibsnarkReduction;
use bellperson::groth16::{MappedParameters, Parameters, create_proof};
use blstrs::{Bls12, Scalar};
use proofline::{CircuitShape, Job, Prover, ProvingKey, WitnessSource, unwatched};
use proofline_e2e::arkworks;
use proofline_e2e::circuits::Circom;
use proofline_kernels::Path;
use proofline_stages::circuits::{R1cs, Sha256Preimage};
use proofline_stages::params::PARAMS_FILE;
use proofline_stages::verify::ProofPoints;

use crate::subject::{Origin, Subject, preimage};

pub const OURS: &str = "proofline";
pub const PORTABLE: &str = "proofline, portable";
pub const BELLPERSON: &str = "bellperson";

/// r and s of every proof: the same for all, so that the bytes can be compared.
pub fn blinding() -> (Scalar, Scalar) {
    (Scalar::from(0x1234_5678_9abc_def1), Scalar::from(0x0fed_cba9_8765_4321))
}

/// A prover with its key, its form of the circuit and a witness in memory.
pub trait Peer {
    fn prove(&self) -> Result<Vec<u8>, Box<dyn Error>>;
}

/// A prover by name.
pub fn open(name: &str, subject: &Subject) -> Result<Box<dyn Peer>, Box<dyn Error>> {
    Ok(match name {
        OURS => Box::new(Ours::new(subject)?),
        PORTABLE => Box::new(Ours::portable(subject)?),
        "ark-groth16" => Box::new(Ark::new(subject)?),
        BELLPERSON => Box::new(Bellperson::new(subject)?),
        other => return Err(format!("there is no prover `{other}`").into()),
    })
}

/// Through the compiled pipeline, from the values of the witness to the verified proof.
struct Ours {
    prover: Prover,
    shape: Arc<CircuitShape>,
    key: Arc<ProvingKey>,
    witness: Vec<Scalar>,
}

impl Ours {
    fn new(subject: &Subject) -> Result<Self, Box<dyn Error>> {
        let key = Arc::new(ProvingKey::read(&subject.key, &unwatched)?);
        let (shape, witness) = (Arc::clone(&subject.shape), subject.witness.to_vec());
        Ok(Self { prover: Prover::start()?, shape, key, witness })
    }

    fn portable(subject: &Subject) -> Result<Self, Box<dyn Error>> {
        let key = Arc::new(ProvingKey::with_path(subject.parameters()?, Path::Portable));
        let shape = Arc::new(subject.reopen()?.with_path(Path::Portable)?);
        Ok(Self { prover: Prover::start()?, shape, key, witness: subject.witness.to_vec() })
    }
}

impl Peer for Ours {
    fn prove(&self) -> Result<Vec<u8>, Box<dyn Error>> {
        let source = WitnessSource::values(&self.shape, self.witness.clone())?;
        let (r, s) = blinding();
        let job = Job::new(Arc::clone(&self.shape), Arc::clone(&self.key), vec![source])?;
        let proofs = self.prover.submit(job.with_blinding_for_tests(0, r, s))?.wait()?;
        Ok(proofs[0].bytes.to_vec())
    }
}

/// Matrices and witness ready in arkworks' types; parallel, with assembly.
struct Ark {
    key: ark_groth16::ProvingKey<Bls12_381>,
    matrices: Vec<Vec<Vec<(Fr, usize)>>>,
    inputs: usize,
    constraints: usize,
    witness: Vec<Fr>,
}

impl Ark {
    fn new(subject: &Subject) -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            key: arkworks::key(&subject.shape, &subject.parameters()?),
            matrices: arkworks::matrices(&subject.shape),
            inputs: subject.shape.inputs(),
            constraints: subject.shape.constraints(),
            witness: subject.witness.iter().map(arkworks::scalar).collect(),
        })
    }
}

impl Peer for Ark {
    fn prove(&self) -> Result<Vec<u8>, Box<dyn Error>> {
        let (r, s) = blinding();
        let proof = Groth16::<Bls12_381, LibsnarkReduction>::create_proof_with_reduction_and_matrices(
            &self.key,
            arkworks::scalar(&r),
            arkworks::scalar(&s),
            &self.matrices,
            self.inputs,
            self.constraints,
            &self.witness,
        )?;
        let points = ProofPoints {
            a: arkworks::back_g1(&proof.a),
            b: arkworks::back_g2(&proof.b),
            c: arkworks::back_g1(&proof.c),
        };
        Ok(points.to_bytes().to_vec())
    }
}

/// Mapped parameters, from the circuit: it knows no other way.
struct Bellperson {
    key: MappedParameters<Bls12>,
    circuit: Synthesised,
}

/// What bellperson synthesises for each proof.
enum Synthesised {
    Circom(R1cs, Vec<Scalar>),
    Sha256(usize),
}

impl Bellperson {
    fn new(subject: &Subject) -> Result<Self, Box<dyn Error>> {
        let key = Parameters::build_mapped_parameters(subject.key.join(PARAMS_FILE), false)?;
        let circuit = match &subject.origin {
            Origin::Circom(r1cs) => Synthesised::Circom(r1cs.clone(), subject.witness.to_vec()),
            Origin::Builtin(proofline::Builtin::Sha256 { blocks }) => Synthesised::Sha256(*blocks),
        };
        Ok(Self { key, circuit })
    }
}

impl Peer for Bellperson {
    fn prove(&self) -> Result<Vec<u8>, Box<dyn Error>> {
        let (r, s) = blinding();
        let proof = match &self.circuit {
            Synthesised::Circom(r1cs, witness) => {
                create_proof(Circom { r1cs, witness: Some(witness) }, &self.key, r, s)?
            }
            Synthesised::Sha256(blocks) => {
                create_proof(Sha256Preimage::of_preimage(preimage(*blocks).into()), &self.key, r, s)?
            }
        };
        let mut bytes = Vec::new();
        proof.write(&mut bytes)?;
        Ok(bytes)
    }
}
