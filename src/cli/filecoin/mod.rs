//! `--filecoin` of `prove` and `verify`: what is asked for, whether or not this build can do it.

#[cfg(not(feature = "filecoin"))]
#[path = "missing.rs"]
mod input;
#[cfg(feature = "filecoin")]
mod input;
#[cfg(feature = "filecoin")]
pub mod keys;
#[cfg(feature = "filecoin")]
mod statement;

use std::path::PathBuf;

use clap::Args;

use super::files::Named;

pub use input::{Input, verify};

/// A Filecoin proof that is to be made.
#[derive(Args)]
#[command(next_help_heading = "Filecoin")]
pub struct FilecoinArgs {
    #[command(flatten)]
    pub claim: ClaimArgs,
    /// porep: the output of commit phase 1 (C1) of the sector, JSON, or Curio's and Lotus' wrapper of it
    #[arg(long, value_name = "FILE", requires = "filecoin")]
    pub c1: Option<PathBuf>,
    /// winning, window: the sectors' vanilla proofs, bincode, a file for each; update: the partitions', in their order
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "filecoin")]
    pub vanilla: Vec<PathBuf>,
    /// Refuses a key whose bytes are not those that the network published
    #[arg(long, requires = "filecoin")]
    pub published: bool,
}

impl FilecoinArgs {
    /// The files that are read.
    pub fn files(&self) -> Vec<Named<'_>> {
        let one = [("--c1", &self.c1), ("--statement", &self.claim.statement)];
        let one = one.into_iter().filter_map(|(name, file)| Some((name, file.as_deref()?)));
        one.chain(self.vanilla.iter().map(|file| ("--vanilla", file.as_path()))).collect()
    }
}

/// What a Filecoin proof claims. A field stands in the file of the statement or on the command line.
#[derive(Args)]
#[command(next_help_heading = "Filecoin")]
pub struct ClaimArgs {
    /// A proof of Filecoin's: `porep`, `winning`, `window` or `update`
    #[arg(long = "filecoin", id = "filecoin", value_name = "KIND", group = "what")]
    pub kind: Option<String>,
    /// The statement, JSON as `fil seal` and `prove --filecoin` write it
    #[arg(long, value_name = "FILE", requires = "filecoin")]
    pub statement: Option<PathBuf>,
    /// The registered proof, as `StackedDrgWindow32GiBV1_2`
    #[arg(long, value_name = "NAME", requires = "filecoin")]
    pub registered: Option<String>,
    /// In its place: the newest registered proof for sectors of a size, as `32GiB`
    #[arg(long, value_name = "SIZE", requires = "filecoin", conflicts_with = "registered")]
    pub size: Option<String>,
    /// The miner: an actor's number, `f01000`
    #[arg(long, value_name = "ID", requires = "filecoin")]
    pub miner: Option<String>,
    /// porep: the number of the sector
    #[arg(long, value_name = "N", requires = "filecoin")]
    pub sector: Option<u64>,
    /// winning, window: the chain's randomness, 64 hexadecimal digits
    #[arg(long, value_name = "HEX", requires = "filecoin")]
    pub randomness: Option<String>,
    /// winning, window: the commitment to the replica of each sector, `N=HEX`; porep: `HEX`
    #[arg(long, value_name = "[N=]HEX", num_args = 1.., requires = "filecoin")]
    pub comm_r: Vec<String>,
    /// update: the commitment to the replica of the empty sector
    #[arg(long, value_name = "HEX", requires = "filecoin")]
    pub comm_r_old: Option<String>,
    /// update: the commitment to the replica with data
    #[arg(long, value_name = "HEX", requires = "filecoin")]
    pub comm_r_new: Option<String>,
    /// update: the commitment to the data
    #[arg(long, value_name = "HEX", requires = "filecoin")]
    pub comm_d_new: Option<String>,
    /// porep: the commitment to the data
    #[arg(long, value_name = "HEX", requires = "filecoin")]
    pub comm_d: Option<String>,
    /// porep: the chain's randomness that the replica depends on
    #[arg(long, value_name = "HEX", requires = "filecoin")]
    pub ticket: Option<String>,
    /// porep: the chain's randomness that the challenges are drawn from
    #[arg(long, value_name = "HEX", requires = "filecoin")]
    pub seed: Option<String>,
}

/// What a build without the feature says.
#[cfg(not(feature = "filecoin"))]
pub fn missing() -> super::exit::Fault {
    super::exit::Fault::Usage(
        "this program was built without Filecoin's circuits (feature `filecoin`): build it with `make build`, or with \
         `cargo build --release --features filecoin`"
            .to_owned(),
    )
}
