//! From constraints to compressed matrices, without all rows in memory: constraints are gone through twice.

use blstrs::Scalar;
use proofline_kernels::scalars::MAX_LEN;
use proofline_kernels::sparse::{RowTerms, SparseError, Survey};

use super::rows::Rows;
use crate::error::Error;

/// What takes rows, one after the other.
pub(crate) type Take<'a> = &'a mut (dyn FnMut(RowTerms<'_>) -> Result<(), Error> + Send);

/// How many variables there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Counts {
    /// ONE counted.
    pub(crate) inputs: usize,
    pub(crate) aux: usize,
}

/// Constraints that can be gone through as often as one likes.
pub(crate) trait Constraints {
    /// Shows every row to `take`, and counts the variables. The column of auxiliary variable k is `aux_from` + k, or has its
    /// number, if inputs are known from the start.
    fn each_row(&self, aux_from: u32, take: Take<'_>) -> Result<Counts, Error>;
}

/// Rows in memory, whose columns have their numbers.
pub(crate) struct Known<'a> {
    pub(crate) counts: Counts,
    pub(crate) rows: &'a Rows,
}

impl Constraints for Known<'_> {
    fn each_row(&self, _: u32, take: Take<'_>) -> Result<Counts, Error> {
        (0..self.rows.len()).try_for_each(|row| take(self.rows.row(row)))?;
        Ok(self.counts)
    }
}

/// Where auxiliary variables are counted from until the number of inputs is known: a circuit may allocate inputs after
/// constraints.
pub(crate) const BEHIND_ALL_INPUTS: u32 = 1 << 31;

/// Constraints that were gone through once.
pub(crate) struct Surveyed<'a, C> {
    name: &'a str,
    constraints: C,
    pub(crate) counts: Counts,
    pub(crate) survey: Survey,
}

impl<'a, C: Constraints> Surveyed<'a, C> {
    /// The first time.
    ///
    /// # Errors
    /// Those of the synthesis, or the circuit is too large.
    pub(crate) fn new(name: &'a str, constraints: C) -> Result<Self, Error> {
        let mut survey = Survey::default();
        let mut take = |terms: RowTerms<'_>| survey.push_row(terms).map_err(|fault| refused(name, &fault));
        let counts = constraints.each_row(BEHIND_ALL_INPUTS, &mut take)?;
        let variables = counts.inputs.saturating_add(counts.aux);
        if variables > MAX_LEN {
            return Err(Error::Mismatch(format!(
                "the circuit `{name}` is too large: {variables} variables, and {MAX_LEN} is the limit"
            )));
        }
        each_input(counts.inputs, &mut take)?;
        Ok(Self { name, constraints, counts, survey })
    }

    /// Inputs and auxiliary variables.
    pub(crate) fn variables(&self) -> usize {
        self.counts.inputs + self.counts.aux
    }

    /// The second time: the circuit's own rows, and those that are appended for the inputs.
    ///
    /// # Errors
    /// Those of the synthesis and of `take`.
    pub(crate) fn each_row(&self, mut take: impl FnMut(RowTerms<'_>) -> Result<(), Fault> + Send) -> Result<(), Error> {
        let mut take = |terms: RowTerms<'_>| take(terms).map_err(|fault| fault.of(self.name));
        // The limit on variables is below 2^32.
        let counts = self.constraints.each_row(self.counts.inputs as u32, &mut take)?;
        if counts != self.counts {
            return Err(refused(self.name, &SparseError::SurveyDiffers { row: self.survey.rows() }));
        }
        each_input(counts.inputs, &mut take)
    }

    /// The error of a circuit that matrices cannot have.
    pub(crate) fn refused(&self, fault: &SparseError) -> Error {
        refused(self.name, fault)
    }
}

/// Why a row was not taken.
pub(crate) enum Fault {
    Sparse(SparseError),
    Other(Error),
}

impl From<SparseError> for Fault {
    fn from(fault: SparseError) -> Self {
        Self::Sparse(fault)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl Fault {
    fn of(self, circuit: &str) -> Error {
        match self {
            Self::Sparse(fault) => refused(circuit, &fault),
            Self::Other(error) => error,
        }
    }
}

/// The rows x · 0 = 0, one for each input x.
fn each_input(inputs: usize, take: Take<'_>) -> Result<(), Error> {
    // The limit on variables is below 2^32.
    (0..inputs as u32).try_for_each(|input| take([&[(input, Scalar::from(1))], &[], &[]]))
}

fn refused(name: &str, fault: &SparseError) -> Error {
    Error::Mismatch(match fault {
        SparseError::SurveyDiffers { .. } => format!("the circuit `{name}` cannot be compiled: {fault}"),
        _ => format!("the circuit `{name}` is too large: {fault}"),
    })
}
