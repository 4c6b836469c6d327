//! Proofs and public inputs, judged.

mod decimal;
mod proof;
mod public;
pub mod snarkjs;

pub use proof::{PreparedKey, ProofPoints};
pub use public::{parse_public_inputs, write_public_inputs};
