//! The distinct coefficients of a matrix.

use std::collections::{HashMap, HashSet};

use ff::{Field, PrimeField};

use crate::Scalar;

/// Code of the coefficient 1, present in every dictionary.
pub(super) const ONE: u32 = 0;
/// Code of the coefficient −1, present in every dictionary.
pub(super) const MINUS_ONE: u32 = 1;

/// Distinct coefficients in order of first appearance; 1 and −1 always come first.
#[derive(Debug, Clone)]
pub(super) struct Dictionary {
    values: Vec<Scalar>,
    codes: HashMap<[u8; 32], u32>,
}

impl Dictionary {
    pub(super) fn new() -> Self {
        let mut dictionary = Self { values: Vec::new(), codes: HashMap::new() };
        let one = dictionary.code(&Scalar::ONE);
        let minus_one = dictionary.code(&-Scalar::ONE);
        debug_assert_eq!((one, minus_one), (ONE, MINUS_ONE));
        dictionary
    }

    /// The code of `value`, new or known.
    pub(super) fn code(&mut self, value: &Scalar) -> u32 {
        if let Some(code) = self.unit(value) {
            return code;
        }
        let next = self.values.len() as u32;
        let code = *self.codes.entry(value.to_repr()).or_insert(next);
        if code == next {
            self.values.push(*value);
        }
        code
    }

    /// The code of a value that is in it.
    pub(super) fn find(&self, value: &Scalar) -> Option<u32> {
        self.unit(value).or_else(|| self.codes.get(&value.to_repr()).copied())
    }

    /// The code of 1 and −1, which two of three coefficients are.
    fn unit(&self, value: &Scalar) -> Option<u32> {
        let units = self.values.get(..2)?;
        units.iter().position(|unit| unit == value).map(|code| code as u32)
    }

    /// Whether it has at most so many values once those of this row are in it.
    pub(super) fn has_room(&self, row: &[(u32, Scalar)], most: usize) -> bool {
        // Mostly there is room for as many new ones as the row has terms; else they are counted.
        self.values.len() + row.len() <= most || {
            let lacks = |value: &Scalar| Some(value.to_repr()).filter(|bytes| !self.codes.contains_key(bytes));
            let new: HashSet<_> = row.iter().filter_map(|(_, value)| lacks(value)).collect();
            self.values.len() + new.len() <= most
        }
    }

    pub(super) fn values(&self) -> &[Scalar] {
        &self.values
    }

    pub(super) fn into_values(self) -> Vec<Scalar> {
        self.values
    }
}
