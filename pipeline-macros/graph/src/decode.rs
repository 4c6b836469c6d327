//! Tree → model: the fields of every type, with all faults of all of them.

pub mod bytes;
mod catalogue;
mod fields;
mod graph;
mod sku;

pub use catalogue::catalogue;
pub use graph::graph;
pub use sku::sku;

/// The version of the language; `version:` of every file must be it.
pub const VERSION: u64 = 1;
