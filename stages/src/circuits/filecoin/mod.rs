//! Filecoin's proofs, of the crates that the network's nodes run.
//!
//! A *vanilla* proof is what a node's storage makes: paths in trees, for the challenges that the chain's randomness draws. It is
//! checked here, by the network's own code, before any work; then it becomes the witness of a [`FilecoinCircuit`], one for each
//! partition, which together are a [`Task`]. What the proofs claim is a [`Statement`], and that is what they are judged
//! against, again by the network's own code.
//!
//! | kind | vanilla proof | statement |
//! |---|---|---|
//! | porep | output of commit phase 1, JSON; or Curio's and Lotus' wrapper of it | [`SealStatement`] |
//! | winning, window | one bincode file a sector | [`PostStatement`] |
//! | update | one bincode file a partition | [`UpdateStatement`] |

mod bytes;
mod circuit;
mod compound;
mod fabricate;
mod family;
mod fields;
mod guard;
mod made;
mod paths;
mod porep;
mod post;
mod published;
mod registered;
mod seal;
mod size;
mod statement;
mod update;

pub use bytes::{Bytes32, parse_hex, prover_id, to_hex};
pub use circuit::FilecoinCircuit;
pub use compound::{PARTITION_PROOF_BYTES, Task};
pub use fabricate::Fabricating;
pub use family::{Family, Kind};
pub use fields::{field, of_kind as fields_of, read as read_fields};
pub use made::Made;
pub use porep::{SealStatement, read_c1};
pub use post::PostStatement;
pub use published::expect_published;
pub use registered::RegisteredProof;
pub use seal::Sealing;
pub use size::SectorSize;
pub use statement::Statement;
pub use update::UpdateStatement;
