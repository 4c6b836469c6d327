//! Where the values of one proof come from.

use std::path::Path;

use bellpepper_core::{Circuit, SynthesisError};
use blstrs::Scalar;

use super::circom::read_wtns;
use super::shape::CircuitShape;
use super::witness_cs::WitnessCs;
use crate::error::Error;
use crate::secret::SecretScalars;

/// The witness of one proof, or how to compute it, with the public inputs that the proof is to be about.
pub struct WitnessSource {
    public: Vec<Scalar>,
    values: Values,
}

type Synthesis = dyn Fn(&mut WitnessCs<'_>) -> Result<(), SynthesisError> + Send + Sync;

enum Values {
    Known(SecretScalars),
    Computed(Box<Synthesis>),
}

impl WitnessSource {
    /// A bellpepper circuit with its witness, and its public inputs without the constant ONE.
    #[must_use]
    pub fn circuit<C: Circuit<Scalar> + Clone + Send + Sync + 'static>(public: Vec<Scalar>, circuit: C) -> Self {
        Self::synthesis(public, move |cs| cs.synthesize(circuit.clone()))
    }

    /// Any synthesis; it is called once a firing and must give the same values each time.
    #[must_use]
    pub fn synthesis(
        public: Vec<Scalar>,
        synthesis: impl Fn(&mut WitnessCs<'_>) -> Result<(), SynthesisError> + Send + Sync + 'static,
    ) -> Self {
        Self { public, values: Values::Computed(Box::new(synthesis)) }
    }

    /// All values: ONE, the public inputs, the auxiliary variables.
    ///
    /// # Errors
    /// The number of values is not the circuit's, or the first is not 1.
    pub fn values(shape: &CircuitShape, values: impl Into<SecretScalars>) -> Result<Self, Error> {
        let values = values.into();
        check_count(shape, &values, "the witness")?;
        let public = values[1..shape.inputs()].to_vec();
        Ok(Self { public, values: Values::Known(values) })
    }

    /// A circom `.wtns` file for this circuit.
    ///
    /// # Errors
    /// The file cannot be read or understood, or has another number of values than the circuit has wires.
    pub fn from_wtns(shape: &CircuitShape, file: &Path) -> Result<Self, Error> {
        let values = read_wtns(file)?;
        check_count(shape, &values, &file.display().to_string())?;
        Self::values(shape, values)
    }

    /// The public inputs, the constant ONE not counted.
    #[must_use]
    pub fn public_inputs(&self) -> &[Scalar] {
        &self.public
    }

    /// Writes the values to their places.
    pub(crate) fn write(&self, shape: &CircuitShape, places: &mut [Scalar]) -> Result<(), Error> {
        match &self.values {
            Values::Known(values) if values.len() == places.len() => places.copy_from_slice(values),
            Values::Known(values) => return Err(wrong_count(shape, values.len(), "the witness")),
            Values::Computed(synthesis) => {
                let mut cs = WitnessCs::over(places, shape.inputs());
                let failed = |source| Error::Synthesis { circuit: shape.name().to_owned(), source };
                synthesis(&mut cs).map_err(failed)?;
                let counts = cs.counts();
                if counts.inputs != shape.inputs() || counts.aux != shape.aux() {
                    return Err(Error::Mismatch(format!(
                        "the synthesis made {} inputs and {} auxiliary variables, the circuit `{}` has {} and {}: it is \
                         the witness of another circuit",
                        counts.inputs,
                        counts.aux,
                        shape.name(),
                        shape.inputs(),
                        shape.aux()
                    )));
                }
            }
        }
        let claimed = self.public.iter().enumerate();
        match claimed.zip(&places[1..shape.inputs()]).find(|((_, claimed), value)| claimed != value) {
            Some(((index, _), _)) => Err(Error::Mismatch(format!(
                "public input {index} (counted from 0, without ONE) of the witness is not the one that was given with it"
            ))),
            None => Ok(()),
        }
    }
}

/// All values of a circuit's witness: ONE, the public inputs, the auxiliary variables.
///
/// # Errors
/// The circuit's own, or it is another circuit than `shape`.
pub fn witness_of<C: Circuit<Scalar>>(shape: &CircuitShape, circuit: C) -> Result<SecretScalars, Error> {
    let mut values = SecretScalars::zeros(shape.variables());
    compute(shape, &mut values, |cs| cs.synthesize(circuit))?;
    Ok(values)
}

fn compute(
    shape: &CircuitShape,
    places: &mut [Scalar],
    synthesis: impl FnOnce(&mut WitnessCs<'_>) -> Result<(), SynthesisError>,
) -> Result<(), Error> {
    let mut cs = WitnessCs::over(places, shape.inputs());
    synthesis(&mut cs).map_err(|source| Error::Synthesis { circuit: shape.name().to_owned(), source })?;
    let counts = cs.counts();
    if counts.inputs == shape.inputs() && counts.aux == shape.aux() {
        return Ok(());
    }
    Err(Error::Mismatch(format!(
        "the synthesis made {} inputs and {} auxiliary variables, the circuit `{}` has {} and {}: it is the witness of \
         another circuit",
        counts.inputs,
        counts.aux,
        shape.name(),
        shape.inputs(),
        shape.aux()
    )))
}

fn check_count(shape: &CircuitShape, values: &[Scalar], whose: &str) -> Result<(), Error> {
    use ff::Field;
    if values.len() != shape.variables() {
        return Err(wrong_count(shape, values.len(), whose));
    }
    if values[0] != Scalar::ONE {
        return Err(Error::BadText(format!("{whose}: the first value must be 1")));
    }
    Ok(())
}

fn wrong_count(shape: &CircuitShape, count: usize, whose: &str) -> Error {
    Error::Mismatch(format!(
        "{whose} has {count} values, the circuit `{}` has {} variables (ONE counted): it is the witness of another \
         circuit",
        shape.name(),
        shape.variables()
    ))
}
