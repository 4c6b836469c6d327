//! Statements of all kinds: read from JSON, written to it, and judged.

use std::path::Path;

use bellperson::groth16::{PreparedVerifyingKey, VerifyingKey as NetworkKey, prepare_verifying_key};
use blstrs::Bls12;
use serde_json::{Map, Value, json};

use super::bytes::{Bytes32, parse_hex, to_hex};
use super::compound::PARTITION_PROOF_BYTES;
use super::family::{Family, Kind};
use super::porep::SealStatement;
use super::post::PostStatement;
use super::registered::RegisteredProof;
use super::update::UpdateStatement;
use crate::error::Error;
use crate::params::VerifyingKey;

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
        let known: &[&str] = match kind {
            Kind::Porep => &["prover_id", "sector_id", "comm_d", "comm_r", "ticket", "seed"],
            Kind::Winning | Kind::Window => &["prover_id", "randomness", "sectors"],
            Kind::Update => &["comm_r_old", "comm_r_new", "comm_d_new"],
        };
        let unknown = fields.0.keys().find(|name| *name != "registered_proof" && !known.contains(&name.as_str()));
        if let Some(name) = unknown {
            return Err(Error::BadText(format!("`{name}` is no field of a statement of the kind {kind}")));
        }
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
            Self::Post(post) => {
                let sector = |(number, comm_r): &(u64, Bytes32)| json!({"sector_id": number, "comm_r": to_hex(comm_r)});
                json!({
                    "registered_proof": post.proof.to_string(),
                    "prover_id": to_hex(&post.prover),
                    "randomness": to_hex(&post.randomness),
                    "sectors": post.sectors.iter().map(sector).collect::<Vec<_>>(),
                })
            }
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

    /// Whether these bytes prove it, judged by the network's own code. `file` is the name of the proof in errors.
    ///
    /// # Errors
    /// The proof has another length than the statement's partitions make, or the statement is none.
    pub fn verify(&self, key: &VerifyingKey, file: &Path, proof: &[u8]) -> Result<bool, Error> {
        let wanted = self.partitions() * PARTITION_PROOF_BYTES;
        if proof.len() != wanted {
            let fault = format!(
                "it has {} bytes, and {} is proved by {wanted}: {} partitions of {PARTITION_PROOF_BYTES}",
                proof.len(),
                self.proof(),
                self.partitions()
            );
            return Err(Error::Malformed { file: file.to_owned(), offset: 0, fault });
        }
        let key = network_key(key)?;
        match self {
            Self::Seal(seal) => seal.judge(proof, &key),
            Self::Post(post) => post.judge(proof, &key),
            Self::Update(update) => update.judge(proof, &key),
        }
    }
}

fn network_key(key: &VerifyingKey) -> Result<PreparedVerifyingKey<Bls12>, Error> {
    let read = NetworkKey::<Bls12>::read(&key.to_bytes()[..]);
    let read = read.map_err(|fault| Error::Internal(format!("the verifying key is not read back: {fault}")))?;
    Ok(prepare_verifying_key(&read))
}

/// The fields of a statement.
struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    fn get(&self, name: &str) -> Result<&'a Value, Error> {
        self.0.get(name).ok_or_else(|| Error::BadText(format!("the statement has no `{name}`")))
    }

    fn text(&self, name: &str) -> Result<&'a str, Error> {
        self.get(name)?.as_str().ok_or_else(|| Error::BadText(format!("`{name}` must be a text")))
    }

    fn number(&self, name: &str) -> Result<u64, Error> {
        self.get(name)?.as_u64().ok_or_else(|| Error::BadText(format!("`{name}` must be a whole number")))
    }

    fn bytes(&self, name: &str) -> Result<Bytes32, Error> {
        parse_hex(&format!("`{name}`"), self.text(name)?)
    }

    fn sectors(&self) -> Result<Vec<(u64, Bytes32)>, Error> {
        let Some(sectors) = self.0.get("sectors") else { return Ok(Vec::new()) };
        let bad = || Error::BadText("`sectors` must be a list of objects with `sector_id` and `comm_r`".to_owned());
        let sector = |sector: &'a Value| {
            let fields = Fields(sector.as_object().ok_or_else(bad)?);
            Ok((fields.number("sector_id")?, fields.bytes("comm_r")?))
        };
        let mut sectors = sectors.as_array().ok_or_else(bad)?.iter().map(sector).collect::<Result<Vec<_>, Error>>()?;
        sectors.sort_by_key(|(number, _)| *number);
        Ok(sectors)
    }
}
