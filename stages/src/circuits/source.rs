//! Where the values of one proof come from.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use bellpepper_core::{Circuit, SynthesisError};
use blstrs::Scalar;

use super::circom::read_wtns_if;
use super::shape::CircuitShape;
use super::witness_cs::WitnessCs;
use crate::error::Error;
use crate::secret::SecretScalars;

/// The witness of one proof, or how to compute it, with the public inputs that the proof is to be about.
pub struct WitnessSource {
    public: PublicInputs,
    values: Values,
}

/// The public inputs of a proof, the constant ONE not counted: given with the witness, or known once it is computed.
#[derive(Clone, Debug, Default)]
pub struct PublicInputs(Arc<OnceLock<Vec<Scalar>>>);

impl PublicInputs {
    fn given(public: Vec<Scalar>) -> Self {
        Self(Arc::new(OnceLock::from(public)))
    }

    /// The values, where they are known.
    #[must_use]
    pub fn get(&self) -> Option<&[Scalar]> {
        self.0.get().map(Vec::as_slice)
    }
}

type Synthesis = dyn Fn(&mut WitnessCs<'_>) -> Result<(), SynthesisError> + Send + Sync;

type Computation = dyn Fn(&mut [Scalar]) -> Result<(), Error> + Send + Sync;

enum Values {
    Known(SecretScalars),
    Synthesised(Box<Synthesis>),
    Computed(Box<Computation>),
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
        Self { public: PublicInputs::given(public), values: Values::Synthesised(Box::new(synthesis)) }
    }

    /// Any computation of all values: ONE, the public inputs, the auxiliary variables. It runs where the graph puts
    /// synthesis, once a firing, and must give the same values each time; the proof is about the public inputs that it gives.
    #[must_use]
    pub fn computed(values: impl Fn(&mut [Scalar]) -> Result<(), Error> + Send + Sync + 'static) -> Self {
        Self { public: PublicInputs::default(), values: Values::Computed(Box::new(values)) }
    }

    /// All values: ONE, the public inputs, the auxiliary variables.
    ///
    /// # Errors
    /// The number of values is not the circuit's, or the first is not 1.
    pub fn values(shape: &CircuitShape, values: impl Into<SecretScalars>) -> Result<Self, Error> {
        let values = values.into();
        check_count(shape, &values, "the witness")?;
        let public = PublicInputs::given(values[1..shape.inputs()].to_vec());
        Ok(Self { public, values: Values::Known(values) })
    }

    /// A circom `.wtns` file for this circuit.
    ///
    /// # Errors
    /// The file cannot be read or understood, or has another number of values than the circuit has wires.
    pub fn from_wtns(shape: &CircuitShape, file: &Path) -> Result<Self, Error> {
        let whose = file.display().to_string();
        let judge = |count| if count == shape.variables() { Ok(()) } else { Err(wrong_count(shape, count, &whose)) };
        Self::values(shape, read_wtns_if(file, judge)?)
    }

    /// The public inputs, the constant ONE not counted. A clone learns of them when they are computed.
    #[must_use]
    pub fn public_inputs(&self) -> &PublicInputs {
        &self.public
    }

    /// Writes the values to their places: ONE, the public inputs, the auxiliary variables.
    ///
    /// # Errors
    /// The computation's own, or the values are not as many as the places or contradict the public inputs.
    pub fn write(&self, shape: &CircuitShape, places: &mut [Scalar]) -> Result<(), Error> {
        if places.len() != shape.variables() {
            return Err(Error::Internal(format!("{} places for {} variables", places.len(), shape.variables())));
        }
        match &self.values {
            Values::Known(values) if values.len() == places.len() => places.copy_from_slice(values),
            Values::Known(values) => return Err(wrong_count(shape, values.len(), "the witness")),
            Values::Computed(compute) => {
                compute(places)?;
                check_count(shape, places, "the computed witness")?;
            }
            Values::Synthesised(synthesis) => synthesise(shape, places, synthesis)?,
        }
        let claimed = self.public.0.get_or_init(|| places[1..shape.inputs()].to_vec());
        let claimed = claimed.iter().enumerate();
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
    synthesise(shape, &mut values, |cs| cs.synthesize(circuit))?;
    Ok(values)
}

fn synthesise(
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
