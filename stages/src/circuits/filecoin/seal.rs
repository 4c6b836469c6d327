//! Sectors for tests and demonstrations: sealed here, with all that proofs of them are made of.

use std::fs;
use std::path::{Path, PathBuf};

use filecoin_proofs::types::{
    PieceInfo, PrivateReplicaInfo, SealCommitPhase1Output, SealPreCommitOutput, SectorUpdateConfig,
};
use filecoin_proofs::{
    PoRepConfig, add_piece, clear_cache, encode_into, generate_fallback_sector_challenges, generate_partition_proofs,
    generate_piece_commitment, generate_single_vanilla_proof, generate_synth_proofs, seal_commit_phase1,
    seal_pre_commit_phase1, seal_pre_commit_phase2, validate_cache_for_commit,
};
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha20Rng;
use serde_json::json;
use sha2::{Digest, Sha256};
use storage_proofs_core::api_version::{ApiFeature, ApiVersion};
use storage_proofs_core::sector::SectorId;

use super::bytes::Bytes32;
use super::circuit::Shape;
use super::family::{Family, Kind};
use super::guard::caught;
use super::made::{Made, with_statement};
use super::porep::SealStatement;
use super::post::PostStatement;
use super::registered::{RegisteredProof, porep_config_of};
use super::size::{SectorSize, of_size};
use super::statement::Statement;
use super::update::UpdateStatement;
use crate::error::Error;
use crate::partial::PartialFile;

/// Larger sectors take more memory and time than a test may: sealing is not what this program is for.
const LARGEST: u64 = 512 << 20;
/// The bits of the last byte of an element of the field that are free.
pub(super) const FREE_BITS: u8 = 0x3f;

/// Which sectors to make. The same description makes the same sectors.
pub struct Sealing<'a> {
    /// Their size.
    pub size: SectorSize,
    /// The rules that their proofs of replication follow; `None` where none are registered for the size, and then there are
    /// no C1 outputs.
    pub proof: Option<RegisteredProof>,
    /// The miner's [identity](super::prover_id).
    pub prover: Bytes32,
    /// So many, with the numbers 1, 2, ….
    pub sectors: u64,
    /// What data and the chain's randomness are drawn from.
    pub seed: &'a str,
}

impl Sealing<'_> {
    /// Seals the sectors and writes into the folder, for each sector N: `porep-N.c1.json`, `winning-N.vanilla.bincode`,
    /// `window-N.vanilla.bincode` and `update-N.vanilla-K.bincode`; and what each is about: `….statement.json`. The sectors
    /// themselves are not kept. `watch` is told of each sector.
    ///
    /// # Errors
    /// The sectors are too large to be sealed here, or a file cannot be written.
    pub fn write(&self, folder: &Path, watch: &dyn Fn(u64)) -> Result<Vec<Made>, Error> {
        if self.size.bytes() > LARGEST {
            return Err(Error::BadText(format!(
                "sectors of {} are not sealed here: that takes hours and hundreds of gigabytes; 2KiB does for tests, and \
                 {} is the largest",
                self.size,
                SectorSize::of_bytes(LARGEST)?
            )));
        }
        of_size!(self.size, write_shaped(self, folder, watch))
    }

    fn config(&self) -> PoRepConfig {
        self.proof
            .map_or_else(|| porep_config_of(self.size, [0; 32], ApiVersion::V1_1_0), RegisteredProof::porep_config)
    }

    /// 32 bytes that depend on the seed and this name.
    fn draw(&self, what: &str) -> Bytes32 {
        Sha256::digest(format!("sector {} {what} {}", self.size, self.seed)).into()
    }

    fn element(&self, what: &str) -> Bytes32 {
        let mut bytes = self.draw(what);
        bytes[31] &= FREE_BITS;
        bytes
    }

    fn newest(&self, kind: Kind) -> Result<RegisteredProof, Error> {
        RegisteredProof::newest(Family { kind, size: self.size })
    }
}

/// A sector on disk while proofs are drawn from it.
struct Sector {
    number: u64,
    cache: PathBuf,
    sealed: PathBuf,
    comm_r: Bytes32,
}

fn write_shaped<Tree: Shape>(sealing: &Sealing<'_>, folder: &Path, watch: &dyn Fn(u64)) -> Result<Vec<Made>, Error> {
    let work = folder.join("sectors.partial");
    if work.exists() {
        fs::remove_dir_all(&work).map_err(Error::io("remove", &work))?;
    }
    fs::create_dir_all(&work).map_err(Error::io("create", &work))?;
    let made = seal_all::<Tree>(sealing, folder, &work, watch);
    // Gone also where sealing failed: they may be what filled the disk.
    let removed = fs::remove_dir_all(&work).map_err(Error::io("remove", &work));
    let made = made?;
    removed.map(|()| made)
}

