//! Vanilla proofs of sectors that never were: random nodes beside the paths of the challenges, up to a root.
//!
//! A circuit cannot tell, for nothing in a proof of spacetime says that a sector was sealed. So the proofs of production sizes
//! can be tried without sectors of 32 GiB.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use filecoin_hashers::poseidon::{PoseidonDomain, PoseidonFunction};
use filecoin_hashers::{Domain, HashFunction};
use filecoin_proofs::constants::{is_sector_shape_base, is_sector_shape_sub2, is_sector_shape_sub8};
use filecoin_proofs::generate_fallback_sector_challenges;
use sha2::{Digest, Sha256};
use storage_proofs_core::sector::SectorId;
use storage_proofs_core::util::NODE_SIZE;

use super::bytes::Bytes32;
use super::circuit::Shape;
use super::family::Kind;
use super::guard::caught;
use super::made::{Made, statement_in, with_statement};
use super::post::PostStatement;
use super::registered::RegisteredProof;
use super::seal::FREE_BITS;
use super::size::of_size;
use super::statement::Statement;
use crate::error::Error;
use crate::partial::PartialFile;

/// Children of a node in the trees at the bottom.
const ARITY: usize = 8;

/// Which proof of spacetime to make vanilla proofs for. The same description makes the same ones.
pub struct Fabricating<'a> {
    /// The registered proof, of the kind winning or window.
    pub proof: RegisteredProof,
    /// The miner's [identity](super::prover_id).
    pub prover: Bytes32,
    /// So many sectors, with the numbers 1, 2, …; one for winning.
    pub sectors: u64,
    /// What nodes and randomness are drawn from.
    pub seed: &'a str,
}

impl Fabricating<'_> {
    /// Writes a vanilla proof for each sector, and the statement.
    ///
    /// # Errors
    /// The proof is of another kind, or a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<Made, Error> {
        self.expect_possible()?;
        fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        of_size!(self.proof.family().size, write_shaped(self, folder))
    }

    /// Whether there are such vanilla proofs.
    ///
    /// # Errors
    /// The proof is of another kind, or is not of so many sectors.
    pub fn expect_possible(&self) -> Result<(), Error> {
        let kind = self.proof.family().kind;
        if !matches!(kind, Kind::Winning | Kind::Window) || (kind == Kind::Winning && self.sectors != 1) {
            return Err(Error::BadText(format!(
                "vanilla proofs can be made up for window, and for one sector of winning, not for {} of {kind}",
                self.sectors
            )));
        }
        Ok(())
    }

    /// Where the statement will be.
    #[must_use]
    pub fn statement_in(&self, folder: &Path) -> PathBuf {
        statement_in(folder, self.name())
    }

    fn name(&self) -> &'static str {
        if self.proof.family().kind == Kind::Winning { "winning-1" } else { "window" }
    }

    /// An element of the field that depends on the seed and this name.
    fn draw(&self, what: &str) -> Bytes32 {
        let mut bytes: Bytes32 = Sha256::digest(format!("made up {} {what} {}", self.proof, self.seed)).into();
        bytes[31] &= FREE_BITS;
        bytes
    }
}

fn write_shaped<Tree: Shape>(making: &Fabricating<'_>, folder: &Path) -> Result<Made, Error> {
    let family = making.proof.family();
    let randomness = making.draw("randomness");
    let ids: Vec<SectorId> = (1..=making.sectors).map(SectorId::from).collect();
    let config = making.proof.post_config();
    let drawn = caught(|| generate_fallback_sector_challenges::<Tree>(&config, &randomness, &ids, making.prover));
    let drawn = drawn.map_err(|fault| Error::Internal(format!("the challenges: {fault}")))?;
    let (mut vanilla, mut sectors) = (Vec::new(), Vec::new());
    for (id, challenges) in drawn {
        let number = u64::from(id);
        let tree = SparseTree::over(making, number, &challenges);
        let comm_c = making.draw(&format!("comm_c of {number}"));
        let comm_r: Bytes32 = PoseidonFunction::hash2(&domain(&comm_c)?, &domain(&tree.root)?).into();
        // As bincode writes a vanilla proof of a sector.
        let mut bytes = number.to_le_bytes().to_vec();
        bytes.extend(comm_r);
        put_count(&mut bytes, 1);
        put_count(&mut bytes, challenges.len());
        challenges.iter().for_each(|leaf| tree.put_proof(*leaf, &mut bytes));
        bytes.extend(comm_c);
        bytes.extend(tree.root);
        let file = folder.join(format!("{}-{number}.vanilla.bincode", family.kind));
        PartialFile::write_whole(&file, &bytes)?;
        vanilla.push(file);
        sectors.push((number, comm_r));
    }
    let statement = PostStatement { proof: making.proof, prover: making.prover, randomness, sectors };
    with_statement(folder, making.name(), Statement::Post(statement), vanilla)
}

