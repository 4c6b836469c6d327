//! Runs a plan in virtual time: the same scheduler and policies as [`crate::exec`], a cost model in place of stages.
//!
//! A firing is a few pieces of work ([`Work`]), each with its demands: core-seconds on threads, bytes of memory traffic,
//! a working set in the L3, bytes over PCIe, seconds of a device. What runs at once shares the machine fluidly
//! ([`fluid`]), so overlap makes stages slower. The same input gives the same trace, byte for byte.

mod cost;
pub mod fluid;
mod ledger;
mod machine;
mod random;
mod report;
mod run;
#[cfg(test)]
mod tests;

pub use cost::{Calibration, Costs, Fate, Host, Retained, StageCost, Work};
pub use machine::{CcdSpec, DeviceSpec, MachineSpec};
pub use report::{Report, StageReport};
pub use run::{Load, Setup, SimError, simulate};