fn seal_all<Tree: Shape>(
    sealing: &Sealing<'_>,
    folder: &Path,
    work: &Path,
    watch: &dyn Fn(u64),
) -> Result<Vec<Made>, Error> {
    let mut made = Vec::new();
    let mut sectors = Vec::new();
    for number in 1..=sealing.sectors {
        watch(number);
        let place = work.join(number.to_string());
        let cache = place.join("cache");
        fs::create_dir_all(&cache).map_err(Error::io("create", &cache))?;
        let sector = seal_one::<Tree>(sealing, number, &place, folder, &mut made)?;
        made.extend(update::<Tree>(sealing, &sector, &place, folder)?);
        sectors.push(sector);
    }
    for sector in &sectors {
        made.push(post::<Tree>(sealing, Kind::Winning, std::slice::from_ref(sector), folder)?);
    }
    made.push(post::<Tree>(sealing, Kind::Window, &sectors, folder)?);
    Ok(made)
}

/// Runs the network's code; what fails here is neither the user's fault nor a file's.
fn theirs<T>(what: &str, work: impl FnOnce() -> anyhow::Result<T>) -> Result<T, Error> {
    caught(work).map_err(|fault| Error::Internal(format!("{what}: {fault}")))
}

/// Random data, as a staged sector.
fn stage(sealing: &Sealing<'_>, what: &str, staged: &Path) -> Result<PieceInfo, Error> {
    let amount = sealing.config().unpadded_bytes_amount();
    let mut data = vec![0; usize::try_from(u64::from(amount)).unwrap_or_default()];
    ChaCha20Rng::from_seed(sealing.draw(what)).fill_bytes(&mut data);
    let target = fs::File::create(staged).map_err(Error::io("create", staged))?;
    theirs("staging a sector's data", || {
        let info = generate_piece_commitment(&data[..], amount)?;
        add_piece(&data[..], &target, amount, &[])?;
        Ok(info)
    })
}

fn seal_one<Tree: Shape>(
    sealing: &Sealing<'_>,
    number: u64,
    place: &Path,
    folder: &Path,
    made: &mut Vec<Made>,
) -> Result<Sector, Error> {
    let [staged, sealed, cache] = ["staged", "sealed", "cache"].map(|name| place.join(name));
    let piece = stage(sealing, &format!("data {number}"), &staged)?;
    fs::File::create(&sealed).map_err(Error::io("create", &sealed))?;
    let (config, id) = (sealing.config(), SectorId::from(number));
    let (ticket, seed) = (sealing.draw(&format!("ticket {number}")), sealing.draw(&format!("challenges {number}")));
    let pieces = [piece];
    let SealPreCommitOutput { comm_r, comm_d } = theirs("sealing a sector", || {
        let labels = seal_pre_commit_phase1::<_, _, _, Tree>(
            &config,
            &cache,
            &staged,
            &sealed,
            sealing.prover,
            id,
            ticket,
            &pieces,
        )?;
        seal_pre_commit_phase2::<_, _, Tree>(&config, labels, &cache, &sealed)
    })?;
    let pre_commit = || SealPreCommitOutput { comm_r, comm_d };
    if let Some(proof) = sealing.proof {
        let c1 = theirs("commit phase 1", || {
            if config.feature_enabled(ApiFeature::SyntheticPoRep) {
                let (prover, out) = (sealing.prover, pre_commit());
                generate_synth_proofs::<_, Tree>(&config, &cache, &sealed, prover, id, ticket, out, &pieces)?;
                clear_cache(&cache)?;
            } else {
                validate_cache_for_commit::<_, _, Tree>(&cache, &sealed)?;
            }
            seal_commit_phase1::<_, Tree>(
                &config,
                &cache,
                &sealed,
                sealing.prover,
                id,
                ticket,
                seed,
                pre_commit(),
                &pieces,
            )
        })?;
        let SealCommitPhase1Output { vanilla_proofs, comm_r, comm_d, replica_id, seed, ticket } = c1;
        let shape = format!("StackedDrg{}V1", sealing.size);
        let text = json!({
            "registered_proof": proof.to_string(),
            "vanilla_proofs": { shape: vanilla_proofs },
            "comm_r": comm_r, "comm_d": comm_d, "replica_id": replica_id, "seed": seed, "ticket": ticket,
        });
        let statement = SealStatement { proof, prover: sealing.prover, sector: number, comm_d, comm_r, ticket, seed };
        let file = folder.join(format!("porep-{number}.c1.json"));
        PartialFile::write_whole(&file, text.to_string().as_bytes())?;
        made.push(with_statement(folder, &format!("porep-{number}"), Statement::Seal(statement), vec![file])?);
    }
    Ok(Sector { number, cache, sealed, comm_r })
}

