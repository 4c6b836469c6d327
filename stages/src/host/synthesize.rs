//! synthesize: the values of all variables.

use pipeline_macros::stage;
use pipeline_runtime::capability::CcdPool;
use pipeline_runtime::error::StageError;
use pipeline_runtime::key::TokenKey;
use pipeline_runtime::slot::Slot;

use crate::error::Error;
use crate::job::Job;
use crate::tokens::Witness;

/// Computes or copies the witness of a proof into a slot.
///
/// # Errors
/// The circuit's own, or the witness is another circuit's.
#[stage(synthesize, backend = host, ccd_pinned)]
pub fn synthesize(job: &Job, key: TokenKey, out: Slot<'_, Witness>, cores: &CcdPool) -> Result<Witness, StageError> {
    let mut witness = out.take(&job.shape().variables());
    cores.install(|| fill(job, key.partition, &mut witness))?;
    Ok(witness)
}

pub(crate) fn fill(job: &Job, partition: u32, witness: &mut Witness) -> Result<(), Error> {
    job.source(partition).write(job.shape(), &mut witness.values)
}
