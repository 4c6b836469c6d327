//! The constraint system that writes constraints down and computes no values.

use bellpepper_core::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field;

use super::extract::{BEHIND_ALL_INPUTS, Constraints, Counts, Take};
use crate::error::Error;

/// A circuit whose constraints are what its synthesis writes down, each time anew.
pub(crate) struct Synthesis<'a, C> {
    pub(crate) name: &'a str,
    pub(crate) circuit: C,
}

impl<C: Circuit<Scalar> + Clone> Constraints for Synthesis<'_, C> {
    fn each_row(&self, aux_from: u32, take: Take<'_>) -> Result<Counts, Error> {
        let terms = [(); 3].map(|()| Vec::new());
        let mut cs = RecordingCs { inputs: 0, aux: 0, aux_from, terms, take, stray: false, refused: None };
        let made = cs.alloc_input(|| "ONE", || Ok(Scalar::ONE)).and_then(|_| self.circuit.clone().synthesize(&mut cs));
        let RecordingCs { inputs, aux, stray, refused, .. } = cs;
        // A row that was not taken comes first: nothing behind it was looked at.
        if let Some(error) = refused {
            return Err(error);
        }
        let failed = |source| Error::Synthesis { circuit: self.name.to_owned(), source };
        made.map_err(failed)?;
        if stray {
            return Err(failed(SynthesisError::AssignmentMissing));
        }
        if inputs.checked_add(aux).is_none_or(|all| all >= BEHIND_ALL_INPUTS) {
            return Err(failed(SynthesisError::PolynomialDegreeTooLarge));
        }
        Ok(Counts { inputs: inputs as usize, aux: aux as usize })
    }
}

/// Not extensible: the order of constraints is the order in which bellperson's own setup sees them.
struct RecordingCs<'a> {
    inputs: u32,
    aux: u32,
    /// The column of the first auxiliary variable.
    aux_from: u32,
    /// The row that is being written.
    terms: [Vec<(u32, Scalar)>; 3],
    take: Take<'a>,
    /// A constraint named a variable that was not allocated.
    stray: bool,
    /// Why a row was not taken; no other is offered then.
    refused: Option<Error>,
}

impl RecordingCs<'_> {
    fn sum(&mut self, side: usize, sum: &LinearCombination<Scalar>) {
        self.terms[side].clear();
        for (variable, coefficient) in sum.iter() {
            // Explicit zeros are kept here; the matrices drop them, so that they do not count in the densities.
            let (index, allocated, from) = match variable.get_unchecked() {
                Index::Input(index) => (index, self.inputs, 0),
                Index::Aux(index) => (index, self.aux, self.aux_from),
            };
            match u32::try_from(index) {
                Ok(index) if index < allocated => self.terms[side].push((from + index, *coefficient)),
                _ => self.stray = true,
            }
        }
    }
}

/// The next index of a kind of variable.
fn next(count: &mut u32) -> Result<usize, SynthesisError> {
    if *count == BEHIND_ALL_INPUTS - 1 {
        return Err(SynthesisError::PolynomialDegreeTooLarge);
    }
    *count += 1;
    Ok((*count - 1) as usize)
}

impl ConstraintSystem<Scalar> for RecordingCs<'_> {
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
        if self.refused.is_some() {
            return;
        }
        self.sum(0, &a(LinearCombination::zero()));
        self.sum(1, &b(LinearCombination::zero()));
        self.sum(2, &c(LinearCombination::zero()));
        self.refused = (self.take)(self.terms.each_ref().map(Vec::as_slice)).err();
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
