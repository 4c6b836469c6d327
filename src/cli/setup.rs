//! `proofline setup`: a key for tests and development.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use proofline::setup::{Entropy, generate};
use proofline::Progress;

use super::exit::Fault;
use super::stored::{self, Choice};
use super::watch::{Bars, pool_of_all_cores};

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
    #[arg(long)]
    seed: Option<String>,
    /// The folder to write to
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

impl Setup {
    pub fn run(&self) -> Result<(), Fault> {
        eprintln!(
            "warning: this is not a ceremony. Whoever runs it, or knows the seed, can forge proofs for this key;"
        );
        eprintln!("         use it for tests and development, or where prover and verifier are the same.");
        let shape = self.choice.extract()?;
        let unused = shape.unused();
        if let Some(first) = unused.first() {
            eprintln!(
                "note: {} of {} variables occur in no constraint, the first is number {first}; bellperson does not read \
                 keys of such circuits",
                unused.len(),
                shape.variables()
            );
        }
        let entropy = self.seed.as_deref().map_or(Entropy::System, Entropy::Seed);
        let bars = Bars::new();
        let watch = |progress: Progress| bars.progress(progress);
        let parameters = pool_of_all_cores()?.install(|| generate(&shape, &entropy, &watch))?;
        bars.clear();
        parameters.write(&self.output)?;
        shape.write(&stored::beside(&self.output), self.choice.origin()?)?;
        println!(
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
