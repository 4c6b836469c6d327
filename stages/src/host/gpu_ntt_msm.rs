//! gpu_ntt_msm: the quotient and all sums in G1, here on the processor.

use pipeline_macros::stage;
use pipeline_runtime::capability::{CcdPool, MemPermit};
use pipeline_runtime::error::StageError;
use pipeline_runtime::slot::Slot;
use proofline_kernels::G1Affine;
use proofline_kernels::domain::Convention;
use proofline_kernels::msm::Workspace;
use proofline_kernels::scalars::Density;

use crate::circuits::CircuitShape;
use crate::error::Error;
use crate::job::Job;
use crate::params::ProvingKey;
use crate::tokens::{Classified, Evaluated, SumsG1};
use crate::workspace::of_sums;

/// Makes the quotient of the evaluated rows, in their own memory, and sums H, L, A and B in G1.
///
/// # Errors
/// The evaluated rows were used up by another reader: the graph gives them to more stages than this one.
#[stage(gpu_ntt_msm, backend = host, mem_heavy, ccd_pinned)]
pub fn gpu_ntt_msm(
    job: &Job,
    evaluated: &Evaluated,
    classified: &Classified,
    out: Slot<'_, SumsG1>,
    _permit: &MemPermit,
    cores: &CcdPool,
) -> Result<SumsG1, StageError> {
    let key = job.key();
    let memory = of_sums(&out, cores, &key.in_g1());
    let mut sums = out.take(&());
    cores.install(|| sum_g1(job.shape(), key, (evaluated, classified), memory.memory(), &mut sums))?;
    Ok(sums)
}

pub(crate) fn sum_g1(
    shape: &CircuitShape,
    key: &ProvingKey,
    (evaluated, classified): (&Evaluated, &Classified),
    memory: &Workspace<G1Affine>,
    sums: &mut SumsG1,
) -> Result<(), Error> {
    let mut columns = evaluated.columns();
    let columns = &mut *columns;
    if std::mem::replace(&mut columns.spent, true) {
        return Err(Error::Internal("the evaluated rows were used up before `gpu_ntt_msm` took them".to_owned()));
    }
    shape.domain().quotient(key.convention(), &mut columns.a, &mut columns.b, &mut columns.c);
    let scalars = match key.convention() {
        // The quotient's degree is at most size − 2, so its last coefficient is zero and H has no point for it.
        Convention::Coefficients => columns.a.split_last().map_or(&[][..], |(_, scalars)| scalars),
        Convention::OddCoset => &columns.a,
    };
    sums.h = key.h.msm_dense(scalars, memory);
    let (scalars, queries) = (&classified.scalars, shape.queries());
    sums.l = key.l.msm(scalars, Density::From { first: shape.inputs() }, memory);
    sums.a = key.a.msm(scalars, Density::Of(&queries.a), memory);
    sums.b_g1 = key.b_g1.msm(scalars, Density::Of(&queries.b), memory);
    Ok(())
}
