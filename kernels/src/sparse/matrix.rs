//! The matrix in compressed sparse rows with dictionary-coded coefficients.

use ff::Field;
use rayon::prelude::*;

use super::dictionary::{MINUS_ONE, ONE};
use crate::Scalar;

/// Rows that one parallel task takes: enough to hide the cost of a task, few enough to balance uneven rows.
const ROWS_PER_TASK: usize = 1 << 10;

/// An immutable sparse matrix over the scalar field.
#[derive(Debug, Clone)]
pub struct Matrix {
    columns: usize,
    /// `row_starts[i]..row_starts[i + 1]` are the non-zeros of row i.
    row_starts: Vec<u64>,
    column_of: Vec<u32>,
    codes: Codes,
    values: Vec<Scalar>,
}

/// Dictionary codes, as narrow as the dictionary allows.
#[derive(Debug, Clone)]
enum Codes {
    One(Vec<u8>),
    Two(Vec<u16>),
    Four(Vec<u32>),
}

impl Codes {
    fn pack(codes: &[u32], distinct: usize) -> Self {
        if distinct <= 1 << 8 {
            Self::One(codes.iter().map(|&code| code as u8).collect())
        } else if distinct <= 1 << 16 {
            Self::Two(codes.iter().map(|&code| code as u16).collect())
        } else {
            Self::Four(codes.to_vec())
        }
    }

    fn get(&self, at: usize) -> u32 {
        match self {
            Self::One(codes) => codes[at].into(),
            Self::Two(codes) => codes[at].into(),
            Self::Four(codes) => codes[at],
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::One(codes) => codes.len(),
            Self::Two(codes) => 2 * codes.len(),
            Self::Four(codes) => 4 * codes.len(),
        }
    }
}

impl Matrix {
    pub(super) fn new(
        columns: usize,
        row_ends: &[u64],
        column_of: Vec<u32>,
        code_of: &[u32],
        values: Vec<Scalar>,
    ) -> Self {
        let row_starts = std::iter::once(0).chain(row_ends.iter().copied()).collect();
        let codes = Codes::pack(code_of, values.len());
        Self { columns, row_starts, column_of, codes, values }
    }

    /// Number of rows (constraints).
    pub fn rows(&self) -> usize {
        self.row_starts.len() - 1
    }

    /// Number of columns (the length of the witness it multiplies).
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of stored, non-zero coefficients.
    pub fn nonzeros(&self) -> usize {
        self.column_of.len()
    }

    /// Bytes of all arrays of the matrix together.
    pub fn bytes(&self) -> usize {
        8 * self.row_starts.len() + 4 * self.column_of.len() + self.codes.bytes() + size_of_val(self.values.as_slice())
    }

    /// The non-zeros of row `i`, in ascending order of columns.
    ///
    /// # Panics
    /// If the matrix has no row `i`.
    pub fn row(&self, i: usize) -> Vec<(u32, Scalar)> {
        self.span(i).map(|at| (self.column_of[at], self.values[self.codes.get(at) as usize])).collect()
    }

    /// Writes the product with the witness `w` to `out`; entries of `out` beyond the last row become zero.
    ///
    /// # Panics
    /// If `w` has not exactly [`columns`](Self::columns) entries, or `out` has fewer than [`rows`](Self::rows).
    pub fn mul_into(&self, w: &[Scalar], out: &mut [Scalar]) {
        assert_eq!(w.len(), self.columns, "the witness has another length than the matrix has columns");
        assert!(out.len() >= self.rows(), "{} rows do not fit into {} outputs", self.rows(), out.len());
        match &self.codes {
            Codes::One(codes) => self.mul_with(codes, w, out),
            Codes::Two(codes) => self.mul_with(codes, w, out),
            Codes::Four(codes) => self.mul_with(codes, w, out),
        }
    }

    fn mul_with<T: Copy + Into<u32> + Sync>(&self, codes: &[T], w: &[Scalar], out: &mut [Scalar]) {
        out.par_chunks_mut(ROWS_PER_TASK).enumerate().for_each(|(task, chunk)| {
            for (offset, entry) in chunk.iter_mut().enumerate() {
                let row = task * ROWS_PER_TASK + offset;
                let mut sum = Scalar::ZERO;
                if row < self.rows() {
                    for at in self.span(row) {
                        let value = &w[self.column_of[at] as usize];
                        match codes[at].into() {
                            ONE => sum += value,
                            MINUS_ONE => sum -= value,
                            code => sum += *value * self.values[code as usize],
                        }
                    }
                }
                *entry = sum;
            }
        });
    }

    /// Which columns have at least one non-zero: the density map of a query.
    pub fn column_density(&self) -> Bitmap {
        let mut density = Bitmap::new(self.columns);
        for &column in &self.column_of {
            density.set(column as usize);
        }
        density
    }

    fn span(&self, row: usize) -> std::ops::Range<usize> {
        self.row_starts[row] as usize..self.row_starts[row + 1] as usize
    }
}

/// A fixed number of bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bitmap {
    len: usize,
    words: Vec<u64>,
}

impl Bitmap {
    /// `len` bits, all clear.
    pub fn new(len: usize) -> Self {
        Self { len, words: vec![0; len.div_ceil(64)] }
    }

    /// From words of 64 bits, lowest first; bits from `len` on must be clear.
    pub(super) fn from_words(len: usize, words: Vec<u64>) -> Self {
        debug_assert_eq!(words.len(), len.div_ceil(64));
        Self { len, words }
    }

    /// Number of bits, set or clear.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no bits at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Sets bit `i`.
    ///
    /// # Panics
    /// If `i` is not below [`len`](Self::len).
    pub fn set(&mut self, i: usize) {
        assert!(i < self.len, "bit {i} of {}", self.len);
        self.words[i / 64] |= 1 << (i % 64);
    }

    /// Bit `i`.
    ///
    /// # Panics
    /// If `i` is not below [`len`](Self::len).
    pub fn get(&self, i: usize) -> bool {
        assert!(i < self.len, "bit {i} of {}", self.len);
        self.words[i / 64] >> (i % 64) & 1 == 1
    }

    /// The bits by words of 64, lowest first.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// How many bits are set.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The positions of the set bits, ascending.
    pub fn ones(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let bit = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    64 * at + bit
                })
            })
        })
    }
}
