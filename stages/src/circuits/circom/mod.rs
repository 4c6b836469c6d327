//! The files of circom and snarkjs. Everything in them is untrusted: counts are held against the bytes that are
//! there before memory is taken for them, and field elements against the prime.

mod container;
mod cursor;
mod field;
mod r1cs;
#[cfg(test)]
mod tests;
mod wtns;

pub use r1cs::R1cs;
pub use wtns::{parse_wtns, read_wtns};
