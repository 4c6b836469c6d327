//! The terms of a multiplication, laid out for cutting digits.

use rayon::prelude::*;
use zeroize::Zeroize;

use super::digits::{Windows, bit_length};

/// Scalars with the entries of their bases. Limbs lie limb by limb, so that a window reads only the limbs it cuts.
///
/// Holds scalars of a witness: erased when dropped.
pub(super) struct Terms<const LIMBS: usize> {
    entries: Vec<u32>,
    limbs: [Vec<u64>; LIMBS],
    bits: u32,
}

/// Terms that one task prepares.
const TERMS_PER_TASK: usize = 1 << 12;

impl<const LIMBS: usize> Terms<LIMBS> {
    /// `count` terms; `term(i)` gives the entry of a base (twice its index, plus one for its negative) and the scalar,
    /// or nothing for a term that is to be left out.
    pub(super) fn new(count: usize, term: impl Fn(usize) -> Option<(u32, [u64; LIMBS])> + Sync) -> Self {
        // A term that is left out is one with the scalar zero: all its digits are zero.
        let blank = (0, [0; LIMBS]);
        let mut terms = Self { entries: vec![0; count], limbs: std::array::from_fn(|_| vec![0; count]), bits: 0 };
        let mut limbs: Vec<[&mut [u64]; LIMBS]> = Vec::new();
        let mut chunks: [_; LIMBS] = terms.limbs.each_mut().map(|limbs| limbs.chunks_mut(TERMS_PER_TASK));
        for _ in 0..count.div_ceil(TERMS_PER_TASK) {
            limbs.push(chunks.each_mut().map(|chunks| chunks.next().unwrap_or_default()));
        }
        let entries = terms.entries.par_chunks_mut(TERMS_PER_TASK);
        let longest = entries.zip(limbs).enumerate().map(|(task, (entries, mut limbs))| {
            let mut longest = [0; LIMBS];
            for (at, place) in entries.iter_mut().enumerate() {
                let (entry, scalar) = term(task * TERMS_PER_TASK + at).unwrap_or(blank);
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
        let mut chunks: [_; LIMBS] = self.limbs.each_mut().map(|limbs| limbs.chunks_mut(TERMS_PER_TASK));
        let tasks: Vec<[&mut [u64]; LIMBS]> = (0..self.entries.len().div_ceil(TERMS_PER_TASK))
            .map(|_| chunks.each_mut().map(|chunks| chunks.next().unwrap_or_default()))
            .collect();
        tasks.into_par_iter().for_each(|mut limbs| {
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
    ) -> (Vec<u32>, Vec<u32>) {
        let cut = windows.cut(window);
        let low = &self.limbs[cut.limb()][range.clone()];
        // The last limb has nothing above; its own bits stand in and are masked out.
        let high = &self.limbs[(cut.limb() + 1).min(LIMBS - 1)][range.clone()];
        // Place 0 counts zero digits.
        let mut sizes = vec![0u32; windows.buckets(window) + 1];
        for (&low, &high) in low.iter().zip(high) {
            sizes[cut.digit(low, high).unsigned_abs() as usize] += 1;
        }
        let mut next = 0;
        let mut places: Vec<u32> = sizes
            .iter()
            .enumerate()
            .map(|(bucket, size)| {
                let place = next;
                next += if bucket == 0 { 0 } else { *size };
                place
            })
            .collect();
        // Zero digits all go to one place behind the others.
        let behind = next as usize;
        let mut entries = vec![0; behind + 1];
        places[0] = next;
        for ((&low, &high), &entry) in low.iter().zip(high).zip(&self.entries[range]) {
            let digit = cut.digit(low, high);
            let place = &mut places[digit.unsigned_abs() as usize];
            entries[*place as usize] = entry ^ u32::from(digit < 0);
            *place += u32::from(digit != 0);
        }
        entries.truncate(behind);
        sizes.remove(0);
        (entries, sizes)
    }
}

impl<const LIMBS: usize> Drop for Terms<LIMBS> {
    fn drop(&mut self) {
        self.limbs.iter_mut().for_each(Zeroize::zeroize);
    }
}
