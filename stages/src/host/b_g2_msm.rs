//! b_g2_msm: the sum of B in G2.

use pipeline_macros::stage;
use pipeline_runtime::capability::{CcdPool, MemPermit};
use pipeline_runtime::error::StageError;
use pipeline_runtime::slot::Slot;
use proofline_kernels::G2Affine;
use proofline_kernels::msm::Workspace;
use proofline_kernels::scalars::Density;

use crate::circuits::CircuitShape;
use crate::job::Job;
use crate::params::ProvingKey;
use crate::tokens::{Classified, SumG2};
use crate::workspace::of_sums;

/// Sums the B query in G2.
///
/// # Errors
/// None of its own.
#[stage(b_g2_msm, backend = host, mem_heavy, ccd_pinned)]
pub fn b_g2_msm(
    job: &Job,
    classified: &Classified,
    out: Slot<'_, SumG2>,
    _permit: &MemPermit,
    cores: &CcdPool,
) -> Result<SumG2, StageError> {
    let memory = of_sums(&out, cores, &[&job.key().b_g2]);
    let mut sum = out.take(&());
    cores.install(|| sum_b_g2(job.shape(), job.key(), classified, memory.memory(), &mut sum));
    Ok(sum)
}

pub(crate) fn sum_b_g2(
    shape: &CircuitShape,
    key: &ProvingKey,
    classified: &Classified,
    memory: &Workspace<G2Affine>,
    sum: &mut SumG2,
) {
    sum.b = key.b_g2.msm(&classified.scalars, Density::Of(&shape.queries().b), memory);
}
