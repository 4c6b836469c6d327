//! Small circuits, each with one property that has broken a prover.

use bellpepper_core::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field;
use proofline_stages::circuits::R1cs;

/// A value of a witness, or none at setup.
type Value = Option<Scalar>;

fn get(value: Value) -> Result<Scalar, SynthesisError> {
    value.ok_or(SynthesisError::AssignmentMissing)
}

/// x · x = y with both private: no public input but ONE.
#[derive(Clone, Default)]
pub struct NothingPublic {
    /// x.
    pub x: Value,
}

impl Circuit<Scalar> for NothingPublic {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let x = cs.alloc(|| "x", || get(self.x))?;
        let y = cs.alloc(|| "y", || get(self.x).map(|x| x.square()))?;
        cs.enforce(|| "square", |lc| lc + x, |lc| lc + x, |lc| lc + y);
        // A second row, so that this is not also the circuit of one constraint.
        cs.enforce(|| "again", |lc| lc + y, |lc| lc + CS::one(), |lc| lc + y);
        Ok(())
    }
}

/// x · y = z with z public, and nothing else.
#[derive(Clone, Default)]
pub struct OneConstraint {
    /// x and y.
    pub factors: Option<(Scalar, Scalar)>,
}

impl Circuit<Scalar> for OneConstraint {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let x = cs.alloc(|| "x", || get(self.factors.map(|(x, _)| x)))?;
        let y = cs.alloc(|| "y", || get(self.factors.map(|(_, y)| y)))?;
        let z = cs.alloc_input(|| "z", || get(self.factors.map(|(x, y)| x * y)))?;
        cs.enforce(|| "product", |lc| lc + x, |lc| lc + y, |lc| lc + z);
        Ok(())
    }
}

/// x = y, as `x · 0 = x − y`: nothing occurs in B.
#[derive(Clone, Default)]
pub struct EmptyB {
    /// x.
    pub x: Value,
}

impl Circuit<Scalar> for EmptyB {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let x = cs.alloc(|| "x", || get(self.x))?;
        let y = cs.alloc_input(|| "y", || get(self.x))?;
        cs.enforce(|| "equal", |lc| lc + x, |lc| lc, |lc| lc + x - y);
        Ok(())
    }
}

/// Powers x, x², …, each made public after the constraint that makes it.
#[derive(Clone)]
pub struct LateInputs {
    /// x.
    pub x: Value,
    /// How many powers.
    pub powers: usize,
}

impl LateInputs {
    /// The public inputs.
    #[must_use]
    pub fn public(x: Scalar, powers: usize) -> Vec<Scalar> {
        (0..powers).map(|i| x.pow_vartime([i as u64 + 2])).collect()
    }
}

impl Circuit<Scalar> for LateInputs {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let x = cs.alloc(|| "x", || get(self.x))?;
        let (mut last, mut value) = (x, self.x);
        for i in 0..self.powers {
            let next_value = value.zip(self.x).map(|(value, x)| value * x);
            let next = cs.alloc(|| format!("power {i}"), || get(next_value))?;
            cs.enforce(|| format!("times {i}"), |lc| lc + last, |lc| lc + x, |lc| lc + next);
            let public = cs.alloc_input(|| format!("public {i}"), || get(next_value))?;
            // The public input stands in B here, so the input part of B is dense in some and not in others.
            if i % 2 == 0 {
                cs.enforce(|| format!("show {i}"), |lc| lc + CS::one(), |lc| lc + public, |lc| lc + next);
            } else {
                cs.enforce(|| format!("show {i}"), |lc| lc + next, |lc| lc + CS::one(), |lc| lc + public);
            }
            (last, value) = (next, next_value);
        }
        Ok(())
    }
}

/// x · y = z, where sums hold terms with coefficient zero: they must not count in the densities.
#[derive(Clone, Default)]
pub struct ExplicitZeros {
    /// x and y.
    pub factors: Option<(Scalar, Scalar)>,
}

