//! What a Filecoin proof is made of, and how it leaves.

use std::path::{Path, PathBuf};

use proofline::filecoin::{Kind, PARTITION_PROOF_BYTES, PostStatement, Statement, Task, parse_hex, read_c1};
use proofline::{CircuitShape, Error, Proof, ProvingKey, VerifyingKey, WitnessSource};
use serde_json::{Map, Value};

use super::{ClaimArgs, FilecoinArgs, keys};
use crate::cli::exit::Fault;
use crate::cli::files;

/// The C1 output of a sector of 64 GiB has some 60 MB, and its wrapper a third more.
const MOST_C1_BYTES: u64 = 1 << 30;
/// A vanilla proof has some kilobytes to a megabyte.
const MOST_VANILLA_BYTES: u64 = 1 << 28;
/// What a batch of the most partitions has is far less.
const MOST_PROOF_BYTES: u64 = 1 << 24;

/// A statement, and the witnesses of its partitions.
pub struct Input {
    statement: Statement,
    task: Task,
}

impl Input {
    /// Reads the vanilla proofs and holds them against the statement.
    pub fn gather(args: &FilecoinArgs) -> Result<Self, Fault> {
        let kind = args.claim.kind()?;
        let fields = args.claim.fields()?;
        match (kind, &args.c1, args.vanilla.is_empty()) {
            (Kind::Porep, Some(c1), true) => Self::of_c1(c1, &fields),
            (Kind::Porep, ..) => Err(Fault::Usage("a porep proof is made of --c1 FILE, and of nothing else".into())),
            (_, None, false) => Self::of_vanilla(args.claim.statement_of(&fields)?, &args.vanilla),
            _ => Err(Fault::Usage(format!(
                "--filecoin {kind}: such a proof is made of --vanilla FILE …, and of nothing else"
            ))),
        }
    }

    fn of_c1(c1: &Path, fields: &Map<String, Value>) -> Result<Self, Fault> {
        let given = |name: &str, option: &str| {
            fields
                .get(name)
                .ok_or_else(|| Fault::Usage(format!("say whose C1 output it is: {option}, or --statement FILE")))
        };
        let prover = given("prover_id", "--miner ID")?.as_str().unwrap_or_default();
        let prover = parse_hex("`prover_id`", prover)?;
        let sector = given("sector_id", "--sector N")?;
        let sector = sector.as_u64().ok_or_else(|| Error::BadText("`sector_id` must be a whole number".to_owned()))?;
        let (statement, task) = read_c1(c1, &files::read(c1, MOST_C1_BYTES)?, (prover, sector))?;
        let statement = Statement::Seal(statement);
        let Value::Object(of_c1) = statement.to_json() else {
            return Err(Fault::Internal("a statement that is no JSON object".into()));
        };
        // Both sides are in the one form of fields, and the C1 output has all of them.
        let other =
            of_c1.iter().find_map(|(name, found)| Some((name, found, fields.get(name).filter(|it| *it != found)?)));
        match other {
            Some((name, found, given)) => Err(Error::Mismatch(format!(
                "`{name}` is said to be {given}, and {} has {found}: give the C1 output of that sector, or leave `{name}` out",
                c1.display()
            ))
            .into()),
            None => Ok(Self { statement, task }),
        }
    }

    fn of_vanilla(mut statement: Statement, vanilla: &[PathBuf]) -> Result<Self, Fault> {
        let bytes = vanilla.iter().map(|file| files::read(file, MOST_VANILLA_BYTES)).collect::<Result<Vec<_>, _>>()?;
        let files: Vec<(&Path, &[u8])> =
            vanilla.iter().zip(&bytes).map(|(file, bytes)| (&**file, &bytes[..])).collect();
        let task = match &mut statement {
            Statement::Post(post) => PostStatement::read_vanilla(post, &files)?,
            Statement::Update(update) => update.read_vanilla(&files)?,
            Statement::Seal(_) => return Err(Fault::Internal("a porep proof of vanilla proofs".into())),
        };
        Ok(Self { statement, task })
    }

    /// The circuit and its key, from a folder of keys.
    pub fn material(&self, folder: Option<&Path>, published: bool) -> Result<(CircuitShape, ProvingKey), Fault> {
        keys::read(self.statement.family(), folder, published)
    }

    /// The witness of each partition.
    pub fn sources(&self) -> Vec<WitnessSource> {
        self.task.witnesses()
    }

    /// The proof of all partitions, which the network's own code has judged, and the statement.
    pub fn proof(&self, key: &ProvingKey, proofs: &[Proof]) -> Result<(Vec<u8>, String), Fault> {
        let bytes: Vec<u8> = proofs.iter().flat_map(|proof| proof.bytes).collect();
        debug_assert_eq!(bytes.len(), proofs.len() * PARTITION_PROOF_BYTES);
        if !self.statement.verify(key.verifying_key(), Path::new("the proof"), &bytes)? {
            let family = self.statement.family();
            return Err(Error::Mismatch(format!(
                "the network's verifier refuses the proof, so it is withheld: the key is not of {family}"
            ))
            .into());
        }
        Ok((bytes, format!("{:#}\n", self.statement.to_json())))
    }
}

/// Whether a proof proves what is claimed, by the network's own code.
pub fn verify(claim: &ClaimArgs, folder: Option<&Path>, vk: Option<&Path>, proof: &Path) -> Result<bool, Fault> {
    let statement = claim.whole()?;
    let key = match vk {
        Some(vk) => VerifyingKey::of_any(vk)?,
        None => keys::verifying_key(statement.family(), folder)?,
    };
    Ok(statement.verify(&key, proof, &files::read(proof, MOST_PROOF_BYTES)?)?)
}
