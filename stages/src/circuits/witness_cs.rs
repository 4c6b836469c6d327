//! The constraint system that computes values and looks at no constraint.

use bellpepper_core::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field;
use rayon::prelude::*;

use crate::secret::SecretScalars;

/// Writes values straight into a witness slot: inputs to its front, auxiliary variables behind them.
///
/// A circuit of other sizes than the slot's cannot write outside of it: the values too many go to a side list, for
/// the trait wants memory for them, and the counts tell afterwards that the witness is not this circuit's.
///
/// It is a witness generator in bellpepper's sense, and not extensible: circuits that split themselves for parallel
/// synthesis allocate one more ONE in each part, which a slot of fixed places has no place for, and copy what they made.
/// [`in_parts`](Self::in_parts) is the way for circuits that are the same thing many times over.
pub struct WitnessCs<'a> {
    inputs: Half<'a>,
    aux: Half<'a>,
}

/// One kind of variable.
struct Half<'a> {
    places: &'a mut [Scalar],
    used: usize,
    spill: Vec<SecretScalars>,
    spilled: usize,
}

/// How many variables a synthesis allocated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Counts {
    pub(crate) inputs: usize,
    pub(crate) aux: usize,
}

impl<'a> WitnessCs<'a> {
    /// Over the places of a witness of so many inputs, ONE counted. ONE is written.
    pub(crate) fn over(places: &'a mut [Scalar], inputs: usize) -> Self {
        let (inputs, aux) = places.split_at_mut(inputs);
        let mut cs = Self { inputs: Half::over(inputs), aux: Half::over(aux) };
        cs.inputs.push(Scalar::ONE);
        cs
    }

    /// Synthesises a circuit.
    ///
    /// # Errors
    /// The circuit's own.
    pub fn synthesize<C: Circuit<Scalar>>(&mut self, circuit: C) -> Result<(), SynthesisError> {
        circuit.synthesize(self)
    }

    /// Synthesises the rest of a circuit, which consists of parts that allocate the same number of variables each: in
    /// parallel, each straight into its own places.
    ///
    /// # Errors
    /// A part's own.
    pub fn in_parts<C: Circuit<Scalar> + Send>(&mut self, parts: Vec<C>) -> Result<(), SynthesisError> {
        let count = parts.len().max(1);
        let (inputs, aux) = (self.inputs.rest(), self.aux.rest());
        if inputs.len() % count != 0 || aux.len() % count != 0 || inputs.len() < count || aux.len() < count {
            // The slot is another circuit's; the counts will tell.
            return parts.into_iter().try_for_each(|part| part.synthesize(self));
        }
        let wanted = Counts { inputs: inputs.len() / count, aux: aux.len() / count };
        let places = inputs.par_chunks_mut(wanted.inputs).zip(aux.par_chunks_mut(wanted.aux));
        let found = parts.into_par_iter().zip(places).map(|(part, (inputs, aux))| {
            let mut cs = WitnessCs { inputs: Half::over(inputs), aux: Half::over(aux) };
            part.synthesize(&mut cs)?;
            Ok(cs.counts())
        });
        let found = found.collect::<Result<Vec<_>, SynthesisError>>()?;
        // A part of another size has left places empty or spilled, however the sum comes out.
        let same = found.iter().all(|counts| *counts == wanted);
        self.inputs.took(found.iter().map(|counts| counts.inputs).sum(), same);
        self.aux.took(found.iter().map(|counts| counts.aux).sum(), same);
        Ok(())
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts { inputs: self.inputs.count(), aux: self.aux.count() }
    }
}

impl<'a> Half<'a> {
    fn over(places: &'a mut [Scalar]) -> Self {
        Self { places, used: 0, spill: Vec::new(), spilled: 0 }
    }

    fn count(&self) -> usize {
        self.used + self.spilled
    }

    /// The places that nobody took yet.
    fn rest(&mut self) -> &mut [Scalar] {
        if self.spilled > 0 { &mut [] } else { &mut self.places[self.used..] }
    }

    /// Parts took so many of the rest; all of it if they are the right ones.
    fn took(&mut self, taken: usize, right: bool) {
        if right {
            self.used += taken;
        } else {
            self.spilled += taken.max(self.places.len() - self.used + 1);
        }
    }

    fn push(&mut self, value: Scalar) -> usize {
        let index = self.count();
        match self.places.get_mut(self.used) {
            Some(place) if self.spilled == 0 => {
                *place = value;
                self.used += 1;
            }
            // The value itself is not needed: a witness with a spill is refused.
            _ => self.spilled += 1,
        }
        index
    }

    fn extend(&mut self, values: &[Scalar]) {
        self.empty(values.len()).copy_from_slice(values);
    }

    /// The next `n` places, zeroed.
    fn empty(&mut self, n: usize) -> &mut [Scalar] {
        if self.spilled == 0 && n <= self.places.len() - self.used {
            let start = self.used;
            self.used += n;
            let places = &mut self.places[start..start + n];
            places.fill(Scalar::ZERO);
            return places;
        }
        self.spilled += n;
        let at = self.spill.len();
        self.spill.push(SecretScalars::zeros(n));
        &mut self.spill[at]
    }
}

