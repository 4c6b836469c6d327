//! The constraint system that writes constraints down and computes no values.

use bellpepper_core::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field;

use super::rows::Rows;

/// Set in the recorded column of an auxiliary variable. How many inputs precede it is known at the end only, for a
/// circuit may allocate inputs after constraints.
const AUX: u32 = 1 << 31;

/// What a synthesis wrote down.
pub(crate) struct Recorded {
    /// Inputs, ONE counted.
    pub(crate) inputs: usize,
    /// Auxiliary variables.
    pub(crate) aux: usize,
    /// The circuit's own rows; columns are inputs first.
    pub(crate) rows: Rows,
}

/// Synthesises a circuit without values.
pub(crate) fn record<C: Circuit<Scalar>>(circuit: C) -> Result<Recorded, SynthesisError> {
    let mut cs = RecordingCs { inputs: 0, aux: 0, rows: Rows::default(), stray: false };
    cs.alloc_input(|| "ONE", || Ok(Scalar::ONE))?;
    circuit.synthesize(&mut cs)?;
    let RecordingCs { inputs, aux, mut rows, stray } = cs;
    if stray {
        return Err(SynthesisError::AssignmentMissing);
    }
    if inputs.checked_add(aux).is_none_or(|all| all >= AUX) {
        return Err(SynthesisError::PolynomialDegreeTooLarge);
    }
    rows.rename(|column| if column & AUX == 0 { column } else { inputs + (column ^ AUX) });
    Ok(Recorded { inputs: inputs as usize, aux: aux as usize, rows })
}

/// Not extensible: the order of constraints is the order in which bellperson's own setup sees them.
struct RecordingCs {
    inputs: u32,
    aux: u32,
    rows: Rows,
    /// A constraint named a variable that was not allocated.
    stray: bool,
}

impl RecordingCs {
    fn sum(&mut self, sum: &LinearCombination<Scalar>) {
        for (variable, coefficient) in sum.iter() {
            // Explicit zeros are kept here; the matrices drop them, so that they do not count in the densities.
            let (index, allocated, tag) = match variable.get_unchecked() {
                Index::Input(index) => (index, self.inputs, 0),
                Index::Aux(index) => (index, self.aux, AUX),
            };
            match u32::try_from(index) {
                Ok(index) if index < allocated => self.rows.push(index | tag, *coefficient),
                _ => self.stray = true,
            }
        }
        self.rows.close();
    }
}

/// The next index of a kind of variable.
fn next(count: &mut u32) -> Result<usize, SynthesisError> {
    if *count == AUX - 1 {
        return Err(SynthesisError::PolynomialDegreeTooLarge);
    }
    *count += 1;
    Ok((*count - 1) as usize)
}

impl ConstraintSystem<Scalar> for RecordingCs {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        Ok(Variable::new_unchecked(Index::Aux(next(&mut self.aux)?)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        Ok(Variable::new_unchecked(Index::Input(next(&mut self.inputs)?)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        self.sum(&a(LinearCombination::zero()));
        self.sum(&b(LinearCombination::zero()));
        self.sum(&c(LinearCombination::zero()));
    }

    fn push_namespace<NR, N>(&mut self, _: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
    }

    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self::Root {
        self
    }
}
