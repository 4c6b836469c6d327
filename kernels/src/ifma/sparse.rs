//! Products of a block of sparse rows, eight segments of rows at a time.
//!
//! Terms are added up without reduction: those with coefficients ±1 as limbs, the others as columns of their products.
//! One reduction at the end serves both.
//!
//! Ranges. Witness values w and factors a·2^260 mod r are canonical, so their limbs are below 2^52. Of at most 32 steps
//! let s be sums, d differences and m products. Limbs of the sums stay within ±2^57, and a column of the products, which
//! takes at most ten halves of 52 bits a step, below 2^61. The products are worth less than m·r² and reduce to less than
//! r + m·r/35.3, since r/2^260 is 1/35.3. The differences are made positive by adding d·r, so that the final reduction
//! gets at least 0 and less than (s + d + m/35.3 + 1)·r ≤ 33r, within the 35r that it takes.

use super::Ifma;
use super::field::{Modulus, multiple, reduce_raw, splat};
use super::fr::{self, Fr, LIMBS, R};
use super::vector::{LANES, V, each};
use crate::sparse::layout::{Cursor, Group, Kind, MOST_STEPS, Slot, Slots};
use crate::{Scalar, fetch};

/// Columns of a product of two elements.
const COLUMNS: usize = 2 * LIMBS;

/// k·r, for the most differences that a segment can have.
const MULTIPLES: [[u64; LIMBS]; MOST_STEPS + 1] = {
    let mut out = [[0; LIMBS]; MOST_STEPS + 1];
    let mut k = 0;
    while k < out.len() {
        out[k] = multiple(R::PRIME, k as u64);
        k += 1;
    }
    out
};

/// The coefficients of a triple as factors, by code; the factor of code 0 is 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Factors {
    proof: Ifma,
    /// As words, for one per lane.
    words: Vec<Scalar>,
    /// As limbs, for the same in all lanes.
    limbs: Vec<[u64; LIMBS]>,
}

impl Factors {
    pub(crate) fn new(proof: Ifma, values: &[Scalar]) -> Self {
        let by_code = || std::iter::once(Scalar::from(0)).chain(values.iter().copied());
        // The words of a scalar are its value times 2^256; 2^260 = 16 · 2^256.
        let words = by_code().map(|value| value * Scalar::from(16)).collect();
        Self { proof, words, limbs: by_code().map(fr::factor).collect() }
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.words.as_slice()) + size_of_val(self.limbs.as_slice())
    }

    /// Writes the products of a block's rows with `w`.
    ///
    /// # Panics
    /// If the block names a column, a coefficient or a row that is not there.
    pub(crate) fn multiply(&self, cursor: Cursor<'_>, w: &[Scalar], out: &mut [&mut [Scalar]; 3]) {
        // SAFETY: `proof` proves the features.
        unsafe { multiply(self, cursor, w, out) }
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx512ifma")]
fn multiply(factors: &Factors, mut cursor: Cursor<'_>, w: &[Scalar], out: &mut [&mut [Scalar]; 3]) {
    // The next block's outputs follow these. Within a block they are written in no order that the CPU could guess.
    let mut next = out.each_ref().map(|out| out.as_ptr().wrapping_add(out.len()).cast::<u8>());
    let mut left = size_of_val::<[Scalar]>(out[0]).div_ceil(fetch::LINE);
    while let Some(group) = cursor.group() {
        // There are at least as many groups as half the lines of one output.
        for _ in 0..left.min(2) {
            for line in &mut next {
                fetch::far(*line);
                *line = line.wrapping_add(fetch::LINE);
            }
            left -= 1;
        }
        if group.steps == 1 && !group.continues && cursor.at_plus() {
            // Rows of one variable, most of A in circuits of bits.
            let Some((_, columns)) = cursor.columns() else { return };
            match group.slots {
                Slots::From(first) => {
                    let run = run(out, first, group.lanes);
                    for (place, column) in run.iter_mut().zip(columns) {
                        *place = w[column as usize];
                    }
                }
                Slots::Each(slots) => {
                    for (slot, column) in slots[..group.lanes].iter().zip(columns) {
                        out[slot.matrix()][slot.row()] = w[column as usize];
                    }
                }
            }
            continue;
        }
        let Some(sum) = accumulate(factors, &mut cursor, &group, w) else { return };
        if let Slots::From(first) = group.slots
            && group.lanes == LANES
            && !group.continues
        {
            // SAFETY: the run has eight elements.
            unsafe { fr::store(&sum, run(out, first, LANES).as_mut_ptr()) };
            continue;
        }
        let mut results = [Scalar::default(); LANES];
        // SAFETY: there are eight results.
        unsafe { fr::store(&sum, results.as_mut_ptr()) };
        for (lane, result) in results[..group.lanes].iter().enumerate() {
            let slot = group.slots.of(lane);
            let place = &mut out[slot.matrix()][slot.row()];
            *place = if group.continues { *place + result } else { *result };
        }
    }
}

/// The places of slots that follow one another.
#[inline(always)]
fn run<'a>(out: &'a mut [&mut [Scalar]; 3], first: Slot, len: usize) -> &'a mut [Scalar] {
    &mut out[first.matrix()][first.row()..][..len]
}

