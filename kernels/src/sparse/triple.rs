//! The three matrices of a constraint system in one compressed stream.
//!
//! Rows of A, B and C lie behind one another, in blocks that can be decoded on their own, so that one pass over the
//! witness does all three. A row is a byte with three short lengths, then a token per non-zero: the distance
//! from the column before it in the same matrix (constraints use variables that were allocated nearby) and two bits for
//! the coefficient: 1, −1, the dictionary's next entry after the last one used (bits are recomposed with 1, 2, 4, …), or
//! an entry by number.

use rayon::prelude::*;

use super::dictionary::{Dictionary, MINUS_ONE, ONE};
use super::parts::Parts;
use super::varint::{Reader, push};
use super::wide::Sum;
use super::{Matrix, SparseError};
use crate::Scalar;

/// Rows of a block: its decoded form stays in a first-level cache, and its start costs 8 bytes.
pub(super) const ROWS_PER_BLOCK: usize = 128;
/// Blocks that one task takes.
const BLOCKS_PER_TASK: usize = 8;
/// Decoded non-zeros that a witness value is asked for ahead of its use.
const FETCH_AHEAD: usize = 24;

/// How a coefficient is written, in the low bits of a token.
pub(super) const KIND_ONE: u64 = 0;
pub(super) const KIND_MINUS_ONE: u64 = 1;
pub(super) const KIND_NEXT: u64 = 2;
const KIND_CODE: u64 = 3;
pub(super) const KIND_BITS: u32 = 2;

/// Bits of the lengths of A's, B's and C's rows in a row's first byte; the largest value of each says that the length
/// follows.
pub(super) const LENGTH_BITS: [u32; 3] = [3, 3, 2];

/// The matrices A, B and C of one constraint system, compressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Triple {
    /// Made by `new`, or checked by `from_parts`: every block decodes to rows of this shape.
    parts: Parts,
}

/// What a stream refers back to, at the start of every block.
#[derive(Debug, Clone, Copy, Default)]
struct Context {
    column: [u32; 3],
    code: u32,
}

/// A decoded block.
#[derive(Default)]
pub(super) struct Block {
    /// Non-zeros of each row, three numbers a row.
    pub(super) lengths: Vec<u32>,
    /// Column and code of each non-zero, in order.
    pub(super) terms: Vec<(u32, u32)>,
}

impl Triple {
    /// Compresses three matrices of the same shape.
    ///
    /// # Errors
    /// If the shapes differ, or there are too many distinct coefficients.
    pub fn new(a: &Matrix, b: &Matrix, c: &Matrix) -> Result<Self, SparseError> {
        let matrices = [a, b, c];
        let shape = (a.rows(), a.columns());
        if let Some(other) = matrices.iter().find(|m| (m.rows(), m.columns()) != shape) {
            return Err(SparseError::ShapesDiffer { first: shape, other: (other.rows(), other.columns()) });
        }
        let mut dictionary = Dictionary::new();
        let mut stream = Vec::new();
        let mut starts = Vec::new();
        let mut context = Context::default();
        for i in 0..a.rows() {
            if i % ROWS_PER_BLOCK == 0 {
                starts.push(stream.len() as u64);
                context = Context::default();
            }
            write_row(&mut stream, &mut context, &mut dictionary, matrices.map(|m| m.row(i)));
        }
        stream.shrink_to_fit();
        let nonzeros = matrices.map(Matrix::nonzeros);
        let values = dictionary.into_values();
        let parts = Parts { rows: shape.0, columns: shape.1, nonzeros, stream, starts, values };
        Ok(Self { parts })
    }

    /// Takes the parts of a triple that was stored, after checking that every row in them decodes: columns in range and
    /// ascending, coefficients in the dictionary, lengths and numbers as stated. Parallel.
    ///
    /// # Errors
    /// The first part or block that is not right.
    pub fn from_parts(parts: Parts) -> Result<Self, SparseError> {
        parts.check()?;
        Ok(Self { parts })
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
        self.parts.stream.len() + 8 * self.parts.starts.len() + size_of_val(self.parts.values.as_slice())
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
            terms.iter().map(|&(column, code)| (column, self.parts.values[code as usize])).collect()
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
        const ROWS: usize = ROWS_PER_BLOCK * BLOCKS_PER_TASK;
        let outputs = a.par_chunks_mut(ROWS).zip(b.par_chunks_mut(ROWS)).zip(c.par_chunks_mut(ROWS));
        outputs.enumerate().for_each_init(Block::default, |decoded, (task, ((a, b), c))| {
            let blocks =
                a.chunks_mut(ROWS_PER_BLOCK).zip(b.chunks_mut(ROWS_PER_BLOCK)).zip(c.chunks_mut(ROWS_PER_BLOCK));
            for (at, ((a, b), c)) in blocks.enumerate() {
                self.decode(task * BLOCKS_PER_TASK + at, decoded);
                self.multiply(decoded, w, [a, b, c]);
            }
        });
    }

