//! What a triple consists of, as it is stored, and the check of what was stored.

use ff::Field;
use rayon::prelude::*;

use super::SparseError;
use super::layout::{Cursor, LANES, MOST_STEPS, ROWS_PER_BLOCK, Slots, code_bytes, place};
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
    /// The rows, compressed, in blocks of 1,024.
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
    /// The bytes of a block; nothing where the starts are no places in the stream in ascending order.
    pub(super) fn block(&self, index: usize) -> Option<&[u8]> {
        let start = usize::try_from(*self.starts.get(index)?).ok()?;
        let end = self.starts.get(index + 1).map_or(Some(self.stream.len()), |end| usize::try_from(*end).ok())?;
        self.stream.get(start..end)
    }

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
        // Of several damaged blocks the first is told, whichever was looked at first.
        let counted: Vec<_> = (0..blocks).into_par_iter().map(count).collect();
        let counted = counted.into_iter().collect::<Result<Vec<_>, usize>>().map_err(|block| {
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
        let rows = (self.rows - block * ROWS_PER_BLOCK).min(ROWS_PER_BLOCK);
        let mut cursor = Cursor::new(self.block(block)?, code_bytes(&self.values));
        let mut seen = vec![[Seen::Nothing; 3]; rows];
        let mut counted = [0; 3];
        // Slot and column of the terms of rows in several segments, whose order in the row is not that of the stream.
        let mut scattered = Vec::new();
        while !cursor.is_at_end() {
            let group = cursor.group().filter(|group| group.steps <= MOST_STEPS)?;
            if let Slots::From(first) = group.slots
                && first.row() + group.lanes > ROWS_PER_BLOCK
            {
                return None;
            }
            for slot in (0..group.lanes).map(|lane| group.slots.of(lane)) {
                let seen = seen.get_mut(slot.row())?.get_mut(slot.matrix())?;
                // A row begins once, and continues if its first segment is full; whether it is, its terms say.
                match (group.continues, *seen) {
                    (false, Seen::Nothing) => *seen = Seen::Short,
                    (true, Seen::Full) => {}
                    _ => return None,
                }
            }
            let mut before = [None; LANES];
            for at in 0..group.steps {
                let step = cursor.step()?;
                for lane in 0..LANES {
                    let (column, code) = (step.columns[lane], step.codes.of(lane));
                    let known = place(code).is_none_or(|place| place < self.values.len());
                    if column as usize >= self.columns || !known {
                        return None;
                    }
                    if lane >= group.lanes || code == 0 {
                        continue;
                    }
                    // Columns ascend, and behind a step without a term there is none.
                    let ascends = match before[lane] {
                        None => at == 0,
                        Some((last, before)) => last + 1 == at && before < column,
                    };
                    if !ascends {
                        return None;
                    }
                    before[lane] = Some((at, column));
                    let slot = group.slots.of(lane);
                    counted[slot.matrix()] += 1;
                    if group.steps == MOST_STEPS || group.continues {
                        scattered.push((slot, column));
                    }
                    if !group.continues && at + 1 == MOST_STEPS {
                        *seen.get_mut(slot.row())?.get_mut(slot.matrix())? = Seen::Full;
                    }
                }
            }
        }
        scattered.sort_unstable();
        let distinct = scattered.windows(2).all(|pair| pair[0] != pair[1]);
        (distinct && seen.iter().all(|seen| seen.iter().all(|seen| *seen != Seen::Nothing))).then_some(counted)
    }
}

/// What of a row has been met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Nothing,
    /// Its first segment, which is its only one.
    Short,
    /// Its first segment, of as many terms as one can have: others may follow.
    Full,
}
