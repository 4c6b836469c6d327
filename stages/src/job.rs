//! A job: a circuit, a key, and as many witnesses as proofs are wanted.

use std::sync::Arc;

use blstrs::Scalar;
use ff::Field;
use pipeline_runtime::stage::{Brought, Priority, Sizes, Thing};
use rand::rngs::OsRng;

use crate::circuits::{CircuitShape, PublicInputs, WitnessSource};
use crate::error::Error;
use crate::params::ProvingKey;
use crate::secret::SecretScalars;
use crate::workspace::{bytes_of_sums, columns_have_room};

/// Proofs of one circuit with one key, one partition for each.
pub struct Job {
    shape: Arc<CircuitShape>,
    key: Arc<ProvingKey>,
    partitions: Vec<Partition>,
    priority: Priority,
}

/// One proof of a job.
struct Partition {
    source: WitnessSource,
    blinding: Blinding,
}

/// The randomness that makes a proof zero-knowledge. Whoever knows it and the proof learns of the witness.
struct Blinding(SecretScalars);

impl Blinding {
    fn fresh() -> Self {
        Self::of(Scalar::random(OsRng), Scalar::random(OsRng))
    }

    fn of(r: Scalar, s: Scalar) -> Self {
        Self(SecretScalars::from(vec![r, s]))
    }
}

impl Job {
    /// A job with fresh r and s from the operating system for each proof.
    ///
    /// # Errors
    /// The key or a witness is not the circuit's, or there is no witness.
    pub fn new(shape: Arc<CircuitShape>, key: Arc<ProvingKey>, witnesses: Vec<WitnessSource>) -> Result<Self, Error> {
        key.check(&shape)?;
        if witnesses.is_empty() || u32::try_from(witnesses.len()).is_err() {
            return Err(Error::Mismatch(format!(
                "a job takes from 1 to {} witnesses, not {}",
                u32::MAX,
                witnesses.len()
            )));
        }
        let mut given = witnesses.iter().filter_map(|source| source.public_inputs().get().map(<[Scalar]>::len));
        if let Some(count) = given.find(|count| count + 1 != shape.inputs()) {
            return Err(Error::Mismatch(format!(
                "{count} public inputs are given, the circuit `{}` has {}",
                shape.name(),
                shape.inputs() - 1
            )));
        }
        let partition = |source| Partition { source, blinding: Blinding::fresh() };
        let partitions = witnesses.into_iter().map(partition).collect();
        Ok(Self { shape, key, partitions, priority: Priority::Normal })
    }

    /// The same job, more or less urgent.
    #[must_use]
    pub fn with_priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// The same job with r and s of one proof chosen by the caller.
    ///
    /// For tests that compare proofs byte for byte, and for nothing else: r and s that are known, or used twice, give
    /// the witness away.
    ///
    /// # Panics
    /// There is no such partition.
    #[must_use]
    pub fn with_blinding_for_tests(mut self, partition: u32, r: Scalar, s: Scalar) -> Self {
        self.partitions[partition as usize].blinding = Blinding::of(r, s);
        self
    }

    /// The circuit.
    #[must_use]
    pub fn shape(&self) -> &CircuitShape {
        &self.shape
    }

    /// The key.
    #[must_use]
    pub fn key(&self) -> &ProvingKey {
        &self.key
    }

    /// The public inputs of a proof, the constant ONE not counted; a witness that is computed tells them when it is.
    ///
    /// # Panics
    /// There is no such partition.
    #[must_use]
    pub fn public_inputs(&self, partition: u32) -> &PublicInputs {
        self.source(partition).public_inputs()
    }

    pub(crate) fn source(&self, partition: u32) -> &WitnessSource {
        &self.partitions[partition as usize].source
    }

    pub(crate) fn blinding(&self, partition: u32) -> (Scalar, Scalar) {
        let pair = &self.partitions[partition as usize].blinding.0;
        (pair[0], pair[1])
    }
}

impl pipeline_runtime::stage::Job for Job {
    fn partitions(&self) -> u32 {
        // `new` refuses more.
        self.partitions.len() as u32
    }

    fn sizes(&self) -> Sizes {
        self.shape.sizes()
    }

    fn priority(&self) -> Priority {
        self.priority
    }

    fn brings(&self) -> Vec<Brought> {
        let shape = Brought {
            thing: Thing::At(Arc::as_ptr(&self.shape) as usize),
            what: format!("matrices and tables of `{}`", self.shape.name()),
            bytes: self.shape.bytes(),
        };
        let key = Brought {
            thing: Thing::At(Arc::as_ptr(&self.key) as usize),
            what: "proving key".to_owned(),
            bytes: self.key.bytes(),
        };
        vec![key, shape]
    }

    fn workspace(&self, stage: &str, threads: usize) -> u64 {
        match stage {
            "gpu_ntt_msm" => {
                let queries = self.key.in_g1();
                let room = columns_have_room(self.shape.domain().size(), &queries, threads);
                if room { 0 } else { bytes_of_sums(&queries, threads) }
            }
            "b_g2_msm" => bytes_of_sums(&[&self.key.b_g2], threads),
            _ => 0,
        }
    }
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job")
            .field("circuit", &self.shape.name())
            .field("partitions", &self.partitions.len())
            .field("priority", &self.priority)
            .finish_non_exhaustive()
    }
}
