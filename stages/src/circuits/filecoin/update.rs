//! Empty sector updates: from the vanilla proofs of partitions to circuits.

use std::path::Path;

use filecoin_proofs::types::{PartitionProof, SectorUpdateConfig};
use storage_proofs_core::compound_proof::{self, CompoundProof};
use storage_proofs_core::proof::ProofScheme;
use storage_proofs_update::{
    EmptySectorUpdate, EmptySectorUpdateCircuit, EmptySectorUpdateCompound, PublicInputs, SetupParams,
};

use super::bytes::{Bytes32, element, from_bincode};
use super::circuit::Shape;
use super::compound::{NetworkKey, Task, judge, partitions};
use super::guard::caught;
use super::paths::{self, is_element};
use super::registered::RegisteredProof;
use super::size::of_size;
use crate::error::Error;

type Compound<Tree> = EmptySectorUpdateCompound<Tree>;
type Scheme<Tree> = EmptySectorUpdate<Tree>;
type Circuit<Tree> = EmptySectorUpdateCircuit<Tree>;
type Setup<Tree> = compound_proof::PublicParams<'static, Scheme<Tree>>;

/// What the proof of an update claims.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UpdateStatement {
    /// The registered proof.
    pub proof: RegisteredProof,
    /// The commitment to the replica of the empty sector.
    pub comm_r_old: Bytes32,
    /// The commitment to the replica with data.
    pub comm_r_new: Bytes32,
    /// The commitment to the data.
    pub comm_d_new: Bytes32,
}

impl UpdateStatement {
    /// Reads the vanilla proofs of the update's partitions: bincode, a file for each, in the partitions' order.
    ///
    /// # Errors
    /// A file is no vanilla proof of an update; there are too many or too few; they are of other commitments.
    pub fn read_vanilla(&self, files: &[(&Path, &[u8])]) -> Result<Task, Error> {
        of_size!(self.proof.family().size, read_shaped(self, files))
    }

    fn config(&self) -> SectorUpdateConfig {
        SectorUpdateConfig::from_porep_config(&self.proof.porep_config())
    }

    /// Proofs of it: so many.
    pub(super) fn partitions(&self) -> usize {
        usize::from(self.config().update_partitions)
    }

    fn public(&self) -> Result<PublicInputs, Error> {
        Ok(PublicInputs {
            // Each circuit is told its own.
            k: self.partitions(),
            comm_r_old: element("comm_r_old", &self.comm_r_old)?,
            comm_d_new: element("comm_d_new", &self.comm_d_new)?,
            comm_r_new: element("comm_r_new", &self.comm_r_new)?,
            h: self.config().h,
        })
    }

    fn setup<Tree: Shape>(&self) -> Result<Setup<Tree>, Error> {
        let setup = caught(|| {
            let vanilla_params = SetupParams { sector_bytes: self.proof.family().size.bytes() };
            let partitions = Some(self.partitions());
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

fn read_shaped<Tree: Shape>(statement: &UpdateStatement, files: &[(&Path, &[u8])]) -> Result<Task, Error> {
    let wanted = statement.partitions();
    if files.len() != wanted {
        return Err(Error::Mismatch(format!(
            "{} vanilla proofs are given, and an update of a sector of {} has {wanted} partitions, a file for each",
            files.len(),
            statement.proof.family().size
        )));
    }
    let what = format!("vanilla proof of an update of a sector of {}", statement.proof.family().size);
    let read = |(file, bytes): &(&Path, &[u8])| {
        let read = caught(|| Ok(from_bincode::<PartitionProof<Tree>>(file, bytes, &what)));
        read.map_err(|fault| Error::Malformed {
            file: (*file).to_owned(),
            offset: 0,
            fault: format!("this is no {what}: {fault}"),
        })?
    };
    let vanilla = files.iter().map(read).collect::<Result<Vec<_>, Error>>()?;
    let (public, setup) = (statement.public()?, statement.setup::<Tree>()?);
    for ((file, _), proof) in files.iter().zip(&vanilla) {
        caught(|| check_partition(proof)).map_err(|fault| Error::Malformed {
            file: (*file).to_owned(),
            offset: 0,
            fault: format!("this is no {what}: {fault}"),
        })?;
    }
    let answered = caught(|| Scheme::<Tree>::verify_all_partitions(&setup.vanilla_params, &public, &vanilla));
    if answered != Ok(true) {
        let why = answered.err().map(|fault| format!(" ({fault})")).unwrap_or_default();
        return Err(Error::Mismatch(format!(
            "the vanilla proofs are not of an update from this comm_r_old to this comm_r_new with this comm_d_new, or their \
             files are not in the order of the partitions{why}"
        )));
    }
    let made =
        caught(|| partitions::<Compound<Tree>, Scheme<Tree>, Circuit<Tree>>(&setup.vanilla_params, &public, &vanilla));
    let partitions = made.map_err(|fault| Error::Mismatch(format!("the vanilla proofs make no circuit: {fault}")))?;
    Ok(Task { family: statement.proof.family(), partitions })
}

/// The form of what a vanilla proof holds, which nobody checks before it is used.
fn check_partition<Tree: Shape>(proof: &PartitionProof<Tree>) -> anyhow::Result<()> {
    anyhow::ensure!(is_element(proof.comm_c), "comm_c is not below the field's prime");
    anyhow::ensure!(
        proof.apex_leafs.iter().all(|leaf| is_element(*leaf)),
        "an apex leaf is not below the field's prime"
    );
    for challenge in &proof.challenge_proofs {
        paths::check(&challenge.proof_r_old)?;
        paths::check(&challenge.proof_d_new)?;
        paths::check(&challenge.proof_r_new)?;
    }
    Ok(())
}

fn judge_shaped<Tree: Shape>(statement: &UpdateStatement, proof: &[u8], key: &NetworkKey) -> Result<bool, Error> {
    let (setup, public) = (statement.setup::<Tree>()?, statement.public()?);
    let judged = caught(|| judge::<Compound<Tree>, Scheme<Tree>, Circuit<Tree>>(&setup, &public, &(), (proof, key)));
    judged.map_err(|fault| Error::Mismatch(format!("the proof cannot be judged: {fault}")))
}
