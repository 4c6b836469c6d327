//! The stages of the Groth16 pipeline over BLS12-381, the circuits that they prove and the key formats that they read.
//!
//! - [`circuits`]: a circuit becomes a [`CircuitShape`]; a [`WitnessSource`] gives the values of one proof
//! - [`params`]: keys, read from bellperson's files or made by [`params::setup`]
//! - [`job`]: a circuit, a key and witnesses together; what is submitted
//! - [`tokens`]: what travels between stages
//! - [`host`]: the stages, on the processor
//! - [`selftest`]: known answers of the kernels, asked for at start-up
//! - [`sequence`]: the same stages one after the other, without a pipeline
//! - [`verify`]: proofs and public inputs, judged
//! - [`catalogue`]: what `pipeline!` must know of all this
//!
//! It knows nothing of graphs, workers and policies: a stage is a function of its job and its tokens.
//!
//! What is new goes here: a stage or a backend of one is a file under `host` (or a folder beside it) and a line in
//! [`catalogue`]; a built-in circuit is a variant of [`circuits::Builtin`]; a circuit's file format is a folder under
//! `circuits` that ends in [`CircuitShape`] and [`WitnessSource`]; a key's is a file under `params` that ends in
//! [`params::Parameters`].

#![forbid(unsafe_code)]

pub mod catalogue;
pub mod circuits;
pub mod error;
pub mod host;
mod iden3;
pub mod job;
pub mod kind;
mod lending;
pub mod params;
pub mod partial;
pub mod progress;
mod sealed;
pub mod secret;
pub mod selftest;
pub mod sequence;
pub mod tokens;
pub mod verify;
mod workspace;

pub use circuits::{CircuitShape, WitnessSource};
pub use error::{Class, Error};
pub use job::Job;
pub use params::{ProvingKey, VerifyingKey};
pub use tokens::Proof;
