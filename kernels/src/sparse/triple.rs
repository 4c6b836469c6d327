//! The three matrices of a constraint system in one compressed stream.
//!
//! A, B and C lie in blocks of rows that can be read on their own, so that one pass over the witness does all three. Within
//! a block the rows are ordered for eight lanes (see `layout`), and dictionary codes stand for coefficients.

use rayon::prelude::*;

use super::compress::compress;
use super::decode::Block;
use super::layout::{Codes, Cursor, LANES, ROWS_PER_BLOCK, code_bytes, place};
use super::parts::Parts;
use super::wide::Sum;
use super::{Matrix, SparseError};
#[cfg(target_arch = "x86_64")]
use crate::ifma::sparse::Factors;
use crate::{Path, Scalar};

/// The matrices A, B and C of one constraint system, compressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Triple {
    /// Made by `new` or a builder, or checked by `from_parts`: every block decodes to rows of this shape.
    parts: Parts,
    kernel: Kernel,
}

/// How products are made.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kernel {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Ifma(Factors),
}

impl Triple {
    /// Compresses three matrices of the same shape.
    ///
    /// # Errors
    /// If the shapes differ.
    pub fn new(a: &Matrix, b: &Matrix, c: &Matrix) -> Result<Self, SparseError> {
        let matrices = [a, b, c];
        let shape = (a.rows(), a.columns());
        if let Some(other) = matrices.iter().find(|m| (m.rows(), m.columns()) != shape) {
            return Err(SparseError::ShapesDiffer { first: shape, other: (other.rows(), other.columns()) });
        }
        Ok(Self::with_parts(compress(matrices)))
    }

    /// Takes the parts of a triple that was stored, after checking that every row in them decodes: columns in range and
    /// ascending, coefficients in the dictionary, lengths and numbers as stated. Parallel.
    ///
    /// # Errors
    /// The first part or block that is not right.
    pub fn from_parts(parts: Parts) -> Result<Self, SparseError> {
        parts.check()?;
        Ok(Self::with_parts(parts))
    }

    pub(super) fn with_parts(parts: Parts) -> Self {
        Self { parts, kernel: Kernel::Portable }.with_path(Path::best())
    }

    /// The same with products made on a path; at first it is the best there is.
    #[must_use]
    pub fn with_path(self, path: Path) -> Self {
        let kernel = match path {
            Path::Portable => Kernel::Portable,
            #[cfg(target_arch = "x86_64")]
            Path::Ifma(proof) => Kernel::Ifma(Factors::new(proof, &self.parts.values)),
        };
        Self { parts: self.parts, kernel }
    }

    /// What it consists of, for storing.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Number of rows (constraints).
    pub fn rows(&self) -> usize {
        self.parts.rows
    }

    /// Number of columns (the length of the witness).
    pub fn columns(&self) -> usize {
        self.parts.columns
    }

    /// Numbers of non-zeros of A, B and C.
    pub fn nonzeros(&self) -> [usize; 3] {
        self.parts.nonzeros
    }

    /// Bytes of all arrays together.
    pub fn bytes(&self) -> usize {
        let kernel = match &self.kernel {
            Kernel::Portable => 0,
            #[cfg(target_arch = "x86_64")]
            Kernel::Ifma(factors) => factors.bytes(),
        };
        self.parts.stream.len() + 8 * self.parts.starts.len() + size_of_val(self.parts.values.as_slice()) + kernel
    }

    /// Row `i` of A, B and C: columns ascending with their coefficients.
    ///
    /// # Panics
    /// If there is no row `i`.
    pub fn row(&self, i: usize) -> [Vec<(u32, Scalar)>; 3] {
        assert!(i < self.rows(), "row {i} of {}", self.rows());
        let mut block = Block::default();
        self.decode(i / ROWS_PER_BLOCK, &mut block);
        let within = i % ROWS_PER_BLOCK;
        let mut at: usize = block.lengths[..3 * within].iter().map(|&length| length as usize).sum();
        std::array::from_fn(|m| {
            let terms = &block.terms[at..][..block.lengths[3 * within + m] as usize];
            at += terms.len();
            terms.iter().map(|&(column, place)| (column, self.parts.values[place as usize])).collect()
        })
    }

    /// Writes A·w, B·w and C·w; entries beyond the last row become zero. One pass, parallel.
    ///
    /// # Panics
    /// If `w` has not exactly [`columns`](Self::columns) entries, or an output is shorter than [`rows`](Self::rows) or
    /// not as long as the others.
    pub fn mul_into(&self, w: &[Scalar], a: &mut [Scalar], b: &mut [Scalar], c: &mut [Scalar]) {
        assert_eq!(w.len(), self.columns(), "the witness has another length than the matrices have columns");
        assert!(a.len() == b.len() && b.len() == c.len(), "outputs of {}, {} and {}", a.len(), b.len(), c.len());
        assert!(a.len() >= self.rows(), "{} rows do not fit into {} outputs", self.rows(), a.len());
        let outputs = a.par_chunks_mut(ROWS_PER_BLOCK).zip(b.par_chunks_mut(ROWS_PER_BLOCK));
        outputs.zip(c.par_chunks_mut(ROWS_PER_BLOCK)).enumerate().for_each(|(index, ((a, b), c))| {
            let mut out = [a, b, c];
            if let Some(cursor) = self.cursor(index) {
                match &self.kernel {
                    Kernel::Portable => multiply(cursor, &self.parts.values, w, &mut out),
                    #[cfg(target_arch = "x86_64")]
                    Kernel::Ifma(factors) => factors.multiply(cursor, w, &mut out),
                }
            }
            let rows = self.rows().saturating_sub(index * ROWS_PER_BLOCK);
            out.iter_mut().filter_map(|out| out.get_mut(rows..)).for_each(|behind| behind.fill(Scalar::default()));
        });
    }

    /// A block's groups, or nothing if there is no such block.
    pub(super) fn cursor(&self, index: usize) -> Option<Cursor<'_>> {
        Some(Cursor::new(self.parts.block(index)?, code_bytes(&self.parts.values)))
    }
}

/// The products of one block, term by term.
fn multiply(mut cursor: Cursor<'_>, values: &[Scalar], w: &[Scalar], out: &mut [&mut [Scalar]; 3]) {
    while let Some(group) = cursor.group() {
        let mut sums = [Sum::default(); LANES];
        for _ in 0..group.steps {
            let Some(step) = cursor.step() else { return };
            for (lane, sum) in sums[..group.lanes].iter_mut().enumerate() {
                let value = &w[step.columns[lane] as usize];
                match step.codes {
                    Codes::Plus => sum.add(value),
                    Codes::Minus => sum.subtract(value),
                    codes => {
                        if let Some(place) = place(codes.of(lane)) {
                            sum.add(&(*value * values[place]));
                        }
                    }
                }
            }
        }
        for (lane, sum) in sums[..group.lanes].iter().enumerate() {
            let slot = group.slots.of(lane);
            let place = &mut out[slot.matrix()][slot.row()];
            *place = if group.continues { *place + sum.reduced() } else { sum.reduced() };
        }
    }
}
