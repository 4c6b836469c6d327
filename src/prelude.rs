//! What the test of a policy needs: `use proofline::prelude::*`.
//!
//! The compiled [`Pipeline`] with its plan, stages that only cost ([`Mock`], [`mock_all`]), policies and what they see.

pub use pipeline_runtime::export::Graph;
pub use pipeline_runtime::mock::{Mock, mock_all};
pub use pipeline_runtime::policy::{
    CriticalPath, Logged, OldestFirst, Policy, PriorityAging, RandomLegal, Replay, ShortestStageFirst, State, first_by,
    from_fn,
};

pub use crate::Pipeline;
