//! Constraints on their way from a file or a synthesis into matrices.

use blstrs::Scalar;

/// The rows of a constraint system: three sums of (column, coefficient) each, one after the other.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rows {
    terms: Vec<(u32, Scalar)>,
    /// The end of each sum in `terms`: A, B, C of row 0, A, B, C of row 1, …
    ends: Vec<usize>,
}

impl Rows {
    pub(crate) fn with_capacity(terms: usize, rows: usize) -> Self {
        Self { terms: Vec::with_capacity(terms), ends: Vec::with_capacity(3 * rows) }
    }

    /// Adds a term to the sum that is open.
    pub(crate) fn push(&mut self, column: u32, coefficient: Scalar) {
        self.terms.push((column, coefficient));
    }

    /// Ends the sum; the next one of the row, or the next row, is open then.
    pub(crate) fn close(&mut self) {
        self.ends.push(self.terms.len());
    }

    /// The number of complete rows.
    pub(crate) fn len(&self) -> usize {
        self.ends.len() / 3
    }

    /// The sums A, B and C of a row.
    pub(crate) fn row(&self, row: usize) -> [&[(u32, Scalar)]; 3] {
        [0, 1, 2].map(|side| {
            let sum = 3 * row + side;
            let start = sum.checked_sub(1).map_or(0, |before| self.ends[before]);
            &self.terms[start..self.ends[sum]]
        })
    }
}
