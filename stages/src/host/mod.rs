//! The stages on the processor. One file is one stage: the work as an ordinary function, and the `#[stage]` function
//! that does it in the pipeline.

mod assemble;
mod b_g2_msm;
mod dealloc;
mod gpu_ntt_msm;
mod prep_msm;
mod spmv;
mod synthesize;

pub use assemble::{Assemble, assemble};
pub use b_g2_msm::{BG2Msm, b_g2_msm};
pub use dealloc::{Dealloc, dealloc};
pub use gpu_ntt_msm::{GpuNttMsm, gpu_ntt_msm};
pub use prep_msm::{PrepMsm, prep_msm};
pub use spmv::{Spmv, spmv};
pub use synthesize::{Synthesize, synthesize};

pub(crate) use assemble::prove;
pub(crate) use b_g2_msm::sum_b_g2;
pub(crate) use gpu_ntt_msm::sum_g1;
pub(crate) use prep_msm::classify;
pub(crate) use spmv::evaluate;
pub(crate) use synthesize::fill;
