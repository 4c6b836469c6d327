//! The runtime of a compiled stage graph.
//!
//! It knows stages, tokens, places, permits and processors. It does not know what a proof is: the job, the tokens
//! and the stages come from the crate that uses it, the plan from `pipeline!`.

pub mod admission;
pub mod arena;
pub mod binding;
pub mod capability;
pub mod error;
pub mod event;
pub mod exec;
pub mod export;
pub mod job;
pub mod key;
pub mod limits;
pub mod mock;
pub mod permits;
pub mod placement;
pub mod plan;
pub mod policy;
pub mod scheduler;
pub mod sim;
pub mod slot;
pub mod stage;
mod sync;
pub mod tags;
pub mod topology;
pub mod trace;

#[cfg(test)]
mod testing;
