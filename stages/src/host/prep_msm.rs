//! prep_msm: the witness, sorted for the multi-scalar multiplications.

use pipeline_macros::stage;
use pipeline_runtime::capability::{CcdPool, MemPermit};
use pipeline_runtime::error::StageError;
use pipeline_runtime::slot::Slot;

use crate::job::Job;
use crate::tokens::{Classified, Witness};

/// Classifies the witness by what its scalars cost, in one pass for the queries L, A and B, which take from it by density.
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
    let mut classified = out.take(&job.shape().variables());
    cores.install(|| classify(witness, &mut classified));
    Ok(classified)
}

pub(crate) fn classify(witness: &Witness, classified: &mut Classified) {
    classified.scalars.fill(&witness.values);
}
