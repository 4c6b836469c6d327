//! prep_msm: the witness, sorted for the multi-scalar multiplications.

use pipeline_macros::stage;
use pipeline_runtime::capability::{CcdPool, MemPermit};
use pipeline_runtime::error::StageError;
use pipeline_runtime::slot::Slot;

use crate::circuits::CircuitShape;
use crate::job::Job;
use crate::tokens::{Classified, QueryCounts, Witness};

/// Classifies the scalars of the queries L, A and B by what they cost.
///
/// # Errors
/// None of its own.
#[stage(prep_msm, backend = host, mem_heavy, ccd_pinned)]
pub fn prep_msm(
    job: &Job,
    witness: &Witness,
    out: Slot<'_, Classified>,
    _permit: &MemPermit,
    cores: &CcdPool,
) -> Result<Classified, StageError> {
    let mut classified = out.take(&QueryCounts::of(job.shape()));
    cores.install(|| classify(job.shape(), witness, &mut classified));
    Ok(classified)
}

pub(crate) fn classify(shape: &CircuitShape, witness: &Witness, classified: &mut Classified) {
    let queries = shape.queries();
    classified.l.fill(&witness.values[shape.inputs()..], None);
    classified.a.fill(&witness.values, Some(&queries.a));
    classified.b.fill(&witness.values, Some(&queries.b));
}
