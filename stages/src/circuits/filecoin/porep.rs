//! Proof of replication: from the output of commit phase 1 (C1) to circuits.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use filecoin_hashers::poseidon::PoseidonDomain;
use filecoin_hashers::sha256::{Sha256Domain, Sha256Hasher};
use filecoin_proofs::parameters::setup_params;
use filecoin_proofs::types::VanillaSealProof;
use serde::Deserialize;
use storage_proofs_core::compound_proof::{self, CompoundProof};
use storage_proofs_core::proof::ProofScheme;
use storage_proofs_porep::stacked::{
    self, ChallengeRequirements, StackedCircuit, StackedCompound, StackedDrg, generate_replica_id,
};

use super::bytes::{Bytes32, element, from_json};
use super::circuit::Shape;
use super::compound::{NetworkKey, Task, judge, partitions};
use super::family::Kind;
use super::guard::caught;
use super::paths;
use super::registered::RegisteredProof;
use super::size::of_size;
use crate::error::Error;

type Compound<Tree> = StackedCompound<Tree, Sha256Hasher>;
type Scheme<Tree> = StackedDrg<'static, Tree, Sha256Hasher>;
type Circuit<Tree> = StackedCircuit<Tree, Sha256Hasher>;
type Setup<Tree> = compound_proof::PublicParams<'static, Scheme<Tree>>;
type Public = stacked::PublicInputs<PoseidonDomain, Sha256Domain>;

/// What a proof of replication claims.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SealStatement {
    /// The registered proof.
    pub proof: RegisteredProof,
    /// The miner's [identity](super::prover_id).
    pub prover: Bytes32,
    /// The number of the sector.
    pub sector: u64,
    /// The commitment to the data.
    pub comm_d: Bytes32,
    /// The commitment to the replica.
    pub comm_r: Bytes32,
    /// The chain's randomness that the replica depends on.
    pub ticket: Bytes32,
    /// The chain's randomness that the challenges are drawn from.
    pub seed: Bytes32,
}

/// What of a C1 output says which one it is, or of the wrapper that Curio and Lotus put around it.
#[derive(Deserialize)]
struct Head {
    registered_proof: Option<String>,
    #[serde(rename = "Phase1Out")]
    inner: Option<String>,
    #[serde(rename = "SectorNum")]
    sector: Option<u64>,
    #[serde(rename = "SectorSize")]
    size: Option<u64>,
}

/// A C1 output. The public API wraps the proofs in the name of the sector's shape.
#[derive(Deserialize)]
#[serde(bound = "VanillaSealProof<Tree>: serde::de::DeserializeOwned")]
struct C1<Tree: Shape> {
    vanilla_proofs: BTreeMap<String, Vec<Vec<VanillaSealProof<Tree>>>>,
    comm_r: Bytes32,
    comm_d: Bytes32,
    replica_id: PoseidonDomain,
    seed: Bytes32,
    ticket: Bytes32,
}

/// What is in a C1 file, and whose it should be.
struct Source<'a> {
    file: &'a Path,
    json: &'a [u8],
    proof: RegisteredProof,
    prover: Bytes32,
    sector: u64,
}

/// Reads a C1 output, the JSON that `seal_commit_phase1` makes or Curio's and Lotus' wrapper of it, which is to be of a
/// miner's sector. `file` is its name in errors.
///
/// # Errors
/// It is no C1 output; it is of another sector or miner, or its parts do not belong together; its proofs do not answer the
/// challenges.
pub fn read_c1(file: &Path, json: &[u8], (prover, sector): (Bytes32, u64)) -> Result<(SealStatement, Task), Error> {
    let malformed = |fault: String| Error::Malformed { file: file.to_owned(), offset: 0, fault };
    let mut head: Head = from_json(file, json, WHAT)?;
    let wrapped = (head.sector, head.size);
    let decoded = match head.inner.take() {
        None => None,
        Some(inner) => Some(
            STANDARD
                .decode(inner.trim_ascii())
                .map_err(|fault| malformed(format!("`Phase1Out` is no Base64, or was cut off: {fault}")))?,
        ),
    };
    if let Some(decoded) = &decoded {
        head = from_json(file, decoded, "wrapper of an output of commit phase 1, in its `Phase1Out`,")?;
    }
    let json = decoded.as_deref().unwrap_or(json);
    let name = head.registered_proof;
    let name = name.ok_or_else(|| malformed(format!("this is no {WHAT}: it has no `registered_proof`")))?;
    let proof = RegisteredProof::named(Kind::Porep, &name);
    let proof = proof.map_err(|fault| malformed(format!("`registered_proof`: {fault}")))?;
    let size = proof.family().size;
    if let (_, Some(stated)) = wrapped
        && stated != size.bytes()
    {
        return Err(malformed(format!("`SectorSize` is {stated}, and what is inside is of a sector of {size}")));
    }
    if let (Some(number), _) = wrapped
        && number != sector
    {
        return Err(Error::Mismatch(format!(
            "{} is of sector {number} (`SectorNum`), not of sector {sector}: give that sector's own C1 output",
            file.display()
        )));
    }
    let source = Source { file, json, proof, prover, sector };
    of_size!(size, read_shaped(&source))
}

/// What is read here, in errors.
const WHAT: &str = "output of commit phase 1";