fn post<Tree: Shape>(sealing: &Sealing<'_>, kind: Kind, sectors: &[Sector], folder: &Path) -> Result<Made, Error> {
    let proof = sealing.newest(kind)?;
    let config = proof.post_config();
    let randomness = sealing.element("randomness");
    let ids: Vec<SectorId> = sectors.iter().map(|sector| SectorId::from(sector.number)).collect();
    let mut vanilla = Vec::new();
    for sector in sectors {
        let bytes = theirs("the vanilla proof of a sector", || {
            let challenges = generate_fallback_sector_challenges::<Tree>(&config, &randomness, &ids, sealing.prover)?;
            let id = SectorId::from(sector.number);
            let replica = PrivateReplicaInfo::<Tree>::new(sector.sealed.clone(), sector.comm_r, sector.cache.clone())?;
            let drawn = challenges.get(&id).map_or(&[][..], Vec::as_slice);
            Ok(bincode::serialize(&generate_single_vanilla_proof::<Tree>(&config, id, &replica, drawn)?)?)
        })?;
        let file = folder.join(format!("{kind}-{}.vanilla.bincode", sector.number));
        PartialFile::write_whole(&file, &bytes)?;
        vanilla.push(file);
    }
    let sectors: Vec<(u64, Bytes32)> = sectors.iter().map(|sector| (sector.number, sector.comm_r)).collect();
    let name = if kind == Kind::Winning { format!("winning-{}", sectors[0].0) } else { "window".to_owned() };
    let statement = PostStatement { proof, prover: sealing.prover, randomness, sectors };
    with_statement(folder, &name, Statement::Post(statement), vanilla)
}

fn update<Tree: Shape>(
    sealing: &Sealing<'_>,
    sector: &Sector,
    place: &Path,
    folder: &Path,
) -> Result<Option<Made>, Error> {
    // The synthetic way has cleared the trees that an update wants.
    if sealing.proof.is_some_and(|proof| proof.porep_config().feature_enabled(ApiFeature::SyntheticPoRep)) {
        return Ok(None);
    }
    let Ok(proof) = sealing.newest(Kind::Update) else { return Ok(None) };
    let config = SectorUpdateConfig::from_porep_config(&proof.porep_config());
    let [staged, replica, cache] = ["new-staged", "new-sealed", "new-cache"].map(|name| place.join(name));
    fs::create_dir_all(&cache).map_err(Error::io("create", &cache))?;
    let piece = stage(sealing, &format!("new data {}", sector.number), &staged)?;
    // It is mapped at its full length.
    let file = fs::File::create(&replica).map_err(Error::io("create", &replica))?;
    file.set_len(sealing.size.bytes()).map_err(Error::io("write", &replica))?;
    let (key, key_cache, old) = (&sector.sealed, &sector.cache, sector.comm_r);
    let (encoded, proofs) = theirs("the vanilla proofs of an update", || {
        let encoded = encode_into::<Tree>(&config, &replica, &cache, key, key_cache, &staged, &[piece])?;
        let (new, data) = (encoded.comm_r_new, encoded.comm_d_new);
        let proofs = generate_partition_proofs::<Tree>(config, old, new, data, key, key_cache, &replica, &cache)?;
        let proofs: Result<Vec<Vec<u8>>, _> = proofs.iter().map(bincode::serialize).collect();
        Ok((encoded, proofs?))
    })?;
    let mut vanilla = Vec::new();
    for (partition, bytes) in proofs.iter().enumerate() {
        let file = folder.join(format!("update-{}.vanilla-{partition}.bincode", sector.number));
        PartialFile::write_whole(&file, bytes)?;
        vanilla.push(file);
    }
    let (comm_r_new, comm_d_new) = (encoded.comm_r_new, encoded.comm_d_new);
    let statement = UpdateStatement { proof, comm_r_old: old, comm_r_new, comm_d_new };
    with_statement(folder, &format!("update-{}", sector.number), Statement::Update(statement), vanilla).map(Some)
}
