//! circom's files: constraints and witnesses.

mod r1cs;
#[cfg(test)]
mod tests;
mod wtns;

pub use r1cs::R1cs;
pub(crate) use wtns::read_wtns_if;
pub use wtns::{parse_wtns, read_wtns};
