//! Proof of replication: from the output of commit phase 1 (C1) to circuits.

use std::path::Path;

use bellpepper_core::Circuit;
use blstrs::Scalar;
use filecoin_hashers::Hasher;
use filecoin_hashers::sha256::Sha256Hasher;
use filecoin_proofs::constants::SectorShape2KiB;
use filecoin_proofs::parameters::setup_params;
use filecoin_proofs::{PoRepConfig, SealCommitPhase1Output};
use storage_proofs_core::api_version::ApiVersion;
use storage_proofs_core::compound_proof::{self, CompoundProof};
use storage_proofs_porep::stacked::{self, StackedCompound, StackedDrg};

use crate::error::Error;

type Tree = SectorShape2KiB;
type Pieces = Sha256Hasher;
type Compound = StackedCompound<Tree, Pieces>;

/// The name of 2 KiB sectors with the current API in C1 outputs.
const PROOF_2K: &str = "StackedDrg2KiBV1_1";
/// Its number among the registered proofs, the first word of the proof's identity.
const PROOF_2K_NUMBER: u8 = 5;
/// Bytes of a 2 KiB sector.
const SECTOR_2K: u64 = 2048;

/// The partitions of a sealed sector, ready to be circuits.
///
/// So far of 2 KiB sectors: the shape of the tree is a type.
pub struct Porep {
    public: stacked::PublicInputs<
        <<Tree as storage_proofs_core::merkle::MerkleTreeTrait>::Hasher as Hasher>::Domain,
        <Pieces as Hasher>::Domain,
    >,
    vanilla: Vec<Vec<stacked::Proof<Tree, Pieces>>>,
    setup: stacked::PublicParams<Tree>,
}

impl Porep {
    /// Reads a C1 output, the JSON that `seal_commit_phase1` makes; `file` is its name in errors.
    ///
    /// # Errors
    /// It is no C1 output, or of another kind of sector than 2 KiB.
    pub fn parse(file: &Path, json: &[u8]) -> Result<Self, Error> {
        let malformed = |fault: String| Error::Malformed { file: file.to_owned(), offset: 0, fault };
        let no_c1 = |fault: &dyn std::fmt::Display| malformed(format!("this is no output of commit phase 1: {fault}"));
        let mut value: serde_json::Value = serde_json::from_slice(json).map_err(|fault| no_c1(&fault))?;
        let proof = value.get("registered_proof").and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
        if proof != PROOF_2K {
            return Err(malformed(format!("`registered_proof` is `{proof}`, and only {PROOF_2K} is known")));
        }
        // The public API wraps the proofs in the name of the sector's shape.
        let wrapped = value.get_mut("vanilla_proofs").and_then(serde_json::Value::as_object_mut);
        let inner = wrapped.and_then(|shapes| shapes.remove("StackedDrg2KiBV1"));
        let inner = inner.ok_or_else(|| no_c1(&"`vanilla_proofs` has no proofs of 2 KiB sectors"))?;
        value["vanilla_proofs"] = inner;
        let c1: SealCommitPhase1Output<Tree> = serde_json::from_value(value).map_err(|fault| no_c1(&fault))?;
        let domain = |bytes: &[u8], what: &str| {
            use filecoin_hashers::Domain as _;
            <<Pieces as Hasher>::Domain>::try_from_bytes(bytes).map_err(|fault| no_c1(&format_args!("{what}: {fault}")))
        };
        let comm_d = domain(&c1.comm_d, "comm_d")?;
        let comm_r = {
            use filecoin_hashers::Domain as _;
            <<Tree as storage_proofs_core::merkle::MerkleTreeTrait>::Hasher as Hasher>::Domain::try_from_bytes(
                &c1.comm_r,
            )
            .map_err(|fault| no_c1(&format_args!("comm_r: {fault}")))?
        };
        let public = stacked::PublicInputs {
            replica_id: c1.replica_id,
            tau: Some(stacked::Tau { comm_d, comm_r }),
            k: None,
            seed: Some(c1.seed),
        };
        let mut identity = [0; 32];
        identity[0] = PROOF_2K_NUMBER;
        let config = PoRepConfig::new_groth16(SECTOR_2K, identity, ApiVersion::V1_1_0);
        let partitions = usize::from(config.partitions);
        if c1.vanilla_proofs.len() != partitions || c1.vanilla_proofs.iter().any(Vec::is_empty) {
            let fault = format!("{} partitions of proofs, and the sector has {partitions}", c1.vanilla_proofs.len());
            return Err(no_c1(&fault));
        }
        let parameters = setup_params(&config).map_err(|fault| Error::Internal(fault.to_string()))?;
        let setup =
            compound_proof::SetupParams { vanilla_params: parameters, partitions: Some(partitions), priority: false };
        let setup = <Compound as CompoundProof<StackedDrg<'_, Tree, Pieces>, _>>::setup(&setup);
        let setup = setup.map_err(|fault| Error::Internal(fault.to_string()))?.vanilla_params;
        Ok(Self { public, vanilla: c1.vanilla_proofs, setup })
    }

