//! Whole proofs, held against two provers and verifiers that nobody here wrote: bellperson and ark-groth16.
//!
//! Everything panics on what should not happen: this is a crate of tests.

#![forbid(unsafe_code)]

pub mod arkworks;
pub mod bellman;
pub mod circuits;
pub mod comparison;
pub mod snarkjs;
