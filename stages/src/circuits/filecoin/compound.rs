//! What the three kinds of proofs have in common: the network's crates call it a compound proof.

use std::sync::Arc;

use bellpepper_core::Circuit;
use bellperson::groth16::{PreparedVerifyingKey, VerifyingKey as TheirKey, prepare_verifying_key};
use blstrs::{Bls12, Scalar};
use storage_proofs_core::compound_proof::{CircuitComponent, CompoundProof, PublicParams};
use storage_proofs_core::multi_proof::MultiProof;
use storage_proofs_core::parameter_cache::{CacheableParameters, ParameterSetMetadata};
use storage_proofs_core::proof::ProofScheme;

use super::circuit::FilecoinCircuit;
use super::family::Family;
use crate::circuits::WitnessSource;
use crate::error::Error;
use crate::params::VerifyingKey;

/// Bytes of the proof of a partition: A, B, C compressed.
pub const PARTITION_PROOF_BYTES: usize = filecoin_proofs::constants::SINGLE_PARTITION_PROOF_LEN;

/// A proof to make: a circuit, and a witness for each partition. What it was made of was checked.
pub struct Task {
    pub(super) family: Family,
    pub(super) partitions: Vec<Partition>,
}

/// One of a task's proofs.
pub(super) struct Partition {
    circuit: Arc<FilecoinCircuit>,
    public: Vec<Scalar>,
}

impl Task {
    /// Which circuit it is.
    #[must_use]
    pub fn family(&self) -> Family {
        self.family
    }

    /// Partitions; each is a proof.
    #[must_use]
    pub fn partitions(&self) -> usize {
        self.partitions.len()
    }

    /// The circuit of a partition with its witness.
    ///
    /// # Panics
    /// There is no such partition.
    #[must_use]
    pub fn circuit(&self, partition: usize) -> FilecoinCircuit {
        (*self.partitions[partition].circuit).clone()
    }

    /// The public inputs of a partition, the constant ONE not counted.
    ///
    /// # Panics
    /// There is no such partition.
    #[must_use]
    pub fn public_inputs(&self, partition: usize) -> &[Scalar] {
        &self.partitions[partition].public
    }

    /// The witness of each partition, in order: what a job takes.
    #[must_use]
    pub fn witnesses(&self) -> Vec<WitnessSource> {
        let source = |partition: &Partition| {
            let circuit = Arc::clone(&partition.circuit);
            WitnessSource::synthesis(partition.public.clone(), move |cs| circuit.write_witness(cs))
        };
        self.partitions.iter().map(source).collect()
    }
}

/// The circuits of all partitions, and what they claim.
pub(super) fn partitions<'a, P, S, C>(
    params: &S::PublicParams,
    public: &S::PublicInputs,
    vanilla: &[S::Proof],
) -> anyhow::Result<Vec<Partition>>
where
    S: ProofScheme<'a>,
    S::Proof: Sync + Send,
    S::PublicParams: ParameterSetMetadata + Sync + Send,
    S::PublicInputs: Clone + Sync,
    C: Circuit<Scalar> + CircuitComponent + Send,
    P: CompoundProof<'a, S, C> + CacheableParameters<C, S::PublicParams>,
    FilecoinCircuit: From<C>,
{
    let partition = |(k, vanilla): (usize, &S::Proof)| {
        let circuit = P::circuit(public, C::ComponentPrivateInputs::default(), vanilla, params, Some(k))?;
        let public = P::generate_public_inputs(public, params, Some(k))?;
        Ok(Partition { circuit: Arc::new(circuit.into()), public })
    };
    vanilla.iter().enumerate().map(partition).collect()
}

/// A verifying key as the network's crates want it.
pub(super) struct NetworkKey {
    prepared: PreparedVerifyingKey<Bls12>,
    /// The public inputs that it is for, the constant ONE not counted.
    inputs: usize,
}

impl NetworkKey {
    pub(super) fn of(key: &VerifyingKey) -> Result<Self, Error> {
        let read = TheirKey::<Bls12>::read(&key.to_bytes()[..]);
        let read = read.map_err(|fault| Error::Internal(format!("the verifying key is not read back: {fault}")))?;
        Ok(Self { prepared: prepare_verifying_key(&read), inputs: key.ic.len().saturating_sub(1) })
    }
}

/// The judgement of the network's crates on the proofs of all partitions.
pub(super) fn judge<'a, P, S, C>(
    params: &PublicParams<'a, S>,
    public: &S::PublicInputs,
    requirements: &S::Requirements,
    (proof, key): (&[u8], &NetworkKey),
) -> anyhow::Result<bool>
where
    S: ProofScheme<'a>,
    S::Proof: Sync + Send,
    S::PublicParams: ParameterSetMetadata + Sync + Send,
    S::PublicInputs: Clone + Sync,
    C: Circuit<Scalar> + CircuitComponent + Send,
    P: CompoundProof<'a, S, C> + CacheableParameters<C, S::PublicParams>,
{
    let inputs = P::generate_public_inputs(public, &params.vanilla_params, Some(0))?.len();
    anyhow::ensure!(
        inputs == key.inputs,
        "the verifying key is for {} public inputs, and a partition of this proof has {inputs}: it is the key of another \
         circuit",
        key.inputs
    );
    let proof = MultiProof::new_from_bytes(params.partitions, proof, &key.prepared)?;
    P::verify(params, public, &proof, requirements)
}
