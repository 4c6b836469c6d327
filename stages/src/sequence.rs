//! The stages one after the other, in the calling thread.
//!
//! The way to a proof without graph, plan or workers: what the pipeline is held against in tests, and the shortest
//! description of what it computes.

use pipeline_runtime::slot::Token;
use proofline_kernels::msm::Workspace;

use crate::error::Error;
use crate::host;
use crate::job::Job;
use crate::tokens::{Classified, Evaluated, Proof, SumG2, SumsG1, Witness};

/// Proves one partition of a job. Parallel work runs on the rayon pool that this is called in.
///
/// # Errors
/// Those of the stages.
///
/// # Panics
/// The job has no such partition.
pub fn prove(job: &Job, partition: u32) -> Result<Proof, Error> {
    let (shape, key) = (job.shape(), job.key());
    let mut witness = Witness::with_shape(&shape.variables());
    host::fill(job, partition, &mut witness)?;
    let evaluated = Evaluated::with_shape(&shape.domain().size());
    host::evaluate(shape, &witness, &evaluated)?;
    let mut classified = Classified::with_shape(&shape.variables());
    host::classify(&witness, &mut classified);
    drop(witness);
    let mut sums = SumsG1::with_shape(&());
    host::sum_g1(shape, key, (&evaluated, &classified), &Workspace::new(), &mut sums)?;
    let mut sum_g2 = SumG2::with_shape(&());
    host::sum_b_g2(shape, key, &classified, &Workspace::new(), &mut sum_g2);
    let mut proof = Proof::with_shape(&());
    let proved = host::prove(job, partition, &sums, &sum_g2, &mut proof);
    sums.wipe();
    sum_g2.wipe();
    proved.map(|()| proof)
}
