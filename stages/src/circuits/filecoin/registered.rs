//! Registered proofs: the names under which the network knows kinds of proofs.

use std::fmt;
use std::str::FromStr;

use filecoin_proofs::constants::{
    PUBLISHED_SECTOR_SIZES, WINDOW_POST_CHALLENGE_COUNT, WINDOW_POST_SECTOR_COUNT, WINNING_POST_CHALLENGE_COUNT,
    WINNING_POST_SECTOR_COUNT, get_porep_non_interactive_partitions,
};
use filecoin_proofs::{PoRepConfig, PoRepProofPartitions, PoStConfig, PoStType};
use storage_proofs_core::api_version::{ApiFeature, ApiVersion};

use super::family::{Family, Kind};
use super::size::SectorSize;
use crate::error::Error;

/// A registered proof: a circuit, and the rules by which challenges are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegisteredProof {
    family: Family,
    rules: Rules,
}

/// What a version of a proof's rules is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rules {
    V1,
    V1_1,
    V1_1Synthetic,
    V1_2,
    V1_2NonInteractive,
}

/// The rules of each kind of proof, with what stands for them behind a name. Those of proofs of replication are in the order
/// of their numbers, five sizes each.
const SEAL: [(Rules, &str); 4] = [
    (Rules::V1, "V1"),
    (Rules::V1_1, "V1_1"),
    (Rules::V1_1Synthetic, "V1_1_Feat_SyntheticPoRep"),
    (Rules::V1_2NonInteractive, "V1_2_Feat_NonInteractivePoRep"),
];
const WINNING: [(Rules, &str); 1] = [(Rules::V1, "V1")];
const WINDOW: [(Rules, &str); 2] = [(Rules::V1, "V1"), (Rules::V1_2, "V1_2")];
const UPDATE: [(Rules, &str); 1] = [(Rules::V1_1, "V1")];

/// What may stand before the name of an update's proof, which alone is that of a proof of replication.
const UPDATE_PREFIX: &str = "Update ";

impl RegisteredProof {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        Kind::ALL.into_iter().flat_map(|kind| {
            let sizes = SectorSize::ALL.into_iter().filter(move |size| match kind {
                Kind::Porep => is_published(*size),
                _ => (Family { kind, size: *size }).exists(),
            });
            sizes.flat_map(move |size| {
                rules_of(kind).iter().map(move |(rules, _)| Self { family: Family { kind, size }, rules: *rules })
            })
        })
    }

    /// The newest one of a kind for sectors of a size, which stands where nothing else is said.
    ///
    /// # Errors
    /// There is none: proofs of replication are registered for five sizes, updates for nine.
    pub fn newest(family: Family) -> Result<Self, Error> {
        let rules = match family.kind {
            Kind::Porep | Kind::Update => Rules::V1_1,
            Kind::Winning => Rules::V1,
            Kind::Window => Rules::V1_2,
        };
        let found = Self::all().find(|proof| proof.family == family && proof.rules == rules);
        found.ok_or_else(|| {
            let what = if family.kind == Kind::Porep { "proof of replication" } else { "update" };
            Error::BadText(format!("no {what} is registered for sectors of {}", family.size))
        })
    }

    /// The registered proof of this name and kind.
    ///
    /// # Errors
    /// There is none.
    pub fn named(kind: Kind, name: &str) -> Result<Self, Error> {
        let plain = if kind == Kind::Update { name.strip_prefix(UPDATE_PREFIX).unwrap_or(name) } else { name };
        let found = Self::all().find(|proof| proof.family.kind == kind && proof.plain_name() == plain);
        found.ok_or_else(|| {
            let example = Self::newest(Family { kind, size: SectorSize::ALL[0] });
            let example = example.map(|example| format!(", as `{example}`")).unwrap_or_default();
            Error::BadText(format!("`{name}` is no registered proof of the kind {kind}{example}"))
        })
    }

    /// The circuit that it is proved with.
    #[must_use]
    pub fn family(self) -> Family {
        self.family
    }

    /// Whether the partitions' proofs are meant to be aggregated, which this program does not.
    #[must_use]
    pub fn is_aggregated(self) -> bool {
        self.rules == Rules::V1_2NonInteractive
    }

    fn plain_name(self) -> String {
        let Family { kind, size } = self.family;
        let kind_word = match kind {
            Kind::Porep | Kind::Update => "",
            Kind::Winning => "Winning",
            Kind::Window => "Window",
        };
        let word = rules_of(kind).iter().find(|(rules, _)| *rules == self.rules).map_or("", |(_, word)| *word);
        format!("StackedDrg{kind_word}{size}{word}")
    }

    fn api_version(self) -> ApiVersion {
        match self.rules {
            Rules::V1 => ApiVersion::V1_0_0,
            Rules::V1_1 => ApiVersion::V1_1_0,
            // Synthetic challenges came with version 1.2, whatever the name says.
            Rules::V1_1Synthetic | Rules::V1_2 | Rules::V1_2NonInteractive => ApiVersion::V1_2_0,
        }
    }

    /// The number that a proof of replication is identified by.
    fn number(self) -> u64 {
        let rules = SEAL.iter().position(|(rules, _)| *rules == self.rules).unwrap_or_default();
        let size = PUBLISHED_SECTOR_SIZES.iter().position(|size| *size == self.family.size.bytes());
        (rules * PUBLISHED_SECTOR_SIZES.len() + size.unwrap_or_default()) as u64
    }

    /// The settings of a proof of replication, or of an update.
    pub(super) fn porep_config(self) -> PoRepConfig {
        let size = self.family.size;
        let mut identity = [0; 32];
        if self.family.kind == Kind::Porep {
            identity[..8].copy_from_slice(&self.number().to_le_bytes());
        }
        let mut config = porep_config_of(size, identity, self.api_version());
        match self.rules {
            Rules::V1_1Synthetic => config.api_features = vec![ApiFeature::SyntheticPoRep],
            Rules::V1_2NonInteractive => {
                config.api_features = vec![ApiFeature::NonInteractivePoRep];
                config.partitions = PoRepProofPartitions(get_porep_non_interactive_partitions(size.bytes()));
            }
            Rules::V1 | Rules::V1_1 | Rules::V1_2 => {}
        }
        config
    }

    /// The settings of a proof of spacetime.
    pub(super) fn post_config(self) -> PoStConfig {
        post_config_of(self.family, self.api_version())
    }
}

