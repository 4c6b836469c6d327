//! Proofline: a Groth16 (BLS12-381) proving engine whose pipeline is compiled from a declarative stage graph.
//!
//! A [`Prover`] runs the graph that this build was compiled from (`graphs/host.ron`, or what `PROOFLINE_GRAPH` named
//! at build time). Jobs go in, verified proofs come out:
//!
//! ```
//! use std::sync::Arc;
//! use proofline::{CircuitShape, Job, Prover, ProvingKey, setup, unwatched};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // The circuit: knowledge of a preimage of one block under SHA-256.
//! let shape = Arc::new(CircuitShape::from_builtin("sha256:1")?);
//! // A key for tests. A key that others must trust comes from a ceremony.
//! let parameters = setup::generate(&shape, &setup::Entropy::Seed("documentation"), &unwatched)?;
//! let key = Arc::new(ProvingKey::new(parameters));
//!
//! let prover = Prover::start()?;
//! // A job is one proof or several of the same circuit; each has a witness of its own.
//! let builtin = shape.builtin().ok_or("a built-in circuit")?;
//! let job = Job::new(shape, key, vec![builtin.fresh_witness(), builtin.fresh_witness()])?;
//! let handle = prover.submit(job)?;
//! // `wait`, or `.await` the handle; `handle.cancel()` ends the job.
//! let proofs = handle.wait()?;
//! assert_eq!(proofs.len(), 2);
//! // Each was verified before it came here: A, B, C, compressed, in bellperson's order.
//! assert_eq!(proofs[0].bytes.len(), 192);
//! # Ok(())
//! # }
//! ```

pub mod circom;
mod foreseen;
mod graph;
pub mod memory;
pub mod prelude;
mod prover;
mod residents;

pub use foreseen::{bytes_of_circuit, bytes_of_key, bytes_of_new_key};
pub use graph::Pipeline;
pub use pipeline_runtime as runtime;
pub use pipeline_runtime::arena::Slots;
pub use pipeline_runtime::error::{Cause, Failure};
pub use pipeline_runtime::exec::{Options, Reservation, StartError, SubmitError};
pub use pipeline_runtime::stage::Priority;
#[cfg(feature = "filecoin")]
pub use proofline_stages::circuits::filecoin;
pub use proofline_stages::circuits::{Builtin, Extracted, Origin, PCE_FILE, PublicInputs, StoredCircuit, extract};
pub use proofline_stages::kind::of_file as kind_of_file;
pub use proofline_stages::params::{Convention, PARAMS_FILE, Parameters, VK_FILE, ZKEY_FILE, Zkey, resident, setup};
pub use proofline_stages::partial::PartialFile;
pub use proofline_stages::progress::{Progress, unwatched};
pub use proofline_stages::{CircuitShape, Class, Error, Job, Proof, ProvingKey, VerifyingKey, WitnessSource, verify};
pub use proofline_study as study;
pub use prover::{Handle, Prover, ProverError};
pub use residents::Residents;
