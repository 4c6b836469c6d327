//! A build without Filecoin's circuits.

use std::path::Path;

use proofline::{CircuitShape, Proof, ProvingKey, WitnessSource};

use super::{ClaimArgs, FilecoinArgs, missing};
use crate::cli::exit::Fault;

/// There is none in this build.
pub enum Input {}

impl Input {
    pub fn gather(_: &FilecoinArgs) -> Result<Self, Fault> {
        Err(missing())
    }

    pub fn material(&self, _: Option<&Path>, _: bool) -> Result<(CircuitShape, ProvingKey), Fault> {
        match *self {}
    }

    pub fn sources(&self) -> Vec<WitnessSource> {
        match *self {}
    }

    pub fn proof(&self, _: &ProvingKey, _: &[Proof]) -> Result<(Vec<u8>, String), Fault> {
        match *self {}
    }
}

pub fn verify(_: &ClaimArgs, _: Option<&Path>, _: Option<&Path>, _: &Path) -> Result<bool, Fault> {
    Err(missing())
}