fn rules_of(kind: Kind) -> &'static [(Rules, &'static str)] {
    match kind {
        Kind::Porep => &SEAL,
        Kind::Winning => &WINNING,
        Kind::Window => &WINDOW,
        Kind::Update => &UPDATE,
    }
}

fn is_published(size: SectorSize) -> bool {
    PUBLISHED_SECTOR_SIZES.contains(&size.bytes())
}

/// The settings of a proof of replication without features.
pub(super) fn porep_config_of(size: SectorSize, identity: [u8; 32], version: ApiVersion) -> PoRepConfig {
    PoRepConfig::new_groth16(size.bytes(), identity, version)
}

pub(super) fn post_config_of(Family { kind, size }: Family, api_version: ApiVersion) -> PoStConfig {
    let (typ, sector_count, challenge_count) = if kind == Kind::Winning {
        (PoStType::Winning, WINNING_POST_SECTOR_COUNT, WINNING_POST_CHALLENGE_COUNT)
    } else {
        // Nobody writes to the table, so its lock cannot be poisoned; and it has every size.
        let table = WINDOW_POST_SECTOR_COUNT.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let sectors = table.get(&size.bytes()).copied().unwrap_or(1);
        (PoStType::Window, sectors, WINDOW_POST_CHALLENGE_COUNT)
    };
    PoStConfig { typ, sector_size: size.bytes().into(), sector_count, challenge_count, priority: false, api_version }
}

impl fmt::Display for RegisteredProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.plain_name())
    }
}

impl FromStr for Kind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|kind| kind.to_string() == text);
        found.ok_or_else(|| {
            Error::BadText(format!("`{text}` is no kind of proof: they are porep, winning, window and update"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_registered_proof_has_its_name_and_settings() {
        // 20 proofs of replication; ten sizes of winning, two versions of window, and nine sizes of updates.
        assert_eq!(RegisteredProof::all().count(), 20 + 10 + 20 + 9);
        for proof in RegisteredProof::all() {
            assert_eq!(RegisteredProof::named(proof.family.kind, &proof.to_string()).unwrap(), proof);
        }
        let porep = |name| RegisteredProof::named(Kind::Porep, name).unwrap();
        let config = porep("StackedDrg32GiBV1_1").porep_config();
        assert_eq!((config.porep_id[0], usize::from(config.partitions)), (8, 10));
        let config = porep("StackedDrg2KiBV1_1_Feat_SyntheticPoRep").porep_config();
        assert_eq!((config.porep_id[0], config.api_version), (10, ApiVersion::V1_2_0));
        let config = porep("StackedDrg64GiBV1_2_Feat_NonInteractivePoRep").porep_config();
        assert_eq!((config.porep_id[0], usize::from(config.partitions)), (19, 126));
        let update = RegisteredProof::named(Kind::Update, "Update StackedDrg2KiBV1").unwrap();
        assert_eq!(update.porep_config().api_version, ApiVersion::V1_1_0);
        let window = RegisteredProof::named(Kind::Window, "StackedDrgWindow32GiBV1_2").unwrap();
        assert_eq!(window.post_config().sector_count, 2349);
    }

    #[test]
    fn other_names_are_refused_with_an_example() {
        let refused = RegisteredProof::named(Kind::Window, "StackedDrg2KiBV1").unwrap_err().to_string();
        assert!(refused.contains("`StackedDrg2KiBV1`") && refused.contains("`StackedDrgWindow2KiBV1_2`"), "{refused}");
        assert!(RegisteredProof::named(Kind::Porep, "StackedDrg4KiBV1").is_err());
        assert!(RegisteredProof::named(Kind::Porep, "Update StackedDrg2KiBV1").is_err());
        assert!("sealing".parse::<Kind>().is_err());
    }
}
