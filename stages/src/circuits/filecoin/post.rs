//! Proofs of spacetime: from vanilla proofs of sectors to circuits.

use std::path::Path;

use filecoin_hashers::poseidon::PoseidonDomain;
use filecoin_proofs::parameters::{window_post_setup_params, winning_post_setup_params};
use filecoin_proofs::{FallbackPoStSectorProof, partition_vanilla_proofs};
use storage_proofs_core::compound_proof::{self, CompoundProof};
use storage_proofs_core::merkle::MerkleProofTrait;
use storage_proofs_core::sector::SectorId;
use storage_proofs_post::fallback::{
    self, ChallengeRequirements, FallbackPoSt, FallbackPoStCircuit, FallbackPoStCompound, PublicSector,
};

use super::bytes::{Bytes32, element, from_bincode};
use super::circuit::Shape;
use super::compound::{NetworkKey, Task, judge, partitions};
use super::family::Kind;
use super::guard::caught;
use super::paths::{self, is_element};
use super::registered::RegisteredProof;
use super::size::of_size;
use crate::error::Error;

type Compound<Tree> = FallbackPoStCompound<Tree>;
type Scheme<Tree> = FallbackPoSt<'static, Tree>;
type Circuit<Tree> = FallbackPoStCircuit<Tree>;
type Setup<Tree> = compound_proof::PublicParams<'static, Scheme<Tree>>;
type Public = fallback::PublicInputs<PoseidonDomain>;

/// What a proof of spacetime claims.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PostStatement {
    /// The registered proof.
    pub proof: RegisteredProof,
    /// The miner's [identity](super::prover_id).
    pub prover: Bytes32,
    /// The chain's randomness that the challenges are drawn from; below the field's prime.
    pub randomness: Bytes32,
    /// The sectors and the commitments to their replicas, ascending by number.
    pub sectors: Vec<(u64, Bytes32)>,
}

impl PostStatement {
    /// Reads the vanilla proofs of the statement's sectors: bincode, a file for each, in any order. A statement without sectors
    /// takes those that the files name.
    ///
    /// # Errors
    /// A file is no vanilla proof; the files are not of the statement's sectors and commitments; the proofs do not answer the
    /// challenges of the randomness.
    pub fn read_vanilla(&mut self, files: &[(&Path, &[u8])]) -> Result<Task, Error> {
        of_size!(self.proof.family().size, read_shaped(self, files))
    }

    fn is_winning(&self) -> bool {
        self.proof.family().kind == Kind::Winning
    }

    /// Sectors for which one proof has room.
    fn room(&self) -> usize {
        if self.is_winning() { 1 } else { self.proof.post_config().sector_count }
    }

    /// Proofs of it: so many.
    pub(super) fn partitions(&self) -> usize {
        self.sectors.len().div_ceil(self.room()).max(1)
    }

    fn check_sectors(&self) -> Result<(), Error> {
        let count = self.sectors.len();
        if count == 0 || (self.is_winning() && count > 1) {
            let wanted = if self.is_winning() { "one sector" } else { "at least one sector" };
            return Err(Error::Mismatch(format!(
                "{} is about {wanted}, and {count} are given: name each with its comm_r in `sectors`",
                self.proof
            )));
        }
        match self.sectors.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            Some(pair) if pair[0].0 == pair[1].0 => {
                Err(Error::Mismatch(format!("sector {} is given twice", pair[0].0)))
            }
            Some(pair) => Err(Error::Internal(format!("sector {} before {}", pair[0].0, pair[1].0))),
            None => Ok(()),
        }
    }

    fn public(&self) -> Result<Public, Error> {
        self.check_sectors()?;
        // A WinningPoSt is one sector challenged many times, each as if it were a sector of its own.
        let times = if self.is_winning() { self.proof.post_config().challenge_count } else { 1 };
        let sector = |(number, comm_r): &(u64, Bytes32)| {
            let comm_r = element(&format!("comm_r of sector {number}"), comm_r)?;
            Ok(PublicSector { id: SectorId::from(*number), comm_r })
        };
        let sectors = self.sectors.iter().map(sector).collect::<Result<Vec<_>, Error>>()?;
        let sectors = sectors.iter().cycle().take(times * sectors.len()).cloned().collect();
        Ok(Public {
            randomness: element("the randomness", &self.randomness)?,
            // The identity of the actor 0 is zero, which is no fault here.
            prover_id: if self.prover == [0; 32] {
                PoseidonDomain::default()
            } else {
                element("the miner's identity", &self.prover)?
            },
            sectors,
            k: None,
        })
    }

    fn setup<Tree: Shape>(&self) -> Result<Setup<Tree>, Error> {
        let config = self.proof.post_config();
        let partitions = Some(self.partitions());
        let setup = caught(|| {
            let vanilla_params =
                if self.is_winning() { winning_post_setup_params(&config)? } else { window_post_setup_params(&config) };
            let params = compound_proof::SetupParams { vanilla_params, partitions, priority: false };
            <Compound<Tree> as CompoundProof<'static, Scheme<Tree>, Circuit<Tree>>>::setup(&params)
        });
        setup.map_err(|fault| Error::Internal(format!("the settings of {}: {fault}", self.proof)))
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        self.public().map(drop)
    }

    pub(super) fn judge(&self, proof: &[u8], key: &NetworkKey) -> Result<bool, Error> {
        of_size!(self.proof.family().size, judge_shaped(self, proof, key))
    }
}