impl Circuit<Scalar> for ExplicitZeros {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let x = cs.alloc(|| "x", || get(self.factors.map(|(x, _)| x)))?;
        let y = cs.alloc(|| "y", || get(self.factors.map(|(_, y)| y)))?;
        let z = cs.alloc_input(|| "z", || get(self.factors.map(|(x, y)| x * y)))?;
        let zero = Scalar::ZERO;
        // y cancels out of A, and x, z and ONE are in B with coefficient zero only.
        cs.enforce(
            || "product",
            |lc| lc + x + y - y,
            |lc| lc + y + (zero, x) + (zero, z) + (zero, CS::one()),
            |lc| lc + z,
        );
        Ok(())
    }
}

/// x · y = z, and w, which no constraint mentions.
#[derive(Clone, Default)]
pub struct UnusedVariable {
    /// x and y.
    pub factors: Option<(Scalar, Scalar)>,
}

impl Circuit<Scalar> for UnusedVariable {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let x = cs.alloc(|| "x", || get(self.factors.map(|(x, _)| x)))?;
        cs.alloc(|| "w", || get(self.factors.map(|(x, y)| x + y)))?;
        let y = cs.alloc(|| "y", || get(self.factors.map(|(_, y)| y)))?;
        let z = cs.alloc_input(|| "z", || get(self.factors.map(|(x, y)| x * y)))?;
        cs.enforce(|| "product", |lc| lc + x, |lc| lc + y, |lc| lc + z);
        Ok(())
    }
}

/// x ↦ x² so often, for domains of chosen sizes: with the rows for the inputs it has `squarings + 2` rows.
#[derive(Clone)]
pub struct Squarings {
    /// x.
    pub x: Value,
    /// How often.
    pub squarings: usize,
}

impl Squarings {
    /// The public input.
    #[must_use]
    pub fn public(x: Scalar, squarings: usize) -> Vec<Scalar> {
        vec![(0..squarings).fold(x, |x, _| x.square())]
    }
}

impl Circuit<Scalar> for Squarings {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut value = self.x;
        let mut last = cs.alloc(|| "x", || get(value))?;
        for i in 0..self.squarings {
            value = value.map(|value| value.square());
            let name = || format!("square {i}");
            let next = match i + 1 == self.squarings {
                true => cs.alloc_input(name, || get(value))?,
                false => cs.alloc(name, || get(value))?,
            };
            cs.enforce(|| format!("row {i}"), |lc| lc + last, |lc| lc + last, |lc| lc + next);
            last = next;
        }
        Ok(())
    }
}

/// circom's constraints as a bellpepper circuit.
#[derive(Clone)]
pub struct Circom<'a> {
    /// The constraints.
    pub r1cs: &'a R1cs,
    /// The value of each wire.
    pub witness: Option<&'a [Scalar]>,
}

impl Circuit<Scalar> for Circom<'_> {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let value = |wire: usize| get(self.witness.map(|witness| witness[wire]));
        let inputs = self.r1cs.inputs();
        for wire in 1..inputs {
            cs.alloc_input(|| format!("wire {wire}"), || value(wire))?;
        }
        for wire in inputs..self.r1cs.wires() {
            cs.alloc(|| format!("wire {wire}"), || value(wire))?;
        }
        let sum = |terms: &[(u32, Scalar)]| {
            terms.iter().fold(LinearCombination::zero(), |lc, (wire, coefficient)| {
                let wire = *wire as usize;
                let index = if wire < inputs { Index::Input(wire) } else { Index::Aux(wire - inputs) };
                lc + (*coefficient, Variable::new_unchecked(index))
            })
        };
        for row in 0..self.r1cs.constraints() {
            let [a, b, c] = self.r1cs.row(row);
            cs.enforce(|| format!("row {row}"), |_| sum(a), |_| sum(b), |_| sum(c));
        }
        Ok(())
    }
}
