//! Statements of all kinds: read from JSON, written to it, and judged.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::bytes::to_hex;
use super::compound::{NetworkKey, PARTITION_PROOF_BYTES};
use super::family::{Family, Kind};
use super::fields::{self, Fields};
use super::porep::SealStatement;
use super::post::PostStatement;
use super::registered::RegisteredProof;
use super::update::UpdateStatement;
use crate::error::Error;
use crate::params::VerifyingKey;
use crate::verify::ProofPoints;

/// What a proof claims.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Statement {
    /// A sector was sealed.
    Seal(SealStatement),
    /// Sectors are there: WinningPoSt and WindowPoSt.
    Post(PostStatement),
    /// A sector was updated.
    Update(UpdateStatement),
}

impl Statement {
    /// A statement of a kind, from the fields of a JSON object: `registered_proof`, and
    ///
    /// - porep: `prover_id`, `sector_id`, `comm_d`, `comm_r`, `ticket`, `seed`
    /// - winning, window: `prover_id`, `randomness`, `sectors` (a list of `sector_id` and `comm_r`; it may be missing)
    /// - update: `comm_r_old`, `comm_r_new`, `comm_d_new`
    ///
    /// Commitments and the like are 64 hexadecimal digits.
    ///
    /// # Errors
    /// A field is missing or malformed, or there is one that is not of the kind.
    pub fn from_json(kind: Kind, fields: &Map<String, Value>) -> Result<Self, Error> {
        let fields = Fields(fields);
        fields.expect_only(&fields::of_kind(kind), &format!("a statement of the kind {kind}"))?;
        let proof = RegisteredProof::named(kind, fields.text("registered_proof")?)?;
        Ok(match kind {
            Kind::Porep => Self::Seal(SealStatement {
                proof,
                prover: fields.bytes("prover_id")?,
                sector: fields.number("sector_id")?,
                comm_d: fields.bytes("comm_d")?,
                comm_r: fields.bytes("comm_r")?,
                ticket: fields.bytes("ticket")?,
                seed: fields.bytes("seed")?,
            }),
            Kind::Winning | Kind::Window => Self::Post(PostStatement {
                proof,
                prover: fields.bytes("prover_id")?,
                randomness: fields.bytes("randomness")?,
                sectors: fields.sectors()?,
            }),
            Kind::Update => Self::Update(UpdateStatement {
                proof,
                comm_r_old: fields.bytes("comm_r_old")?,
                comm_r_new: fields.bytes("comm_r_new")?,
                comm_d_new: fields.bytes("comm_d_new")?,
            }),
        })
    }

    /// The same as JSON, which [`from_json`](Self::from_json) reads back.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            Self::Seal(seal) => json!({
                "registered_proof": seal.proof.to_string(),
                "prover_id": to_hex(&seal.prover),
                "sector_id": seal.sector,
                "comm_d": to_hex(&seal.comm_d),
                "comm_r": to_hex(&seal.comm_r),
                "ticket": to_hex(&seal.ticket),
                "seed": to_hex(&seal.seed),
            }),
            Self::Post(post) => json!({
                "registered_proof": post.proof.to_string(),
                "prover_id": to_hex(&post.prover),
                "randomness": to_hex(&post.randomness),
                "sectors": fields::sectors_json(&post.sectors),
            }),
            Self::Update(update) => json!({
                "registered_proof": update.proof.to_string(),
                "comm_r_old": to_hex(&update.comm_r_old),
                "comm_r_new": to_hex(&update.comm_r_new),
                "comm_d_new": to_hex(&update.comm_d_new),
            }),
        }
    }

    /// The registered proof.
    #[must_use]
    pub fn proof(&self) -> RegisteredProof {
        match self {
            Self::Seal(seal) => seal.proof,
            Self::Post(post) => post.proof,
            Self::Update(update) => update.proof,
        }
    }

    /// The circuit that it is proved with.
    #[must_use]
    pub fn family(&self) -> Family {
        self.proof().family()
    }

    /// Proofs that its proof consists of, one behind the other.
    #[must_use]
    pub fn partitions(&self) -> usize {
        match self {
            Self::Seal(seal) => seal.partitions(),
            Self::Post(post) => post.partitions(),
            Self::Update(update) => update.partitions(),
        }
    }

    /// Whether it says what a statement can say: commitments that are elements of the field, sectors that are there once.
    fn check(&self) -> Result<(), Error> {
        match self {
            Self::Seal(seal) => seal.check(),
            Self::Post(post) => post.check(),
            Self::Update(update) => update.check(),
        }
    }

    /// Whether these bytes prove it, judged by the network's own code. `file` is the name of the proof in errors.
    ///
    /// # Errors
    /// The statement is none; the proof has another length than the statement's partitions make, or holds what is no proof;
    /// the key is of another circuit.
    pub fn verify(&self, key: &VerifyingKey, file: &Path, proof: &[u8]) -> Result<bool, Error> {
        self.check()?;
        let malformed = |offset: usize, fault| Error::Malformed { file: file.to_owned(), offset: offset as u64, fault };
        let wanted = self.partitions() * PARTITION_PROOF_BYTES;
        if proof.len() != wanted {
            let fault = format!(
                "it has {} bytes, and {} is proved by {wanted}: {} partitions of {PARTITION_PROOF_BYTES}",
                proof.len(),
                self.proof(),
                self.partitions()
            );
            return Err(malformed(0, fault));
        }
        // Their own reading says neither which partition nor which point it is.
        for (partition, bytes) in proof.chunks(PARTITION_PROOF_BYTES).enumerate() {
            ProofPoints::parse(bytes).map_err(|fault| {
                malformed(
                    partition * PARTITION_PROOF_BYTES,
                    format!("partition {partition}: {fault}; the file was altered"),
                )
            })?;
        }
        let key = NetworkKey::of(key)?;
        match self {
            Self::Seal(seal) => seal.judge(proof, &key),
            Self::Post(post) => post.judge(proof, &key),
            Self::Update(update) => update.judge(proof, &key),
        }
    }
}
