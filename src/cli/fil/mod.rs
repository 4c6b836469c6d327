//! `proofline fil`: sectors and keys of Filecoin's, for tests and demonstrations.

#[cfg(feature = "filecoin")]
mod circuit;
#[cfg(feature = "filecoin")]
mod fabricate;
#[cfg(feature = "filecoin")]
mod params;
#[cfg(feature = "filecoin")]
mod seal;

#[cfg(feature = "filecoin")]
use std::path::Path;
use std::path::PathBuf;

use clap::{Args, Subcommand};
#[cfg(feature = "filecoin")]
use proofline::Error;
#[cfg(feature = "filecoin")]
use proofline::filecoin::{Family, Kind};

use super::exit::Fault;

/// Makes sectors and keys of Filecoin's, for tests and demonstrations.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  proofline fil seal --size 2KiB -n 3 -o out/sectors\n  proofline fil params window --size 2KiB \
                  --seed demo -o out/keys"
)]
pub struct FilCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Seals sectors of random data and writes what proofs of them are made of: C1 outputs, vanilla proofs, statements
    #[command(after_help = "Example:\n  proofline fil seal --size 2KiB -n 3 -o out/sectors")]
    Seal(Seal),
    /// Makes up vanilla proofs of sectors that never were, for proofs of spacetime of any size: what a circuit cannot tell
    #[command(after_help = "Example:\n  proofline fil fabricate winning --size 32GiB -o out/winning")]
    Fabricate(Fabricate),
    /// Makes a key under the network's name for it. NOT a ceremony: for tests and development only
    #[command(after_help = "Example:\n  proofline fil params porep --size 2KiB --seed demo -o out/keys")]
    Params(Params),
    /// Compiles a circuit into the file that lies beside its key, piece by piece: also where memory would not hold the rows
    /// of a production size
    #[command(after_help = "Example:\n  proofline fil circuit porep --size 32GiB -o out/keys")]
    Circuit(Circuit),
}

#[derive(Args)]
struct Seal {
    /// The size of the sectors: 2KiB, 8MiB, 512MiB, …
    #[arg(long, value_name = "SIZE", default_value = "2KiB")]
    size: String,
    /// The registered proof that is sealed for [default: the newest of the size]
    #[arg(long, value_name = "NAME")]
    registered: Option<String>,
    /// Sectors
    #[arg(short = 'n', value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    sectors: u64,
    /// The miner: an actor's number
    #[arg(long, value_name = "ID", default_value = "f01000")]
    miner: String,
    /// What data and the chain's randomness are drawn from: the same text, the same sectors
    #[arg(long, value_name = "TEXT", default_value = "demo")]
    seed: String,
    /// Replaces what is in the folder already
    #[arg(long)]
    force: bool,
    /// The folder to write to
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

#[derive(Args)]
struct Fabricate {
    /// The kind of proof: `winning` or `window`
    #[arg(value_name = "KIND")]
    kind: String,
    /// The size of the sectors
    #[arg(long, value_name = "SIZE", default_value = "32GiB")]
    size: String,
    /// Sectors; one for winning
    #[arg(short = 'n', value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    sectors: u64,
    /// The miner: an actor's number
    #[arg(long, value_name = "ID", default_value = "f01000")]
    miner: String,
    /// What nodes and randomness are drawn from: the same text, the same vanilla proofs
    #[arg(long, value_name = "TEXT", default_value = "demo")]
    seed: String,
    /// Replaces what is in the folder already
    #[arg(long)]
    force: bool,
    /// The folder to write to
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

#[derive(Args)]
struct Params {
    /// The kind of proof: `porep`, `winning`, `window` or `update`
    #[arg(value_name = "KIND")]
    kind: String,
    /// The size of the sectors
    #[arg(long, value_name = "SIZE", default_value = "2KiB")]
    size: String,
    /// Makes the key from this text instead of the system's randomness: the same text, the same key
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    seed: Option<String>,
    /// Replaces the key that is in the folder already: proofs made with it no longer verify
    #[arg(long)]
    force: bool,
    /// The folder of keys [default: that of FIL_PROOFS_PARAMETER_CACHE, or the network's usual one]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

#[derive(Args)]
struct Circuit {
    /// The kind of proof: `porep`, `winning`, `window` or `update`
    #[arg(value_name = "KIND")]
    kind: String,
    /// The size of the sectors
    #[arg(long, value_name = "SIZE", default_value = "2KiB")]
    size: String,
    /// Replaces the circuit that is in the folder already
    #[arg(long)]
    force: bool,
    /// The folder of keys [default: that of FIL_PROOFS_PARAMETER_CACHE, or the network's usual one]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// The circuit of a kind of proof and a size of sectors, as they were given.
#[cfg(feature = "filecoin")]
fn family(kind: &str, size: &str) -> Result<Family, Fault> {
    let kind: Kind = kind.parse().map_err(|fault: Error| Fault::Usage(fault.to_string()))?;
    Ok(Family { kind, size: size.parse()? })
}

/// The fault of a file that a run without `--force` would replace.
#[cfg(feature = "filecoin")]
fn there_already(file: &Path) -> Fault {
    Fault::Usage(format!("{} is there already: choose another folder, or use --force", file.display()))
}

impl FilCommand {
    #[cfg(feature = "filecoin")]
    pub fn run(&self) -> Result<(), Fault> {
        match &self.action {
            Action::Seal(seal) => seal.run(),
            Action::Fabricate(fabricate) => fabricate.run(),
            Action::Params(params) => params.run(),
            Action::Circuit(circuit) => circuit.run(),
        }
    }

    #[cfg(not(feature = "filecoin"))]
    pub fn run(&self) -> Result<(), Fault> {
        // What they would be asked to do is read by builds that can do it.
        match &self.action {
            Action::Seal(Seal { size, registered, sectors, miner, seed, force, output }) => {
                let _ = (size, registered, sectors, miner, seed, force, output);
            }
            Action::Fabricate(Fabricate { kind, size, sectors, miner, seed, force, output }) => {
                let _ = (kind, size, sectors, miner, seed, force, output);
            }
            Action::Params(Params { kind, size, seed, force, output }) => {
                let _ = (kind, size, seed, force, output);
            }
            Action::Circuit(Circuit { kind, size, force, output }) => {
                let _ = (kind, size, force, output);
            }
        }
        Err(super::filecoin::missing())
    }
}