impl ConstraintSystem<Scalar> for WitnessCs<'_> {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        Ok(Variable::new_unchecked(Index::Aux(self.aux.push(f()?))))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        Ok(Variable::new_unchecked(Index::Input(self.inputs.push(f()?))))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, _: LA, _: LB, _: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
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

    fn is_witness_generator(&self) -> bool {
        true
    }

    fn extend_inputs(&mut self, new_inputs: &[Scalar]) {
        self.inputs.extend(new_inputs);
    }

    fn extend_aux(&mut self, new_aux: &[Scalar]) {
        self.aux.extend(new_aux);
    }

    fn allocate_empty(&mut self, aux_n: usize, inputs_n: usize) -> (&mut [Scalar], &mut [Scalar]) {
        (self.aux.empty(aux_n), self.inputs.empty(inputs_n))
    }

    fn allocate_empty_inputs(&mut self, n: usize) -> &mut [Scalar] {
        self.inputs.empty(n)
    }

    fn allocate_empty_aux(&mut self, n: usize) -> &mut [Scalar] {
        self.aux.empty(n)
    }

    fn inputs_slice(&self) -> &[Scalar] {
        &self.inputs.places[..self.inputs.used]
    }

    fn aux_slice(&self) -> &[Scalar] {
        &self.aux.places[..self.aux.used]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_go_to_their_places_whatever_the_order_of_allocation() {
        let mut places = [Scalar::ZERO; 5];
        let mut cs = WitnessCs::over(&mut places, 2);
        cs.alloc(|| "", || Ok(Scalar::from(10))).unwrap();
        cs.alloc_input(|| "", || Ok(Scalar::from(7))).unwrap();
        cs.extend_aux(&[Scalar::from(11)]);
        let (aux, inputs) = cs.allocate_empty(1, 0);
        aux[0] = Scalar::from(12);
        assert!(inputs.is_empty());
        assert_eq!(cs.counts(), Counts { inputs: 2, aux: 3 });
        assert_eq!(places, [1, 7, 10, 11, 12].map(Scalar::from));
    }

    /// Some inputs, then some auxiliary variables.
    struct Part {
        first: u64,
        inputs: u64,
        aux: u64,
    }

    impl Circuit<Scalar> for Part {
        fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
            (0..self.inputs).try_for_each(|i| cs.alloc_input(|| "", || Ok(Scalar::from(self.first + i))).map(drop))?;
            (0..self.aux).try_for_each(|i| cs.alloc(|| "", || Ok(Scalar::from(100 + self.first + i))).map(drop))
        }
    }

    #[test]
    fn parts_are_where_they_would_be_one_after_the_other() {
        let parts = || [10, 20, 30].map(|first| Part { first, inputs: 2, aux: 3 });
        let mut places = vec![Scalar::ZERO; 1 + 6 + 9];
        let mut cs = WitnessCs::over(&mut places, 7);
        cs.in_parts(parts().into()).unwrap();
        assert_eq!(cs.counts(), Counts { inputs: 7, aux: 9 });
        let mut expected = vec![Scalar::ZERO; 1 + 6 + 9];
        let mut cs = WitnessCs::over(&mut expected, 7);
        parts().into_iter().try_for_each(|part| cs.synthesize(part)).unwrap();
        assert_eq!(places, expected);
        assert_eq!(expected[1..7], [10, 11, 20, 21, 30, 31].map(Scalar::from));
    }

    #[test]
    fn parts_of_other_sizes_are_counted_as_another_circuit() {
        let right = Counts { inputs: 5, aux: 6 };
        for [one, two] in [[(1, 3), (3, 3)], [(2, 4), (2, 2)], [(3, 3), (2, 3)], [(2, 3), (2, 2)], [(0, 0), (0, 0)]] {
            let mut places = [Scalar::ZERO; 11];
            let mut cs = WitnessCs::over(&mut places, 5);
            cs.in_parts([one, two].map(|(inputs, aux)| Part { first: 7, inputs, aux }).into()).unwrap();
            assert_ne!(cs.counts(), right, "{one:?} {two:?}");
        }
        let mut places = [Scalar::ZERO; 11];
        let mut cs = WitnessCs::over(&mut places, 5);
        cs.in_parts([(2, 3), (2, 3)].map(|(inputs, aux)| Part { first: 7, inputs, aux }).into()).unwrap();
        assert_eq!(cs.counts(), right);
        // Three parts do not divide the places of two.
        let mut cs = WitnessCs::over(&mut places, 5);
        cs.in_parts([1, 1, 1].map(|inputs| Part { first: 7, inputs, aux: 3 }).into()).unwrap();
        assert_ne!(cs.counts(), right);
    }

    #[test]
    fn a_circuit_that_is_too_large_writes_nowhere_and_is_counted() {
        let mut places = [Scalar::ZERO; 3];
        let mut cs = WitnessCs::over(&mut places, 2);
        cs.allocate_empty_aux(2).fill(Scalar::ONE);
        cs.alloc(|| "", || Ok(Scalar::ONE)).unwrap();
        cs.alloc_input(|| "", || Ok(Scalar::from(3))).unwrap();
        cs.alloc_input(|| "", || Ok(Scalar::ONE)).unwrap();
        assert_eq!(cs.counts(), Counts { inputs: 3, aux: 3 });
        assert_eq!(places, [1, 3, 0].map(Scalar::from));
    }
}
