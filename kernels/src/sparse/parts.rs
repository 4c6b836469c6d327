//! What a triple consists of, as it is stored, and the check of what was stored.

use ff::Field;
use rayon::prelude::*;

use super::SparseError;
use super::triple::{KIND_BITS, KIND_MINUS_ONE, KIND_NEXT, KIND_ONE, LENGTH_BITS, ROWS_PER_BLOCK};
use super::varint::Checked;
use crate::Scalar;

/// The arrays of a [`Triple`](super::Triple). Anything can be in here; a triple made of it has been checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    /// Rows of each matrix.
    pub rows: usize,
    /// Columns of each matrix.
    pub columns: usize,
    /// Non-zeros of A, B and C.
    pub nonzeros: [usize; 3],
    /// The rows, compressed, in blocks of 128.
    pub stream: Vec<u8>,
    /// Where each block starts in the stream.
    pub starts: Vec<u64>,
    /// The distinct coefficients: 1, −1, and others in the order of their first use.
    pub values: Vec<Scalar>,
}

fn damaged(what: impl Into<String>) -> SparseError {
    SparseError::Damaged { what: what.into() }
}

impl Parts {
    pub(super) fn check(&self) -> Result<(), SparseError> {
        if u32::try_from(self.columns).is_err() || u32::try_from(self.values.len()).is_err() {
            let (columns, values) = (self.columns, self.values.len());
            return Err(damaged(format!("{columns} columns and {values} coefficients are not below 2^32")));
        }
        if !self.values.starts_with(&[Scalar::ONE, -Scalar::ONE]) || self.values.contains(&Scalar::ZERO) {
            return Err(damaged("the coefficients do not begin with 1 and -1, or one of them is 0"));
        }
        let blocks = self.rows.div_ceil(ROWS_PER_BLOCK);
        if self.starts.len() != blocks {
            let (rows, starts) = (self.rows, self.starts.len());
            return Err(damaged(format!("{rows} rows have {blocks} blocks, and {starts} starts are there")));
        }
        if blocks == 0 && !self.stream.is_empty() {
            return Err(damaged("there are no rows, and bytes of rows"));
        }
        if self.starts.first().is_some_and(|start| *start != 0) {
            return Err(damaged("the first block does not start at the front"));
        }
        let count = |block: usize| self.count(block).ok_or(block);
        let add = |a: [usize; 3], b: [usize; 3]| [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
        let counted: Result<Vec<_>, usize> = (0..blocks).into_par_iter().map(count).collect();
        let counted = counted.map_err(|block| {
            let (first, last) = (block * ROWS_PER_BLOCK, self.rows.min((block + 1) * ROWS_PER_BLOCK));
            damaged(format!("the block of rows {first} to {} is no block of rows", last - 1))
        })?;
        let counted = counted.into_iter().fold([0; 3], add);
        if counted != self.nonzeros {
            let stated = self.nonzeros;
            return Err(damaged(format!("{counted:?} non-zeros are there, and {stated:?} are stated")));
        }
        Ok(())
    }

    /// The non-zeros of a block's rows; nothing if it is not one from its first byte to its last.
    fn count(&self, block: usize) -> Option<[usize; 3]> {
        let start = usize::try_from(self.starts[block]).ok()?;
        let end = self.starts.get(block + 1).map_or(Some(self.stream.len()), |end| usize::try_from(*end).ok())?;
        let mut reader = Checked::new(self.stream.get(start..end)?);
        let mut counted = [0; 3];
        let mut columns = [0u32; 3];
        let mut code = 0u64;
        for _ in block * ROWS_PER_BLOCK..self.rows.min((block + 1) * ROWS_PER_BLOCK) {
            let lengths = lengths(&mut reader)?;
            for (m, length) in lengths.into_iter().enumerate() {
                let mut before = None;
                for _ in 0..length {
                    let token = reader.number()?;
                    let distance = u32::try_from(token >> KIND_BITS).ok()?;
                    let column = columns[m].wrapping_add(distance >> 1 ^ (distance & 1).wrapping_neg());
                    if column as usize >= self.columns || before.is_some_and(|before| column <= before) {
                        return None;
                    }
                    (columns[m], before) = (column, Some(column));
                    match token & ((1 << KIND_BITS) - 1) {
                        KIND_ONE | KIND_MINUS_ONE => {}
                        KIND_NEXT => code += 1,
                        _ => code = reader.number()?,
                    }
                    if code >= self.values.len() as u64 {
                        return None;
                    }
                }
                counted[m] += length;
            }
        }
        (reader.left() == 0).then_some(counted)
    }
}

/// A row's three lengths. A term has a byte at least, so that longer rows than the bytes left are none.
fn lengths(reader: &mut Checked<'_>) -> Option<[usize; 3]> {
    let mut header = u32::from(reader.byte()?);
    let mut lengths = [0; 3];
    for (length, bits) in lengths.iter_mut().zip(LENGTH_BITS) {
        *length = header & ((1 << bits) - 1);
        header >>= bits;
    }
    let mut out = [0; 3];
    for ((out, length), bits) in out.iter_mut().zip(lengths).zip(LENGTH_BITS) {
        let length = if length == (1 << bits) - 1 { reader.number()? } else { u64::from(length) };
        *out = usize::try_from(length).ok().filter(|length| *length <= reader.left())?;
    }
    Some(out)
}
