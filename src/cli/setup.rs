//! `proofline setup`: a key for tests and development.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use proofline::setup::{Entropy, generate_for};
use proofline::verify::snarkjs;
use proofline::{Convention, PARAMS_FILE, VK_FILE, ZKEY_FILE, Zkey};

use super::exit::Fault;
use super::files;
use super::room::expect_room_for_new_key;
use super::stored::{self, Choice};
use super::watch::with_bars;

/// Makes a key (`circuit.params`, `circuit.vk`) for a circuit, and keeps the circuit beside it (`circuit.pce`). NOT a
/// ceremony: for tests and development only.
#[derive(Args)]
#[command(
    group = ArgGroup::new("what").required(true),
    after_help = "Example:\n  proofline setup --circuit sha256:4 --seed demo -o out/keys"
)]
pub struct Setup {
    #[command(flatten)]
    choice: Choice,
    /// Makes the key from this text instead of the system's randomness: the same text, the same key
    #[arg(long, value_parser = clap::builder::NonEmptyStringValueParser::new())]
    seed: Option<String>,
    /// What to write: bellperson's `circuit.params` and `circuit.vk`, or snarkjs' `circuit.zkey` and
    /// `verification_key.json`
    #[arg(long, value_enum, default_value_t = KeyFormat::Params)]
    format: KeyFormat,
    /// Replaces the key that is in the folder already: proofs made with it no longer verify
    #[arg(long)]
    force: bool,
    /// The folder to write to
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

/// Which files a key goes to.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum KeyFormat {
    Params,
    Zkey,
}

/// Its verifying key.
const VK_JSON_FILE: &str = "verification_key.json";

impl Setup {
    pub fn run(&self) -> Result<(), Fault> {
        tell!("warning: this is not a ceremony. Whoever runs it, or knows the seed, can forge proofs for this key;");
        tell!("         use it for tests and development, or where prover and verifier are the same.");
        // Before any work: a place that cannot be written to must not cost an hour.
        let _lock = files::FolderLock::take(&self.output)?;
        let (key, other) = match self.format {
            KeyFormat::Params => (PARAMS_FILE, ZKEY_FILE),
            KeyFormat::Zkey => (ZKEY_FILE, PARAMS_FILE),
        };
        let [key, other] = [key, other].map(|name| self.output.join(name));
        // A folder means its one key; of two, the wrong one would be taken without a word.
        if other.exists() {
            return Err(Fault::Usage(format!(
                "{} is another key, of the other format: choose another folder, or remove it first",
                other.display()
            )));
        }
        let made = match self.format {
            KeyFormat::Params => vec![key.clone(), self.output.join(VK_FILE), stored::beside(&self.output)],
            KeyFormat::Zkey => vec![key.clone(), self.output.join(VK_JSON_FILE)],
        };
        // Somebody's verifying key may lie alone there.
        if let Some(there) = made.iter().find(|file| file.exists()).filter(|_| !self.force) {
            return Err(Fault::Usage(format!(
                "{} is there already: choose another folder, or replace the key with --force",
                there.display()
            )));
        }
        let r1cs = self.choice.r1cs.iter().map(|file| ("--r1cs", file));
        files::expect_unread(r1cs, made.iter().map(|file| ("the key", file.as_path())))?;
        let shape = self.choice.extract()?;
        let unused = shape.unused();
        if let Some(first) = unused.first().filter(|_| self.format == KeyFormat::Params) {
            tell!(
                "note: {} of {} variables occur in no constraint, the first is number {first}; bellperson does not read \
                 keys of such circuits",
                unused.len(),
                shape.variables()
            );
        }
        expect_room_for_new_key(&shape)?;
        let entropy = self.seed.as_deref().map_or(Entropy::System, Entropy::Seed);
        let convention = match self.format {
            KeyFormat::Params => Convention::Coefficients,
            KeyFormat::Zkey => Convention::OddCoset,
        };
        let parameters = with_bars(|watch| generate_for(&shape, convention, &entropy, watch))?;
        match self.format {
            KeyFormat::Params => {
                parameters.write(&self.output)?;
                shape.write(&stored::beside(&self.output), self.choice.origin()?)?;
            }
            KeyFormat::Zkey => {
                Zkey::write(&key, &parameters, &shape)?;
                files::write(&self.output.join(VK_JSON_FILE), snarkjs::write_key(&parameters.vk).as_bytes())?;
            }
        }
        say!(
            "{}: {} constraints, {} inputs, {} aux, domain {}; key written to {}",
            shape.name(),
            shape.constraints(),
            shape.inputs(),
            shape.aux(),
            shape.domain().size(),
            self.output.display()
        );
        Ok(())
    }
}
