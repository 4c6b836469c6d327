//! Runs a plan with threads and wall time.

pub mod firing;
pub mod wiring;
