//! What generated code calls, and nothing else does.

pub use crate::capability::{Capability, CcdPool, DeallocPermit, GpuDevice, MemPermit};
pub use crate::error::StageError;
pub use crate::exec::asked::{Asked, Differ, Either, Ends, If, Never, StandIn, Stays};
pub use crate::exec::firing::Firing;
pub use crate::exec::wiring::{Graph, InEnd, InPorts, OutEnd, Wiring};
pub use crate::key::TokenKey;
pub use crate::plan::*;
pub use crate::policy::facts::of as policy_facts;
pub use crate::slot::{Dead, Shared, Slot, Token, Travels};
pub use crate::stage::{DeallocStage, Job, Port, Sizes, Stage, TakesAt};
pub use crate::tags::Tags;
