//! Circuits kept beside their keys.
//!
//! A circuit is extracted once: `setup` keeps it beside the key, and `prove` does if nobody has. It is taken from there only if
//! it was extracted from the same bytes, or the same revision of the same built-in circuit; otherwise the source is read
//! again. A wrong circuit could not do harm in silence: no proof leaves that does not verify.

use std::path::{Path, PathBuf};

use clap::Args;
use proofline::{Builtin, CircuitShape, Error, Origin, StoredCircuit, resident};

use super::exit::Fault;
use super::room::expect_room_for_constraints;
use super::watch::pool_of_all_cores;

/// Which circuit, on the command line; clap sees to it that one of them is there.
#[derive(Args)]
pub struct Choice {
    /// A built-in circuit: `sha256:N`, N blocks of 64 bytes; each proof is of a fresh random preimage
    #[arg(long, value_name = "NAME", group = "what")]
    pub circuit: Option<String>,
    /// A circuit of circom, over bls12-381
    #[arg(long, value_name = "FILE", group = "what", conflicts_with = "circuit")]
    pub r1cs: Option<PathBuf>,
}

impl Choice {
    /// The circuit, from its source.
    pub fn extract(&self) -> Result<CircuitShape, Fault> {
        match (&self.circuit, &self.r1cs) {
            (Some(name), _) => Ok(CircuitShape::from_builtin(name)?),
            (None, Some(file)) => {
                expect_room(file)?;
                Ok(CircuitShape::from_r1cs(file)?)
            }
            (None, None) => Err(Fault::Usage("give a circuit: --circuit NAME or --r1cs FILE".into())),
        }
    }

    /// What it is extracted from.
    pub fn origin(&self) -> Result<Origin, Fault> {
        match (&self.circuit, &self.r1cs) {
            (Some(name), _) => Ok(Origin::of_builtin(name.parse::<Builtin>()?)),
            (None, Some(file)) => {
                expect_room(file)?;
                Ok(pool_of_all_cores()?.install(|| Origin::of_r1cs(file))?)
            }
            (None, None) => Ok(Origin::UNKNOWN),
        }
    }

    /// The circuit as it is kept beside a key, if it is.
    pub fn kept(&self, key: &Path, origin: Origin) -> Result<Option<CircuitShape>, Fault> {
        let Some(stored) = read(&beside(key), origin)? else { return Ok(None) };
        Ok(Some(pool_of_all_cores()?.install(|| stored.shape())?))
    }
}

/// Refuses a `.r1cs` file that could not be held, before it is read.
fn expect_room(file: &Path) -> Result<(), Fault> {
    // What is wrong with the file is for its reader to say.
    expect_room_for_constraints(file, std::fs::metadata(file).map_or(0, |found| found.len()))
}

/// The circuit that is kept in a file, if it was extracted from `origin`.
pub fn read(file: &Path, origin: Origin) -> Result<Option<StoredCircuit>, Error> {
    if !file.exists() {
        return Ok(None);
    }
    let stored = StoredCircuit::open(file)?;
    Ok(Some(stored).filter(|stored| stored.origin() == origin))
}

/// Keeps a circuit; where that cannot be done it is said, for nothing but time is lost.
pub fn keep(shape: &CircuitShape, file: &Path, origin: Origin) {
    if let Err(error) = shape.write(file, origin) {
        tell!("note: the circuit is not kept beside its key and will be extracted again: {error}");
    }
}

/// Where a key's circuit is kept.
pub fn beside(key: &Path) -> PathBuf {
    let (params, converted) = resident::files_of(key);
    // A converted file under a name of its own has no source.
    if params.as_os_str().is_empty() { converted } else { params }.with_extension("pce")
}
