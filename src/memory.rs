//! What proofs ask of the kernel's memory.

pub use proofline_memory::figures::Snapshot;
pub use proofline_memory::{Counts, Registrar};