/// The sums of a group's lanes, canonical; nothing if the bytes end.
#[inline(always)]
fn accumulate(factors: &Factors, cursor: &mut Cursor<'_>, group: &Group, w: &[Scalar]) -> Option<Fr> {
    let proof = factors.proof;
    let zero = proof.splat(0);
    let mut sum = [zero; LIMBS];
    let mut columns = [zero; COLUMNS];
    let (mut differences, mut products) = (0, false);
    assert!(group.steps <= MOST_STEPS, "a group of {} steps", group.steps);
    for _ in 0..group.steps {
        let (kind, places) = cursor.columns()?;
        let value = gather(proof, w, &places);
        match kind {
            Kind::Plus => sum = fr::add_raw(&sum, &value),
            Kind::Minus => {
                sum = each!([zero; LIMBS], i => sum[i] - value[i]);
                differences += 1;
            }
            Kind::All => {
                let code = cursor.code()?;
                add_product(&mut columns, &value, &splat(proof, &factors.limbs[code as usize]));
                products = true;
            }
            Kind::Each => {
                let codes = cursor.codes()?;
                add_product(&mut columns, &value, &gather(proof, &factors.words, &codes));
                products = true;
            }
        }
    }
    let offset = &MULTIPLES[differences];
    sum = each!([zero; LIMBS], i => sum[i] + zero.splat(offset[i]));
    if products {
        let mut all = [zero; 16];
        all[..COLUMNS].copy_from_slice(&columns);
        sum = fr::add_raw(&sum, &reduce_raw::<LIMBS, R>(all));
    }
    Some(fr::canonical(sum))
}

#[inline(always)]
fn add_product(columns: &mut [V; COLUMNS], a: &Fr, b: &Fr) {
    for i in 0..LIMBS {
        for j in 0..LIMBS {
            columns[i + j] = columns[i + j].add_low(a[j], b[i]);
            columns[i + j + 1] = columns[i + j + 1].add_high(a[j], b[i]);
        }
    }
}

/// One entry per lane.
#[inline(always)]
fn gather(proof: Ifma, from: &[Scalar], places: &[u32; LANES]) -> Fr {
    let limit = u32::try_from(from.len()).unwrap_or(u32::MAX);
    if !proof.all_below(places, limit) {
        out_of_range(limit);
    }
    // SAFETY: all places are in the slice.
    unsafe { fr::gather(proof, from.as_ptr(), places) }
}

#[cold]
#[inline(never)]
fn out_of_range(limit: u32) -> ! {
    panic!("a block of sparse rows names an entry beyond {limit}");
}
