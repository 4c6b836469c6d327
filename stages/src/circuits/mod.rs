//! Circuits: where they come from, what they are compiled to, and where witnesses come from.

mod builtin;
mod circom;
mod extract;
#[cfg(feature = "filecoin")]
pub mod filecoin;
mod pce;
mod record;
pub(crate) mod rows;
mod sha256;
mod shape;
mod source;
mod witness_cs;

pub use builtin::Builtin;
pub use circom::{R1cs, parse_wtns, read_wtns};
pub use pce::{Extracted, Origin, PCE_FILE, StoredCircuit, extract};
pub use sha256::{BLOCK_BYTES, Sha256Preimage};
pub use shape::CircuitShape;
pub use source::{PublicInputs, WitnessSource, witness_of};
pub use witness_cs::WitnessCs;
