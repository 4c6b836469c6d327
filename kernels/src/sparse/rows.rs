//! Reading a triple row by row, and which columns it uses.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::decode::Block;
use super::layout::ROWS_PER_BLOCK;
use super::{Bitmap, Triple};
use crate::Scalar;

/// A row of one matrix of a triple.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    terms: &'a [(u32, u32)],
    values: &'a [Scalar],
}

impl<'a> Row<'a> {
    /// Columns, ascending, with their coefficients.
    pub fn terms(self) -> impl Iterator<Item = (u32, &'a Scalar)> {
        let values = self.values;
        self.terms.iter().map(move |&(column, code)| (column, &values[code as usize]))
    }
}

impl Triple {
    /// Shows every row of A, B and C, in order, with its number.
    pub fn for_each_row(&self, mut visit: impl FnMut(usize, [Row<'_>; 3])) {
        let mut block = Block::default();
        for index in 0..self.rows().div_ceil(ROWS_PER_BLOCK) {
            self.decode(index, &mut block);
            let mut rest = block.terms.as_slice();
            for (within, lengths) in block.lengths.chunks_exact(3).enumerate() {
                let rows = std::array::from_fn(|m| {
                    let (terms, behind) = rest.split_at(lengths[m] as usize);
                    rest = behind;
                    Row { terms, values: &self.parts().values }
                });
                visit(index * ROWS_PER_BLOCK + within, rows);
            }
        }
    }

    /// Which columns of A, B and C have at least one non-zero. Parallel.
    pub fn column_densities(&self) -> [Bitmap; 3] {
        let words = self.columns().div_ceil(64);
        let maps: [Vec<AtomicU64>; 3] = std::array::from_fn(|_| (0..words).map(|_| AtomicU64::new(0)).collect());
        (0..self.rows().div_ceil(ROWS_PER_BLOCK)).into_par_iter().for_each_init(Block::default, |block, index| {
            self.decode(index, block);
            let mut terms = block.terms.iter();
            for (at, length) in block.lengths.iter().enumerate() {
                for &(column, _) in terms.by_ref().take(*length as usize) {
                    let (word, bit) = (&maps[at % 3][column as usize / 64], 1 << (column % 64));
                    // Most columns occur often: a read leaves the cache line with everybody. The bits are read after
                    // the loop only, whose end orders them.
                    if word.load(Ordering::Relaxed) & bit == 0 {
                        word.fetch_or(bit, Ordering::Relaxed);
                    }
                }
            }
        });
        maps.map(|map| Bitmap::from_words(self.columns(), map.into_iter().map(AtomicU64::into_inner).collect()))
    }
}