fn domain(bytes: &Bytes32) -> Result<PoseidonDomain, Error> {
    PoseidonDomain::try_from_bytes(bytes).map_err(|fault| Error::Internal(format!("a node of a tree: {fault}")))
}

fn put_count(bytes: &mut Vec<u8>, count: usize) {
    bytes.extend((count as u64).to_le_bytes());
}

/// A tree of which only what lies beside some paths is there.
struct SparseTree {
    /// Children of a node, from the leaves to the root.
    arities: Vec<usize>,
    /// The heights that are in trees at the bottom; each of the others is a tree of its own.
    base: usize,
    /// At each height the known groups of siblings, by the position of their parent.
    groups: Vec<BTreeMap<u64, Vec<Bytes32>>>,
    root: Bytes32,
}

impl SparseTree {
    fn over(making: &Fabricating<'_>, sector: u64, leaves: &[u64]) -> Self {
        let bytes = making.proof.family().size.bytes();
        let above: &[usize] = match bytes {
            _ if is_sector_shape_base(bytes) => &[],
            _ if is_sector_shape_sub2(bytes) => &[2],
            _ if is_sector_shape_sub8(bytes) => &[8],
            _ => &[8, 2],
        };
        let nodes = bytes / NODE_SIZE as u64 / above.iter().product::<usize>() as u64;
        let base = (nodes.trailing_zeros() / ARITY.trailing_zeros()) as usize;
        let arities = [&vec![ARITY; base][..], above].concat();
        let draw = |height: usize, at: u64| making.draw(&format!("node {at} at height {height} of {sector}"));
        let mut known: BTreeMap<u64, Bytes32> = leaves.iter().map(|at| (*at, draw(0, *at))).collect();
        let mut groups = Vec::new();
        for (height, arity) in arities.iter().enumerate() {
            let parents: BTreeMap<u64, Vec<Bytes32>> = known
                .keys()
                .map(|at| at / *arity as u64)
                .map(|parent| {
                    let children = (0..*arity as u64).map(|child| parent * *arity as u64 + child);
                    (parent, children.map(|at| known.get(&at).copied().unwrap_or_else(|| draw(height, at))).collect())
                })
                .collect();
            known =
                parents.iter().map(|(at, children)| (*at, PoseidonFunction::hash(&children.concat()).into())).collect();
            groups.push(parents);
        }
        let root = known.get(&0).copied().unwrap_or_default();
        Self { arities, base, groups, root }
    }

    /// The proof of a leaf, as bincode writes it.
    fn put_proof(&self, leaf: u64, bytes: &mut Vec<u8>) {
        let value = self.groups[0][&(leaf / self.arities[0] as u64)][(leaf % self.arities[0] as u64) as usize];
        let trees_above = self.arities.len() - self.base;
        bytes.extend((trees_above as u32).to_le_bytes());
        let ends = [&self.root[..], &value].concat();
        // A tree alone has its root and leaf before the path, others behind the paths.
        if trees_above == 0 {
            bytes.extend(&ends);
        }
        let mut at = leaf;
        for (height, arity) in self.arities.iter().enumerate() {
            if height == 0 || height >= self.base {
                put_count(bytes, if height == 0 { self.base } else { 1 });
            }
            let (parent, place) = (at / *arity as u64, (at % *arity as u64) as usize);
            put_count(bytes, arity - 1);
            let siblings = self.groups[height][&parent].iter().enumerate().filter(|(other, _)| *other != place);
            siblings.for_each(|(_, sibling)| bytes.extend(sibling));
            put_count(bytes, place);
            at = parent;
        }
        if trees_above > 0 {
            bytes.extend(&ends);
        }
    }
}