fn read_shaped<Tree: Shape>(statement: &mut PostStatement, files: &[(&Path, &[u8])]) -> Result<Task, Error> {
    let kind = statement.proof.family().kind;
    if files.is_empty() {
        return Err(Error::Mismatch("no vanilla proof is given, and each sector has one".to_owned()));
    }
    let mut vanilla = Vec::with_capacity(files.len());
    for (file, bytes) in files {
        let what = format!("vanilla proof of a sector of {}", statement.proof.family().size);
        let read: FallbackPoStSectorProof<Tree> =
            caught(|| Ok(from_bincode(file, bytes, &what))).map_err(|fault| Error::Malformed {
                file: (*file).to_owned(),
                offset: 0,
                fault: format!("this is no {what}: {fault}"),
            })??;
        // A file of one sector, however its sizes were altered.
        if read.vanilla_proof.sectors.len() != 1 {
            let fault = format!("{} sectors are in it, and each file is of one", read.vanilla_proof.sectors.len());
            return Err(Error::Malformed { file: (*file).to_owned(), offset: 0, fault });
        }
        caught(|| check_sector(&read)).map_err(|fault| Error::Malformed {
            file: (*file).to_owned(),
            offset: 0,
            fault: format!("this is no {what}: {fault}"),
        })?;
        vanilla.push(read);
    }
    vanilla.sort_by_key(|proof| u64::from(proof.sector_id));
    let found: Vec<(u64, Bytes32)> =
        vanilla.iter().map(|proof| (u64::from(proof.sector_id), proof.comm_r.into())).collect();
    if statement.sectors.is_empty() {
        statement.sectors.clone_from(&found);
    }
    expect_same(&statement.sectors, &found)?;
    let (public, setup) = (statement.public()?, statement.setup::<Tree>()?);
    let config = statement.proof.post_config();
    let partitioned =
        caught(|| partition_vanilla_proofs(&config, &setup.vanilla_params, &public, statement.partitions(), &vanilla));
    let partitioned = partitioned.map_err(|fault| {
        Error::Mismatch(format!(
            "the vanilla proofs do not answer the challenges of this randomness as {} draws them: {fault}; they are of other \
             randomness, of other sectors, or of another registered proof",
            statement.proof
        ))
    })?;
    let made = caught(|| {
        partitions::<Compound<Tree>, Scheme<Tree>, Circuit<Tree>>(&setup.vanilla_params, &public, &partitioned)
    });
    let partitions =
        made.map_err(|fault| Error::Mismatch(format!("the vanilla proofs make no {kind} proof: {fault}")))?;
    Ok(Task { family: statement.proof.family(), partitions })
}

/// What nobody checks before it is used: the form of paths, and that the commitment which the circuit takes is the paths' root.
fn check_sector<Tree: Shape>(proof: &FallbackPoStSectorProof<Tree>) -> anyhow::Result<()> {
    anyhow::ensure!(is_element(proof.comm_r), "comm_r is not below the field's prime");
    for sector in &proof.vanilla_proof.sectors {
        anyhow::ensure!(is_element(sector.comm_c), "comm_c is not below the field's prime");
        for path in sector.inclusion_proofs() {
            paths::check(path)?;
            anyhow::ensure!(path.root() == sector.comm_r_last, "a path does not lead to comm_r_last");
        }
    }
    Ok(())
}

/// Holds the sectors of the vanilla proofs against those that are to be proved; both ascending.
fn expect_same(wanted: &[(u64, Bytes32)], found: &[(u64, Bytes32)]) -> Result<(), Error> {
    // A partition has thousands of sectors; the first that differ are worth more than all of them.
    const SHOWN: usize = 10;
    let same = wanted.iter().zip(found).take_while(|(wanted, found)| wanted.0 == found.0).count();
    let from = if same < SHOWN { 0 } else { same };
    let numbers = |sectors: &[(u64, Bytes32)]| {
        let numbers = sectors.iter().skip(from).take(SHOWN).map(|(number, _)| number.to_string());
        let mut shown: Vec<String> = (from > 0).then(|| "…".to_owned()).into_iter().chain(numbers).collect();
        if sectors.len() > from + SHOWN {
            shown.push(format!("… ({} in all)", sectors.len()));
        }
        shown.join(", ")
    };
    if wanted.len() != found.len() || wanted.iter().zip(found).any(|(wanted, found)| wanted.0 != found.0) {
        return Err(Error::Mismatch(format!(
            "the vanilla proofs are of the sectors {}, and the statement is about {}",
            numbers(found),
            numbers(wanted)
        )));
    }
    match wanted.iter().zip(found).find(|(wanted, found)| wanted.1 != found.1) {
        Some(((number, _), _)) => Err(Error::Mismatch(format!(
            "the vanilla proof of sector {number} is of another comm_r than the one that is given: the sector was updated, or \
             it is another miner's"
        ))),
        None => Ok(()),
    }
}

fn judge_shaped<Tree: Shape>(statement: &PostStatement, proof: &[u8], key: &NetworkKey) -> Result<bool, Error> {
    let (setup, public) = (statement.setup::<Tree>()?, statement.public()?);
    let config = statement.proof.post_config();
    let requirements = ChallengeRequirements { minimum_challenge_count: config.challenge_count * config.sector_count };
    let judged =
        caught(|| judge::<Compound<Tree>, Scheme<Tree>, Circuit<Tree>>(&setup, &public, &requirements, (proof, key)));
    judged.map_err(|fault| Error::Mismatch(format!("the proof cannot be judged: {fault}")))
}
