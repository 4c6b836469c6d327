//! Building a matrix row by row.

use ff::Field;

use super::dictionary::Dictionary;
use super::{Matrix, SparseError};
use crate::Scalar;

/// Columns are named by 32 bits; the topmost value stays free as a marker.
pub(super) const MAX_COLUMNS: usize = u32::MAX as usize;
/// Codes share a 32-bit word with nothing, but a dictionary of this size no longer compresses anything.
pub(super) const MAX_COEFFICIENTS: usize = 1 << 24;

/// Collects the rows of a [`Matrix`] in order.
#[derive(Debug, Clone)]
pub struct MatrixBuilder {
    columns: usize,
    row_ends: Vec<u64>,
    column_of: Vec<u32>,
    code_of: Vec<u32>,
    dictionary: Dictionary,
    most_coefficients: usize,
    /// The terms of the row that is being added, in the order of their columns, each column once.
    row: Vec<(u32, Scalar)>,
}

impl MatrixBuilder {
    /// A builder for a matrix with `columns` columns (the length of the witness) and no rows yet.
    pub fn new(columns: usize) -> Self {
        Self::with_limit(columns, MAX_COEFFICIENTS)
    }

    /// The same with another limit of distinct coefficients, 1 and −1 counted.
    pub(super) fn with_limit(columns: usize, most_coefficients: usize) -> Self {
        Self {
            most_coefficients,
            columns,
            row_ends: Vec::new(),
            column_of: Vec::new(),
            code_of: Vec::new(),
            dictionary: Dictionary::new(),
            row: Vec::new(),
        }
    }

    /// Adds one row. Terms may come in any order; terms of the same column are summed, and what sums to zero is dropped.
    ///
    /// # Errors
    /// A column out of range, or more columns or coefficients than the format can name. The row is not added then.
    pub fn push_row(&mut self, terms: &[(u32, Scalar)]) -> Result<(), SparseError> {
        let row = self.row_ends.len();
        if self.columns > MAX_COLUMNS {
            return Err(SparseError::TooManyColumns { columns: self.columns, limit: MAX_COLUMNS });
        }
        if let Some(&(column, _)) = terms.iter().find(|(column, _)| *column as usize >= self.columns) {
            return Err(SparseError::ColumnOutOfRange { row, column, columns: self.columns });
        }
        normalise(&mut self.row, terms);
        if !self.dictionary.has_room(&self.row, self.most_coefficients) {
            return Err(SparseError::TooManyCoefficients { row, limit: self.most_coefficients });
        }
        for (column, value) in &self.row {
            self.column_of.push(*column);
            self.code_of.push(self.dictionary.code(value));
        }
        self.row_ends.push(self.column_of.len() as u64);
        Ok(())
    }

    /// The finished matrix.
    pub fn finish(self) -> Matrix {
        Matrix::new(self.columns, &self.row_ends, self.column_of, &self.code_of, self.dictionary.into_values())
    }
}

/// The terms of a row in the order of their columns, each column once, without zeros.
pub(super) fn normalise(row: &mut Vec<(u32, Scalar)>, terms: &[(u32, Scalar)]) {
    row.clear();
    row.extend_from_slice(terms);
    // Mostly a synthesis gives them in order. A stable sort keeps the sum's order equal to the input's, so that equal inputs
    // give equal matrices.
    if !row.is_sorted_by(|a, b| a.0 < b.0) {
        row.sort_by_key(|(column, _)| *column);
        row.dedup_by(|next, sum| {
            let same = next.0 == sum.0;
            if same {
                sum.1 += next.1;
            }
            same
        });
    }
    row.retain(|(_, sum)| !bool::from(sum.is_zero()));
}