    /// One block; rows that it has not are zero.
    fn multiply(&self, block: &Block, w: &[Scalar], mut out: [&mut [Scalar]; 3]) {
        let values = self.parts.values.as_slice();
        let mut terms = block.terms.iter().enumerate();
        for row in 0..out[0].len() {
            for (m, out) in out.iter_mut().enumerate() {
                let length = block.lengths.get(3 * row + m).copied().unwrap_or(0);
                let mut sum = Sum::default();
                for (at, &(column, code)) in terms.by_ref().take(length as usize) {
                    if let Some(&(soon, _)) = block.terms.get(at + FETCH_AHEAD) {
                        fetch(w, soon as usize);
                    }
                    let value = &w[column as usize];
                    match code {
                        ONE => sum.add(value),
                        MINUS_ONE => sum.subtract(value),
                        code => sum.add(&(*value * values[code as usize])),
                    }
                }
                out[row] = sum.reduced();
            }
        }
    }

    /// Decodes block `index`, or nothing if there is none.
    pub(super) fn decode(&self, index: usize, block: &mut Block) {
        block.lengths.clear();
        block.terms.clear();
        let Some(&start) = self.parts.starts.get(index) else { return };
        let rows = (self.rows() - index * ROWS_PER_BLOCK).min(ROWS_PER_BLOCK);
        let mut reader = Reader::new(&self.parts.stream[start as usize..]);
        let mut context = Context::default();
        for _ in 0..rows {
            let mut header = reader.byte();
            let mut lengths = [0; 3];
            for (length, bits) in lengths.iter_mut().zip(LENGTH_BITS) {
                *length = u32::from(header) & ((1 << bits) - 1);
                header >>= bits;
            }
            for (length, bits) in lengths.iter_mut().zip(LENGTH_BITS) {
                if *length == (1 << bits) - 1 {
                    *length = reader.number() as u32;
                }
            }
            block.lengths.extend_from_slice(&lengths);
            for (m, length) in lengths.into_iter().enumerate() {
                for _ in 0..length {
                    let token = reader.number();
                    let distance = token >> KIND_BITS;
                    // Zigzag: even is forward, odd is back.
                    let step = (distance >> 1) as u32 ^ ((distance & 1) as u32).wrapping_neg();
                    context.column[m] = context.column[m].wrapping_add(step);
                    let code = match token & ((1 << KIND_BITS) - 1) {
                        KIND_ONE => ONE,
                        KIND_MINUS_ONE => MINUS_ONE,
                        KIND_NEXT => {
                            context.code += 1;
                            context.code
                        }
                        _ => {
                            context.code = reader.number() as u32;
                            context.code
                        }
                    };
                    block.terms.push((context.column[m], code));
                }
            }
        }
    }
}

fn write_row(stream: &mut Vec<u8>, context: &mut Context, dictionary: &mut Dictionary, rows: [Vec<(u32, Scalar)>; 3]) {
    let mut header = 0;
    let mut shift = 0;
    for (row, bits) in rows.iter().zip(LENGTH_BITS) {
        header |= (row.len().min((1 << bits) - 1) as u8) << shift;
        shift += bits;
    }
    stream.push(header);
    for (row, bits) in rows.iter().zip(LENGTH_BITS) {
        if row.len() >= (1 << bits) - 1 {
            push(stream, row.len() as u64);
        }
    }
    for (m, row) in rows.iter().enumerate() {
        for (column, value) in row {
            let step = column.wrapping_sub(context.column[m]) as i32;
            let distance = u64::from((step << 1 ^ step >> 31) as u32);
            context.column[m] = *column;
            let code = dictionary.code(value);
            let kind = match code {
                ONE => KIND_ONE,
                MINUS_ONE => KIND_MINUS_ONE,
                code if code == context.code + 1 => KIND_NEXT,
                _ => KIND_CODE,
            };
            push(stream, distance << KIND_BITS | kind);
            if kind == KIND_CODE {
                push(stream, code.into());
            }
            if code > MINUS_ONE {
                context.code = code;
            }
        }
    }
}

/// Asks the memory for an entry, if it is one.
#[inline(always)]
fn fetch(w: &[Scalar], at: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch of any address is allowed; it only fills caches.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(w.as_ptr().wrapping_add(at).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (w, at);
}
