//! Which circuit: a kind of proof, for sectors of a size.

use std::fmt;
use std::path::{Path, PathBuf};

use filecoin_hashers::sha256::Sha256Hasher;
use filecoin_proofs::parameters::{public_params, window_post_public_params, winning_post_public_params};
use storage_proofs_core::api_version::ApiVersion;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_core::parameter_cache::{CacheableParameters, parameter_id, verifying_key_id};
use storage_proofs_core::util::NODE_SIZE;
use storage_proofs_porep::stacked::{StackedCircuit, StackedCompound};
use storage_proofs_post::fallback::{FallbackPoStCircuit, FallbackPoStCompound};
use storage_proofs_update::{EmptySectorUpdateCircuit, EmptySectorUpdateCompound};

use super::circuit::{FilecoinCircuit, Shape};
use super::guard::guarded;
use super::registered::{porep_config_of, post_config_of};
use super::size::{SectorSize, of_size};
use crate::circuits::{CircuitShape, Extracted, Origin, extract};
use crate::error::Error;

/// Raised when the network's crates change a circuit, which renames the keys too, so that stored circuits are not taken for
/// it.
const REVISION: u32 = 1;

/// A kind of proof.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Proof of replication: a sector was sealed.
    Porep,
    /// WinningPoSt: the sector that a block's miner was asked for is there.
    Winning,
    /// WindowPoSt: all sectors of a partition of a miner's deadline are there.
    Window,
    /// Empty sector update, also called SnapDeals: data was put into a sector that was sealed empty.
    Update,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Porep, Self::Winning, Self::Window, Self::Update];
}

/// As the command line has it.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Porep => "porep",
            Self::Winning => "winning",
            Self::Window => "window",
            Self::Update => "update",
        })
    }
}

/// A circuit of Filecoin's. All versions of a kind's rules share it, and its key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Family {
    /// The kind of proof.
    pub kind: Kind,
    /// The size of the sectors.
    pub size: SectorSize,
}

/// `porep-2KiB`.
impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.kind, self.size)
    }
}

impl Family {
    /// Whether the network's crates have it: updates are not for every size.
    #[must_use]
    pub fn exists(self) -> bool {
        let nodes = usize::try_from(self.size.bytes()).unwrap_or(usize::MAX) / NODE_SIZE;
        self.kind != Kind::Update || storage_proofs_update::constants::ALLOWED_SECTOR_SIZES.contains(&nodes)
    }

    fn expect(self) -> Result<(), Error> {
        if self.exists() {
            return Ok(());
        }
        Err(Error::BadText(format!("there are no updates of sectors of {}", self.size)))
    }

    /// The circuit without a witness.
    ///
    /// # Errors
    /// There is no such circuit.
    pub fn blank(self) -> Result<FilecoinCircuit, Error> {
        self.expect()?;
        guarded("the circuit without a witness", || of_size!(self.size, blank(self)))
    }

    /// The circuit, compiled. It takes seconds for proofs of replication and updates, minutes for those of production, and
    /// what the compressed matrices take of memory.
    ///
    /// # Errors
    /// There is no such circuit, or it is too large.
    pub fn compile(self) -> Result<CircuitShape, Error> {
        CircuitShape::from_circuit(&self.to_string(), self.blank()?)
    }

    /// The circuit, compiled into a file without being in memory: a block of its rows at a time. A folder that is not there
    /// is an error.
    ///
    /// # Errors
    /// As [`compile`](Self::compile), or the file cannot be written.
    pub fn extract(self, file: &Path) -> Result<Extracted, Error> {
        extract(&self.to_string(), self.blank()?, file, self.origin()?)
    }

    /// What a stored circuit of it was extracted from.
    ///
    /// # Errors
    /// There is no such circuit.
    pub fn origin(self) -> Result<Origin, Error> {
        Ok(Origin::of_text(&format!("filecoin {} {REVISION}", self.identifier()?)))
    }

    /// What the network's crates call it in the names of its key's files.
    ///
    /// # Errors
    /// There is no such circuit.
    pub fn identifier(self) -> Result<String, Error> {
        self.expect()?;
        guarded("the name of the key", || of_size!(self.size, identifier(self)))
    }

    /// Its key in a folder of the network's keys: `v28-….params`.
    ///
    /// # Errors
    /// There is no such circuit.
    pub fn params_in(self, folder: &Path) -> Result<PathBuf, Error> {
        Ok(folder.join(parameter_id(&self.identifier()?)))
    }