    /// Partitions; each is a proof.
    #[must_use]
    pub fn partitions(&self) -> usize {
        self.vanilla.len()
    }

    /// The circuit of a partition with its witness. All partitions of all sectors of a size have the same constraints.
    ///
    /// # Errors
    /// The proofs of commit phase 1 contradict each other.
    ///
    /// # Panics
    /// There is no such partition.
    pub fn circuit(&self, partition: usize) -> Result<impl Circuit<Scalar> + Clone + use<>, Error> {
        let vanilla = &self.vanilla[partition];
        let circuit = Compound::circuit(&self.public, Default::default(), vanilla, &self.setup, Some(partition));
        circuit.map_err(|fault| Error::Mismatch(format!("partition {partition} of the sector: {fault}")))
    }

    /// The public inputs of a partition, the constant ONE not counted.
    ///
    /// # Errors
    /// The sector has no such challenges.
    pub fn public_inputs(&self, partition: usize) -> Result<Vec<Scalar>, Error> {
        let inputs = Compound::generate_public_inputs(&self.public, &self.setup, Some(partition));
        inputs.map_err(|fault| Error::Mismatch(format!("public inputs of partition {partition}: {fault}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuits::{CircuitShape, witness_of};

    const C1: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/filecoin/porep-2k-sector1.c1.json");

    /// Slow without optimisation: some ten seconds.
    #[test]
    fn the_circuit_of_a_sealed_sector_is_satisfied() {
        let porep = Porep::parse(Path::new(C1), &std::fs::read(C1).unwrap()).unwrap();
        assert_eq!(porep.partitions(), 1);
        let shape = CircuitShape::from_circuit("porep-2k", porep.circuit(0).unwrap()).unwrap();
        assert_eq!((shape.constraints(), shape.inputs(), shape.aux()), (2_687_921, 40, 2_685_673));
        assert_eq!(shape.matrices().nonzeros(), [6_420_965 + 40, 2_689_006, 5_824_682]);
        let witness = witness_of(&shape, porep.circuit(0).unwrap()).unwrap();
        assert_eq!(witness[1..40], porep.public_inputs(0).unwrap());
        let (bytes, nonzeros) = (shape.matrices().bytes(), shape.matrices().nonzeros().iter().sum::<usize>());
        assert!(2 * bytes <= 9 * nonzeros, "{bytes} bytes for {nonzeros} non-zeros");
    }

    #[test]
    fn other_sectors_are_refused() {
        let refused = |json: &str| Porep::parse(Path::new("c1.json"), json.as_bytes()).err().unwrap().to_string();
        assert!(refused("{").contains("no output of commit phase 1"));
        assert!(refused(r#"{"registered_proof":"StackedDrg32GiBV1_1"}"#).contains("`StackedDrg32GiBV1_1`"));
        assert!(refused(r#"{"registered_proof":"StackedDrg2KiBV1_1"}"#).contains("vanilla_proofs"));
    }
}
