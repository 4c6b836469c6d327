//! assemble: the sums become a proof, and the proof is verified.

use blstrs::{G1Affine, G1Projective, G2Affine};
use pipeline_macros::stage;
use pipeline_runtime::error::StageError;
use pipeline_runtime::key::TokenKey;
use pipeline_runtime::slot::Slot;

use crate::error::Error;
use crate::job::Job;
use crate::tokens::{Proof, SumG2, SumsG1};
use crate::verify::ProofPoints;

/// Blinds the sums with r and s and lets the proof go if it verifies against the job's public inputs.
///
/// # Errors
/// The proof does not verify.
#[stage(assemble, backend = host)]
pub fn assemble(
    job: &Job,
    key: TokenKey,
    sums: &SumsG1,
    sum_g2: &SumG2,
    out: Slot<'_, Proof>,
) -> Result<Proof, StageError> {
    let mut proof = out.take(&());
    prove(job, key.partition, sums, sum_g2, &mut proof)?;
    Ok(proof)
}

pub(crate) fn prove(job: &Job, partition: u32, sums: &SumsG1, sum_g2: &SumG2, proof: &mut Proof) -> Result<(), Error> {
    let vk = job.key().verifying_key();
    let (r, s) = job.blinding(partition);
    // With α and β but without r·δ and s·δ, as the formula of C wants them.
    let a = sums.a + vk.alpha_g1;
    let b_g1 = sums.b_g1 + vk.beta_g1;
    let b_g2 = sum_g2.b + vk.beta_g2;
    let c: G1Projective = sums.h + sums.l + a * s + b_g1 * r + vk.delta_g1 * (r * s);
    let points = ProofPoints {
        a: G1Affine::from(&(a + vk.delta_g1 * r)),
        b: G2Affine::from(&(b_g2 + vk.delta_g2 * s)),
        c: G1Affine::from(&c),
    };
    proof.bytes = points.to_bytes();
    // Judged from the bytes that leave, as a stranger would.
    let read = ProofPoints::parse(&proof.bytes);
    let circuit = || job.shape().name().to_owned();
    let refused = || {
        if job.shape().knows_c() {
            Error::ProofRefused { circuit: circuit() }
        } else {
            Error::UnsatisfiedOrForeign { circuit: circuit() }
        }
    };
    let public = job.public_inputs(partition).get();
    let public = public.ok_or_else(|| Error::Internal("the witness has not told its public inputs".to_owned()))?;
    match read.map(|read| job.key().prepared().verify(&read, public)) {
        Ok(Ok(true)) => Ok(()),
        Ok(Err(mismatch)) => Err(mismatch),
        Ok(Ok(false)) | Err(_) => Err(refused()),
    }
}
