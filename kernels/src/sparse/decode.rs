//! The rows of a block, read back from its lanes.

use super::Triple;
use super::layout::{MOST_STEPS, ROWS_PER_BLOCK, Slot, place};

/// A decoded block.
#[derive(Default)]
pub(super) struct Block {
    /// Non-zeros of each row, three numbers a row.
    pub(super) lengths: Vec<u32>,
    /// Column and place in the dictionary of each non-zero, row by row: A's, B's and C's, columns ascending.
    pub(super) terms: Vec<(u32, u32)>,
    /// The terms in the order of the stream.
    found: Vec<(Slot, u32, u32)>,
}

impl Triple {
    /// Decodes block `index`, or nothing if there is none.
    pub(super) fn decode(&self, index: usize, block: &mut Block) {
        block.lengths.clear();
        block.terms.clear();
        block.found.clear();
        let Some(mut cursor) = self.cursor(index) else { return };
        let rows = (self.rows() - index * ROWS_PER_BLOCK).min(ROWS_PER_BLOCK);
        block.lengths.resize(3 * rows, 0);
        while let Some(group) = cursor.group() {
            for _ in 0..group.steps {
                let Some(step) = cursor.step() else { return };
                for lane in 0..group.lanes {
                    if let Some(place) = place(step.codes.of(lane)) {
                        let slot = group.slots.of(lane);
                        block.lengths[number(slot)] += 1;
                        block.found.push((slot, step.columns[lane], place as u32));
                    }
                }
            }
        }
        let mut at = 0;
        let mut places: Vec<usize> = block
            .lengths
            .iter()
            .map(|length| {
                let start = at;
                at += *length as usize;
                start
            })
            .collect();
        block.terms.resize(at, (0, 0));
        for &(slot, column, place) in &block.found {
            let at = &mut places[number(slot)];
            block.terms[*at] = (column, place);
            *at += 1;
        }
        // Rows in several segments: those need not lie in order.
        for (length, end) in block.lengths.iter().zip(places) {
            if *length as usize > MOST_STEPS {
                block.terms[end - *length as usize..end].sort_unstable();
            }
        }
    }
}

fn number(slot: Slot) -> usize {
    3 * slot.row() + slot.matrix()
}
