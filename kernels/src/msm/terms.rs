//! The terms of a multiplication, laid out for cutting digits.

use rayon::prelude::*;
use zeroize::Zeroize;

use super::digits::{Windows, bit_length};
use super::workspace::{OfTerms, Sorted};

/// Scalars with the entries of their bases. Limbs lie limb by limb, so that a window reads only the limbs it cuts.
///
/// Holds scalars of a witness, in memory of a workspace: erased when dropped.
pub(super) struct Terms<'m, const LIMBS: usize> {
    entries: &'m mut [u32],
    limbs: [&'m mut [u64]; LIMBS],
    bits: u32,
}

/// Terms that one task prepares, at least.
const TERMS_PER_TASK: usize = 1 << 12;
/// Tasks of a multiplication, at most: the list of them stays small.
const MOST_TASKS: usize = 1 << 8;

fn per_task(terms: usize) -> usize {
    terms.div_ceil(MOST_TASKS).max(TERMS_PER_TASK)
}

impl<'m, const LIMBS: usize> Terms<'m, LIMBS> {
    /// As many terms as there is memory for; `term(i)` gives the entry of a base (twice its index, plus one for its
    /// negative) and the scalar, or nothing for a term that is to be left out.
    pub(super) fn new(
        (entries, limbs): OfTerms<'m, LIMBS>,
        term: impl Fn(usize) -> Option<(u32, [u64; LIMBS])> + Sync,
    ) -> Self {
        // A term that is left out is one with the scalar zero: all its digits are zero.
        let blank = (0, [0; LIMBS]);
        let count = entries.len();
        let mut terms = Self { entries, limbs, bits: 0 };
        let per_task = per_task(count);
        let limbs = tasks(&mut terms.limbs, per_task);
        let entries = terms.entries.par_chunks_mut(per_task);
        let longest = entries.zip(limbs).enumerate().map(|(task, (entries, mut limbs))| {
            let mut longest = [0; LIMBS];
            for (at, place) in entries.iter_mut().enumerate() {
                let (entry, scalar) = term(task * per_task + at).unwrap_or(blank);
                *place = entry;
                for ((limbs, limb), longest) in limbs.iter_mut().zip(scalar).zip(&mut longest) {
                    limbs[at] = limb;
                    *longest |= limb;
                }
            }
            bit_length(&longest)
        });
        terms.bits = longest.max().unwrap_or(0);
        terms
    }

    /// Number of terms, those left out included.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Bits of the longest scalar.
    pub(super) fn bits(&self) -> u32 {
        self.bits
    }

    /// Adds the bias of the windows to every scalar; to be done once, before [`sort`](Self::sort).
    pub(super) fn bias(&mut self, windows: &Windows<LIMBS>) {
        let per_task = per_task(self.entries.len());
        tasks(&mut self.limbs, per_task).into_par_iter().for_each(|mut limbs| {
            for at in 0..limbs[0].len() {
                let biased = windows.biased(&limbs.each_ref().map(|limbs| limbs[at]));
                for (limbs, limb) in limbs.iter_mut().zip(biased) {
                    limbs[at] = limb;
                }
            }
        });
    }

    /// A counting sort of some terms by their digit in `window`: the entries of bucket 0 (digits ±1), then those of
    /// bucket 1 (±2) and so on, and how many each bucket has. A negative digit turns the entry into that of the negative
    /// base. Zero digits are dropped.
    pub(super) fn sort(
        &self,
        range: std::ops::Range<usize>,
        windows: &Windows<LIMBS>,
        window: u32,
        sorted: &mut Sorted,
    ) {
        let Sorted { entries, sizes, places } = sorted;
        let cut = windows.cut(window);
        let low = &self.limbs[cut.limb()][range.clone()];
        // The last limb has nothing above; its own bits stand in and are masked out.
        let high = &self.limbs[(cut.limb() + 1).min(LIMBS - 1)][range.clone()];
        // Place 0 counts zero digits.
        places.clear();
        places.resize(windows.buckets(window) + 1, 0);
        for (&low, &high) in low.iter().zip(high) {
            places[cut.digit(low, high).unsigned_abs() as usize] += 1;
        }
        sizes.clear();
        sizes.extend_from_slice(&places[1..]);
        let mut next = 0;
        for (place, size) in places[1..].iter_mut().zip(sizes.iter()) {
            *place = next;
            next += size;
        }
        // Zero digits all go to one place behind the others.
        places[0] = next;
        let behind = next as usize;
        entries.set_len(behind + 1, 0);
        for ((&low, &high), &entry) in low.iter().zip(high).zip(&self.entries[range]) {
            let digit = cut.digit(low, high);
            let place = &mut places[digit.unsigned_abs() as usize];
            entries[*place as usize] = entry ^ u32::from(digit < 0);
            *place += u32::from(digit != 0);
        }
        entries.truncate(behind);
    }
}

/// The limbs in pieces of `per_task` terms.
fn tasks<'a, const LIMBS: usize>(limbs: &'a mut [&mut [u64]; LIMBS], per_task: usize) -> Vec<[&'a mut [u64]; LIMBS]> {
    let count = limbs[0].len().div_ceil(per_task);
    let mut chunks: [_; LIMBS] = limbs.each_mut().map(|limbs| limbs.chunks_mut(per_task));
    (0..count).map(|_| chunks.each_mut().map(|chunks| chunks.next().unwrap_or_default())).collect()
}

impl<const LIMBS: usize> Drop for Terms<'_, LIMBS> {
    fn drop(&mut self) {
        self.limbs.iter_mut().for_each(|limb| limb.zeroize());
    }
}
