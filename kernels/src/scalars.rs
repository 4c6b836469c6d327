//! The scalars of a witness, sorted by what they cost.
//!
//! Most witnesses are mostly bits: a scalar 1 costs one addition, a full one costs 255 bits' worth of buckets.

mod blocks;
mod classes;
mod density;

pub use density::{Density, DensityMap};

pub(crate) use blocks::Block;

use ff::PrimeField;
use proofline_memory::{Arena, List};
use rayon::prelude::*;

use crate::Scalar;
use blocks::{Places, WORDS_EACH};
use classes::Class;

/// Scalars of a block, which one parallel task classifies.
const PER_BLOCK: usize = 1 << 14;
/// The topmost bit of a position marks a negative small scalar.
const NEGATIVE: u32 = 1 << 31;
/// The most scalars that one set can hold.
pub const MAX_LEN: usize = NEGATIVE as usize - 1;

/// The bytes that a set takes for each of its scalars, whatever they are.
pub const BYTES_EACH: usize = size_of::<u32>() * WORDS_EACH;

/// The scalars of a witness by class: zero (dropped), 1, −1, small (magnitude below 2^64, either sign), full.
///
/// One set serves all queries over the witness: a [`Density`] says which of its scalars a query has points for.
/// Holds witness values: [`wipe`](Self::wipe) erases them, and so does dropping the set.
#[derive(Default)]
pub struct ScalarSet {
    len: usize,
    /// A region for each block, [`WORDS_EACH`] words for each of its scalars.
    words: List<u32>,
    /// How many scalars of each class but zero a block has.
    counts: List<[u32; 4]>,
}

impl ScalarSet {
    /// An empty set, which gets memory when it is filled.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty set with memory in an arena for any `len` scalars.
    pub fn in_arena(arena: &Arena, len: usize) -> Self {
        let (mut words, mut counts) = (List::new(arena), List::new(arena));
        words.reserve_total(WORDS_EACH * len);
        counts.reserve_total(len.div_ceil(PER_BLOCK));
        Self { len: 0, words, counts }
    }

    /// Replaces the contents by the classified `scalars`, which are read once. Parallel.
    ///
    /// # Panics
    /// If there are more than [`MAX_LEN`] scalars.
    pub fn fill(&mut self, scalars: &[Scalar]) {
        self.wipe();
        let len = scalars.len();
        assert!(len <= MAX_LEN, "a set of {len} scalars is above the limit of {MAX_LEN}");
        self.len = len;
        self.words.set_len(WORDS_EACH * len, 0);
        self.counts.set_len(len.div_ceil(PER_BLOCK), [0; 4]);
        let regions = self.words.par_chunks_mut(WORDS_EACH * PER_BLOCK);
        let blocks = scalars.par_chunks(PER_BLOCK).zip(regions).zip(self.counts.par_iter_mut());
        blocks.enumerate().for_each(|(at, ((scalars, region), counts))| {
            let mut places = Places::new(region);
            for (scalar, position) in scalars.iter().zip((at * PER_BLOCK) as u32..) {
                places.put(position, Class::of(scalar));
            }
            *counts = places.counts();
        });
    }

    /// Number of scalars, zeros included.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no scalars.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many scalars are in each class.
    pub fn counts(&self) -> Counts {
        let of = |class: usize| self.counts.iter().map(|counts| counts[class] as usize).sum();
        let [ones, minus_ones, small, full] = std::array::from_fn(of);
        Counts { zeros: self.len - ones - minus_ones - small - full, ones, minus_ones, small, full }
    }

    /// Bytes of memory held, used or not.
    pub fn bytes(&self) -> usize {
        self.words.bytes() + self.counts.bytes()
    }

    /// Erases all scalars and keeps the memory for the next [`fill`](Self::fill).
    pub fn wipe(&mut self) {
        self.len = 0;
        let regions = self.words.chunks_mut(WORDS_EACH * PER_BLOCK);
        regions.zip(self.counts.iter()).for_each(|(region, counts)| blocks::wipe(region, *counts));
        std::hint::black_box(&mut self.words[..]);
        self.words.clear();
        self.counts.fill([0; 4]);
        std::hint::black_box(&mut self.counts[..]);
        self.counts.clear();
    }

    /// Block `at`, from 0.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn block(&self, at: usize) -> Block<'_> {
        let first = WORDS_EACH * PER_BLOCK * at;
        let end = self.words.len().min(first + WORDS_EACH * PER_BLOCK);
        Block::new(&self.words[first..end], self.counts[at])
    }

    /// How many blocks there are.
    pub(crate) fn block_count(&self) -> usize {
        self.counts.len()
    }
}

/// Numbers of scalars per class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Scalars 0, which cost nothing.
    pub zeros: usize,
    /// Scalars 1.
    pub ones: usize,
    /// Scalars −1.
    pub minus_ones: usize,
    /// Scalars of a magnitude below 2^64, except those above.
    pub small: usize,
    /// All others.
    pub full: usize,
}

impl Drop for ScalarSet {
    fn drop(&mut self) {
        self.wipe();
    }
}

impl std::fmt::Debug for ScalarSet {
    /// Counts only: the values are secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ScalarSet").field(&self.counts()).finish()
    }
}

/// The canonical value of a scalar as four 64-bit limbs from the lowest.
pub(crate) fn canonical(scalar: &Scalar) -> [u64; 4] {
    let bytes = scalar.to_repr();
    let mut limbs = [0; 4];
    for (limb, bytes) in limbs.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *limb = u64::from_le_bytes(*bytes);
    }
    limbs
}

/// r, the order of the groups.
pub(crate) const ORDER: [u64; 4] =
    [0xffff_ffff_0000_0001, 0x53bd_a402_fffe_5bfe, 0x3339_d808_09a1_d805, 0x73ed_a753_299d_7d48];

/// 2^256 mod r: the words of the scalar 1 in memory.
pub(crate) const ONE: [u64; 4] =
    [0x0000_0001_ffff_fffe, 0x5884_b7fa_0003_4802, 0x998c_4fef_ecbc_4ff5, 0x1824_b159_acc5_056f];

#[cfg(test)]
mod tests;
