//! spmv: A·w, B·w and C·w.

use pipeline_macros::stage;
use pipeline_runtime::capability::{CcdPool, MemPermit};
use pipeline_runtime::error::StageError;
use pipeline_runtime::slot::Slot;
use rayon::prelude::*;

use crate::circuits::CircuitShape;
use crate::error::Error;
use crate::job::Job;
use crate::tokens::{Evaluated, Witness};

/// Multiplies the constraint matrices with the witness, and refuses a witness that does not satisfy them.
///
/// # Errors
/// The witness does not satisfy a constraint; the first such row is named.
#[stage(spmv, backend = host, mem_heavy, ccd_pinned)]
pub fn spmv(
    job: &Job,
    witness: &Witness,
    out: Slot<'_, Evaluated>,
    _permit: &MemPermit,
    cores: &CcdPool,
) -> Result<Evaluated, StageError> {
    let evaluated = out.take(&job.shape().domain().size());
    cores.install(|| evaluate(job.shape(), witness, &evaluated))?;
    Ok(evaluated)
}

pub(crate) fn evaluate(shape: &CircuitShape, witness: &Witness, evaluated: &Evaluated) -> Result<(), Error> {
    let mut columns = evaluated.columns();
    let columns = &mut *columns;
    shape.matrices().mul_into(&witness.values, &mut columns.a, &mut columns.b, &mut columns.c);
    columns.spent = false;
    if !shape.knows_c() {
        // A key of snarkjs holds A and B only: whether the witness satisfies the circuit is seen from the proof.
        return Ok(());
    }
    // The quotient of an unsatisfied witness is no polynomial: the proof would be garbage, minutes later.
    let rows = columns.a.par_iter().zip(&columns.b[..]).zip(&columns.c[..]);
    match rows.position_first(|((a, b), c)| *a * b != *c) {
        Some(row) => Err(Error::Unsatisfied { circuit: shape.name().to_owned(), row }),
        None => Ok(()),
    }
}
