//! The scalars of one query, sorted by what they cost.
//!
//! Most witnesses are mostly bits: a scalar 1 costs one addition, a full one costs 255 bits' worth of buckets.

mod classes;

use classes::{Class, Places, put_all, sum};
use ff::PrimeField;
use proofline_memory::{Arena, List};
use rayon::prelude::*;

use crate::Scalar;

/// Scalars that one parallel task classifies.
const SCALARS_PER_TASK: usize = 1 << 14;
/// The topmost bit of a position marks a negative small scalar.
const NEGATIVE: u32 = 1 << 31;
/// The most scalars that one set can hold.
pub const MAX_LEN: usize = NEGATIVE as usize - 1;

/// The bytes that a scalar of a set takes at most: a full one, with its position.
pub const MOST_BYTES: usize = size_of::<Full>();

/// The scalars of one query by class: zero (dropped), 1, −1, small (magnitude below 2^64, either sign), full.
///
/// Holds witness values: [`wipe`](Self::wipe) erases them, and so does dropping the set.
#[derive(Default)]
pub struct ScalarSet {
    len: usize,
    /// How many there are of each class but zero.
    counts: [usize; 4],
    /// The ones, the minus ones, the small and the full ones, one class behind the other.
    words: List<u32>,
    /// What each task found, by class; kept for the next [`fill`](Self::fill).
    found: List<[usize; 4]>,
}

/// Words of an entry, by class.
const WORDS: [usize; 4] = [1, 1, size_of::<Small>() / 4, size_of::<Full>() / 4];

/// A scalar of magnitude 2 to 2^64 − 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C, packed(4))]
pub(crate) struct Small {
    /// Position in the query; the topmost bit says that the scalar is minus the magnitude.
    position: u32,
    magnitude: u64,
}

impl Small {
    pub(crate) fn position(&self) -> u32 {
        self.position & !NEGATIVE
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.position & NEGATIVE != 0
    }

    pub(crate) fn magnitude(&self) -> u64 {
        self.magnitude
    }
}

/// Any other scalar, canonical, four 64-bit limbs from the lowest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C, packed(4))]
pub(crate) struct Full {
    position: u32,
    limbs: [u64; 4],
}

impl Full {
    pub(crate) fn position(&self) -> u32 {
        self.position
    }

    pub(crate) fn limbs(&self) -> [u64; 4] {
        self.limbs
    }
}

impl ScalarSet {
    /// An empty set, which gets memory when it is filled.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty set with memory in an arena for any `len` scalars.
    pub fn in_arena(arena: &Arena, len: usize) -> Self {
        let (mut words, mut found) = (List::new(arena), List::new(arena));
        words.reserve_total(MOST_BYTES / 4 * len);
        found.reserve_total(len.div_ceil(SCALARS_PER_TASK));
        Self { len: 0, counts: [0; 4], words, found }
    }

    /// Replaces the contents by the classified `scalars`. With `positions`, scalar k of the query is
    /// `scalars[positions[k]]`; without, it is `scalars[k]`.
    ///
    /// # Panics
    /// If a position is out of range, or there are more than [`MAX_LEN`] scalars.
    pub fn fill(&mut self, scalars: &[Scalar], positions: Option<&[u32]>) {
        self.wipe();
        let len = positions.map_or(scalars.len(), <[u32]>::len);
        assert!(len <= MAX_LEN, "a query of {len} scalars is above the limit of {MAX_LEN}");
        self.len = len;
        let class = |k: usize| Class::of(&scalars[positions.map_or(k, |positions| positions[k] as usize)]);
        let range = |task: usize| task * SCALARS_PER_TASK..len.min((task + 1) * SCALARS_PER_TASK);
        // Two passes: converting twice costs less than lists of unknown lengths and their copies.
        self.found.resize(len.div_ceil(SCALARS_PER_TASK), [0; 4]);
        self.found.par_iter_mut().enumerate().for_each(|(task, counts)| {
            *counts = [0; 4];
            range(task).for_each(|k| class(k).count(counts));
        });
        self.counts = sum(&self.found);
        self.words.set_len((0..4).map(|class| WORDS[class] * self.counts[class]).sum(), 0);
        let places = Places::of(&mut self.words, self.counts);
        put_all(0, &self.found, places, &|task, mut places| {
            range(task).for_each(|k| places.put(k as u32, class(k)));
        });
    }

    /// Number of scalars of the query, zeros included.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the query has no scalars.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many scalars are in each class.
    pub fn counts(&self) -> Counts {
        let [ones, minus_ones, small, full] = self.counts;
        Counts { zeros: self.len - ones - minus_ones - small - full, ones, minus_ones, small, full }
    }

    /// Bytes of memory held, used or not.
    pub fn bytes(&self) -> usize {
        self.words.bytes() + self.found.bytes()
    }

    /// Erases all scalars and keeps the memory for the next [`fill`](Self::fill).
    pub fn wipe(&mut self) {
        (self.len, self.counts) = (0, [0; 4]);
        self.words.fill(0);
        std::hint::black_box(&mut self.words[..]);
        self.words.clear();
        self.found.fill([0; 4]);
        std::hint::black_box(&mut self.found[..]);
    }

    pub(crate) fn ones(&self) -> &[u32] {
        &self.words[..self.counts[0]]
    }

    pub(crate) fn minus_ones(&self) -> &[u32] {
        &self.words[self.counts[0]..][..self.counts[1]]
    }

    pub(crate) fn small(&self) -> &[Small] {
        let words = &self.words[self.counts[0] + self.counts[1]..][..WORDS[2] * self.counts[2]];
        // SAFETY: a `Small` is made of as many words, is aligned like one, and is anything that they may be.
        unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), self.counts[2]) }
    }

    pub(crate) fn full(&self) -> &[Full] {
        let words = &self.words[self.words.len() - WORDS[3] * self.counts[3]..];
        // SAFETY: as for the small ones.
        unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), self.counts[3]) }
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
