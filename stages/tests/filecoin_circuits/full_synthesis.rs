//! A constraint system that evaluates every row, as bellperson's does: what the fast way is held against.

use bellpepper_core::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field;

/// Full synthesis, as bellperson does it: it is extensible and evaluates every sum.
#[derive(Default)]
pub struct FullSynthesis {
    pub inputs: Vec<Scalar>,
    pub aux: Vec<Scalar>,
    pub evaluated: [Vec<Scalar>; 3],
}

impl FullSynthesis {
    fn value(&self, sum: &LinearCombination<Scalar>) -> Scalar {
        let value = |variable: Variable| match variable.get_unchecked() {
            Index::Input(index) => self.inputs[index],
            Index::Aux(index) => self.aux[index],
        };
        sum.iter().map(|(variable, coefficient)| value(variable) * coefficient).sum()
    }

    /// Of a circuit, with the rows that bellperson appends.
    pub fn of(circuit: impl Circuit<Scalar>) -> Self {
        let mut cs = Self::default();
        cs.alloc_input(|| "", || Ok(Scalar::ONE)).unwrap();
        circuit.synthesize(&mut cs).unwrap();
        for input in 0..cs.inputs.len() {
            let input = Variable::new_unchecked(Index::Input(input));
            cs.enforce(|| "", |sum| sum + input, |sum| sum, |sum| sum);
        }
        cs
    }
}

impl ConstraintSystem<Scalar> for FullSynthesis {
    type Root = Self;

    fn new() -> Self {
        Self::default()
    }

    fn is_extensible() -> bool {
        true
    }

    fn extend(&mut self, other: &Self) {
        // The first input of the other is its own ONE.
        self.inputs.extend(&other.inputs[1..]);
        self.aux.extend(&other.aux);
        self.evaluated.iter_mut().zip(&other.evaluated).for_each(|(to, from)| to.extend(from));
    }

    fn alloc<F, A, AR>(&mut self, _: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.aux.push(f()?);
        Ok(Variable::new_unchecked(Index::Aux(self.aux.len() - 1)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.inputs.push(f()?);
        Ok(Variable::new_unchecked(Index::Input(self.inputs.len() - 1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        let sums = [a(LinearCombination::zero()), b(LinearCombination::zero()), c(LinearCombination::zero())];
        let values = sums.map(|sum| self.value(&sum));
        self.evaluated.iter_mut().zip(values).for_each(|(to, value)| to.push(value));
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
