//! gpu_ntt_msm: the quotient and all sums in G1, here on the processor.

use pipeline_macros::stage;
use pipeline_runtime::capability::{CcdPool, MemPermit};
use pipeline_runtime::error::StageError;
use pipeline_runtime::slot::Slot;
use proofline_kernels::domain::Convention;
use proofline_kernels::msm::Workspace;
use proofline_kernels::scalars::Density;
use proofline_kernels::{G1Affine, Scalar};

use crate::circuits::CircuitShape;
use crate::error::Error;
use crate::job::Job;
use crate::lending::Lending;
use crate::params::ProvingKey;
use crate::tokens::{Classified, Columns, Evaluated, SumsG1};
use crate::workspace::{columns_have_room, of_sums, prepared};

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
    let (shape, key) = (job.shape(), job.key());
    let mut columns = evaluated.columns();
    let columns = &mut *columns;
    cores.install(|| quotient(shape, key, columns))?;
    let Columns { a, b, c, .. } = columns;
    let (queries, threads) = (key.in_g1(), cores.threads());
    let sum =
        |memory: &Workspace<G1Affine>, sums: &mut SumsG1| sum_queries(shape, key, (&a[..], classified), memory, sums);
    // Two of the columns are of no use any more, and have room for what the sums need, mostly.
    let room = columns_have_room(shape.domain().size(), &queries, threads);
    if let Some(lending) = room.then(|| Lending::of([b, c])).flatten() {
        let mut sums = out.take(&());
        cores.install(|| sum(&prepared(&lending.arena(), &queries, threads), &mut sums));
        return Ok(sums);
    }
    let memory = of_sums(&out, cores, &queries);
    let mut sums = out.take(&());
    cores.install(|| sum(memory.memory(), &mut sums));
    Ok(sums)
}

/// The quotient, in the columns' own memory, and the sums.
pub(crate) fn sum_g1(
    shape: &CircuitShape,
    key: &ProvingKey,
    (evaluated, classified): (&Evaluated, &Classified),
    memory: &Workspace<G1Affine>,
    sums: &mut SumsG1,
) -> Result<(), Error> {
    let mut columns = evaluated.columns();
    quotient(shape, key, &mut columns)?;
    sum_queries(shape, key, (&columns.a[..], classified), memory, sums);
    Ok(())
}

/// Makes the quotient in the column `a`; the others are used up.
fn quotient(shape: &CircuitShape, key: &ProvingKey, columns: &mut Columns) -> Result<(), Error> {
    if std::mem::replace(&mut columns.spent, true) {
        return Err(Error::Internal("the evaluated rows were used up before `gpu_ntt_msm` took them".to_owned()));
    }
    shape.domain().quotient(key.convention(), &mut columns.a, &mut columns.b, &mut columns.c);
    Ok(())
}

fn sum_queries(
    shape: &CircuitShape,
    key: &ProvingKey,
    (quotient, classified): (&[Scalar], &Classified),
    memory: &Workspace<G1Affine>,
    sums: &mut SumsG1,
) {
    let scalars = match key.convention() {
        // The quotient's degree is at most size − 2, so its last coefficient is zero and H has no point for it.
        Convention::Coefficients => quotient.split_last().map_or(&[][..], |(_, scalars)| scalars),
        Convention::OddCoset => quotient,
    };
    sums.h = key.h.msm_dense(scalars, memory);
    let (scalars, queries) = (&classified.scalars, shape.queries());
    sums.l = key.l.msm(scalars, Density::From { first: shape.inputs() }, memory);
    sums.a = key.a.msm(scalars, Density::Of(&queries.a), memory);
    sums.b_g1 = key.b_g1.msm(scalars, Density::Of(&queries.b), memory);
}
