//! Keys: bellperson's and snarkjs' files, and the setup that makes them.
//!
//! A `.vk` file is the verifying key; a `.params` file is the same bytes and, behind them, the queries H, L, A, B in
//! G1 and B in G2, each a count and its points. Numbers are big-endian, points in the uncompressed encoding of Zcash.
//! snarkjs' `.zkey` is described at [`Zkey`]. A [converted](resident) key holds the points of either as the prover
//! wants them.

mod key_file;
mod parameters;
pub(crate) mod point;
mod proving_key;
mod queries;
mod reader;
pub mod resident;
pub mod setup;
mod subgroup;
mod verifying_key;
mod writer;
mod zkey;

pub use proofline_kernels::domain::Convention;

pub use parameters::{PARAMS_FILE, Parameters, VK_FILE, ZKEY_FILE};
pub use proving_key::ProvingKey;
pub use verifying_key::VerifyingKey;
pub use zkey::Zkey;