    /// Its verifying key in such a folder: `v28-….vk`.
    ///
    /// # Errors
    /// There is no such circuit.
    pub fn vk_in(self, folder: &Path) -> Result<PathBuf, Error> {
        Ok(folder.join(verifying_key_id(&self.identifier()?)))
    }
}

/// The names of the compounds, whose traits have the circuit as a parameter.
type Seal<Tree> = StackedCompound<Tree, Sha256Hasher>;
type SealCircuit<Tree> = StackedCircuit<Tree, Sha256Hasher>;

fn blank<Tree: Shape>(family: Family) -> anyhow::Result<FilecoinCircuit> {
    Ok(match family.kind {
        Kind::Porep => {
            let config = porep_config_of(family.size, [0; 32], ApiVersion::V1_1_0);
            Seal::<Tree>::blank_circuit(&public_params(&config)?).into()
        }
        Kind::Winning => {
            let config = post_config_of(family, ApiVersion::V1_0_0);
            FallbackPoStCompound::<Tree>::blank_circuit(&winning_post_public_params::<Tree>(&config)?).into()
        }
        Kind::Window => {
            let config = post_config_of(family, ApiVersion::V1_2_0);
            FallbackPoStCompound::<Tree>::blank_circuit(&window_post_public_params::<Tree>(&config)?).into()
        }
        Kind::Update => {
            let params = storage_proofs_update::PublicParams::from_sector_size(family.size.bytes());
            EmptySectorUpdateCompound::<Tree>::blank_circuit(&params).into()
        }
    })
}

fn identifier<Tree: Shape>(family: Family) -> anyhow::Result<String> {
    Ok(match family.kind {
        Kind::Porep => {
            let params = public_params::<Tree>(&porep_config_of(family.size, [0; 32], ApiVersion::V1_1_0))?;
            <Seal<Tree> as CacheableParameters<SealCircuit<Tree>, _>>::cache_identifier(&params)
        }
        Kind::Winning => {
            let params = winning_post_public_params::<Tree>(&post_config_of(family, ApiVersion::V1_0_0))?;
            <FallbackPoStCompound<Tree> as CacheableParameters<FallbackPoStCircuit<Tree>, _>>::cache_identifier(&params)
        }
        Kind::Window => {
            let params = window_post_public_params::<Tree>(&post_config_of(family, ApiVersion::V1_2_0))?;
            <FallbackPoStCompound<Tree> as CacheableParameters<FallbackPoStCircuit<Tree>, _>>::cache_identifier(&params)
        }
        Kind::Update => {
            let params = storage_proofs_update::PublicParams::from_sector_size(family.size.bytes());
            type Compound<Tree> = EmptySectorUpdateCompound<Tree>;
            <Compound<Tree> as CacheableParameters<EmptySectorUpdateCircuit<Tree>, _>>::cache_identifier(&params)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the published `parameters.json`.
    const PUBLISHED: [(&str, &str); 10] = [
        (
            "porep-2KiB",
            "stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f",
        ),
        (
            "winning-2KiB",
            "proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-3ea05428c9d11689f23529cde32fd30aabd50f7d2c93657c1d3650bca3e8ea9e",
        ),
        (
            "window-2KiB",
            "proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0",
        ),
        (
            "update-2KiB",
            "empty-sector-update-merkletree-poseidon_hasher-8-0-0-fb9e095bebdd77511c0269b967b4d87ba8b8a525edaa0e165de23ba454510194",
        ),
        ("porep-32GiB", ""),
        ("winning-32GiB", ""),
        ("window-32GiB", ""),
        ("porep-64GiB", ""),
        ("update-32GiB", ""),
        ("update-64GiB", ""),
    ];

    #[test]
    fn keys_are_named_as_the_network_names_them() {
        let mut known = 0;
        for kind in Kind::ALL {
            for size in SectorSize::ALL {
                let family = Family { kind, size };
                let Ok(identifier) = family.identifier() else {
                    assert_eq!(family.to_string(), "update-1GiB");
                    continue;
                };
                if let Some((_, published)) = PUBLISHED.iter().find(|(name, _)| *name == family.to_string()) {
                    known += 1;
                    assert!(published.is_empty() || *published == identifier, "{family}: {identifier}");
                    let data = storage_proofs_core::parameter_cache::get_parameter_data(&identifier);
                    let data = data.unwrap_or_else(|| panic!("{family} is not among the published keys: {identifier}"));
                    assert_eq!(data.sector_size, size.bytes());
                }
            }
        }
        assert_eq!(known, PUBLISHED.len());
    }
}
