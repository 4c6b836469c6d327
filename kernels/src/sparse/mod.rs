//! Sparse constraint matrices and their product with a witness.
//!
//! Real constraint systems use few distinct coefficients (1, −1, powers of two, some round constants), so a matrix
//! stores each value once, in a dictionary, and each non-zero as a pair (column, dictionary code).

mod builder;
mod compress;
mod decode;
mod dictionary;
mod extract;
pub(crate) mod layout;
mod matrix;
mod parts;
mod rows;
mod triple;
mod wide;

pub use builder::MatrixBuilder;
pub use extract::{Blocks, Frame, RowTerms, Survey, TripleBuilder};
pub use matrix::{Bitmap, Matrix};
pub use parts::Parts;
pub use rows::Row;
pub use triple::Triple;

/// Why a row could not be added to a matrix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SparseError {
    /// A term names a column that the matrix does not have.
    #[error(
        "row {row} uses column {column}, but the matrix has {columns} columns (0 to {columns} − 1): \
             the constraint belongs to another circuit, or the variable was never allocated"
    )]
    ColumnOutOfRange {
        /// The row that was being added, counted from 0.
        row: usize,
        /// The column it names.
        column: u32,
        /// How many columns the matrix has.
        columns: usize,
    },
    /// The matrix has more columns than an index can name.
    #[error("a matrix may have at most {limit} columns, {columns} were asked for")]
    TooManyColumns {
        /// The number asked for.
        columns: usize,
        /// The largest number allowed.
        limit: usize,
    },
    /// Matrices of one constraint system have one shape.
    #[error("the matrices of one system must have one shape: {} × {} and {} × {} were given",
            first.0, first.1, other.0, other.1)]
    ShapesDiffer {
        /// Rows and columns of the first matrix.
        first: (usize, usize),
        /// Rows and columns of one that differs.
        other: (usize, usize),
    },
    /// Rows are gone through twice, and were others the second time.
    #[error(
        "row {row} is not as it was when the rows were surveyed: the circuit's synthesis gives other constraints each time"
    )]
    SurveyDiffers {
        /// The row, or the number of rows.
        row: usize,
    },
    /// A stored part is not what a triple consists of.
    #[error("{what}; the stored matrices are damaged")]
    Damaged {
        /// Which part, and what is wrong with it.
        what: String,
    },
    /// More distinct coefficients than a code can name.
    #[error(
        "row {row} brings the distinct coefficients of the matrix above {limit}: it is not a sparse matrix of a circuit"
    )]
    TooManyCoefficients {
        /// The row that was being added, counted from 0.
        row: usize,
        /// The largest number allowed.
        limit: usize,
    },
}

#[cfg(test)]
mod border_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod triple_tests;