fn read_shaped<Tree: Shape>(source: &Source<'_>) -> Result<(SealStatement, Task), Error> {
    let Source { file, json, proof, prover, sector } = *source;
    let c1: C1<Tree> = from_json(file, json, WHAT)?;
    let malformed = |fault: String| Error::Malformed { file: file.to_owned(), offset: 0, fault };
    let shape = format!("StackedDrg{}V1", proof.family().size);
    let C1 { mut vanilla_proofs, comm_r, comm_d, replica_id, seed, ticket } = c1;
    let vanilla = match (vanilla_proofs.remove(&shape), vanilla_proofs.keys().next()) {
        (Some(vanilla), None) => vanilla,
        (_, Some(other)) => {
            return Err(malformed(format!("`vanilla_proofs` are of `{other}`, and the registered proof is {proof}")));
        }
        (None, None) => return Err(malformed(format!("`vanilla_proofs` has no proofs of `{shape}`"))),
    };
    let statement = SealStatement { proof, prover, sector, comm_d, comm_r, ticket, seed };
    let config = proof.porep_config();
    let wanted = usize::from(config.partitions);
    if vanilla.len() != wanted || vanilla.iter().any(Vec::is_empty) {
        let fault = format!("`vanilla_proofs` has {} partitions, and {proof} has {wanted}", vanilla.len());
        return Err(malformed(if vanilla.len() == wanted { "a partition has no vanilla proof".into() } else { fault }));
    }
    let public = statement.public().map_err(|fault| malformed(fault.to_string()))?;
    if public.replica_id != replica_id {
        return Err(Error::Mismatch(format!(
            "{} is not of sector {sector} of this miner: the replica's identity, which depends on miner, sector, ticket, \
             comm_d and registered proof, is another; give the right --sector and --miner, or that sector's own C1 output",
            file.display()
        )));
    }
    for proof in vanilla.iter().flatten() {
        let checked =
            caught(|| paths::check(&proof.comm_d_proofs).and_then(|()| paths::check(&proof.comm_r_last_proof)));
        checked.map_err(|fault| malformed(format!("`vanilla_proofs`: {fault}")))?;
    }
    let setup = statement.setup::<Tree>()?;
    let answered = caught(|| Scheme::<Tree>::verify_all_partitions(&setup.vanilla_params, &public, &vanilla));
    if answered != Ok(true) {
        let why = answered.err().map(|fault| format!(" ({fault})")).unwrap_or_default();
        return Err(Error::Mismatch(format!(
            "the vanilla proofs in {} do not answer the challenges of its seed, or are of other commitments{why}: commit \
             phase 1 must be run again",
            file.display()
        )));
    }
    let made =
        caught(|| partitions::<Compound<Tree>, Scheme<Tree>, Circuit<Tree>>(&setup.vanilla_params, &public, &vanilla));
    let partitions = made.map_err(|fault| malformed(format!("the vanilla proofs make no circuit: {fault}")))?;
    Ok((statement, Task { family: proof.family(), partitions }))
}

impl SealStatement {
    fn public(&self) -> Result<Public, Error> {
        if self.seed == [0; 32] {
            return Err(Error::BadText("the seed is zero, which the network's never is".to_owned()));
        }
        let comm_d: Sha256Domain = element("comm_d", &self.comm_d)?;
        let comm_r: PoseidonDomain = element("comm_r", &self.comm_r)?;
        let identity = self.proof.porep_config().porep_id;
        let replica_id = generate_replica_id::<filecoin_hashers::poseidon::PoseidonHasher, _>(
            &self.prover,
            self.sector,
            &self.ticket,
            comm_d,
            &identity,
        );
        Ok(Public { replica_id, tau: Some(stacked::Tau { comm_d, comm_r }), k: None, seed: Some(self.seed) })
    }

    fn setup<Tree: Shape>(&self) -> Result<Setup<Tree>, Error> {
        let config = self.proof.porep_config();
        let setup = caught(|| {
            let vanilla_params = setup_params(&config)?;
            let partitions = Some(usize::from(config.partitions));
            let params = compound_proof::SetupParams { vanilla_params, partitions, priority: false };
            <Compound<Tree> as CompoundProof<'static, Scheme<Tree>, Circuit<Tree>>>::setup(&params)
        });
        setup.map_err(|fault| Error::Internal(format!("the settings of {}: {fault}", self.proof)))
    }

    /// Proofs of it: so many.
    pub(super) fn partitions(&self) -> usize {
        usize::from(self.proof.porep_config().partitions)
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        self.public().map(drop)
    }

    pub(super) fn judge(&self, proof: &[u8], key: &NetworkKey) -> Result<bool, Error> {
        of_size!(self.proof.family().size, judge_shaped(self, proof, key))
    }
}

fn judge_shaped<Tree: Shape>(statement: &SealStatement, proof: &[u8], key: &NetworkKey) -> Result<bool, Error> {
    let (setup, public) = (statement.setup::<Tree>()?, statement.public()?);
    let requirements =
        ChallengeRequirements { minimum_challenges: statement.proof.porep_config().minimum_challenges() };
    let judged =
        caught(|| judge::<Compound<Tree>, Scheme<Tree>, Circuit<Tree>>(&setup, &public, &requirements, (proof, key)));
    judged.map_err(|fault| Error::Mismatch(format!("the proof cannot be judged: {fault}")))
}
