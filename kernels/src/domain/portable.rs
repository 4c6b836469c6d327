//! Transforms over the scalar arithmetic of blst, recursive so that every cache level is used.

use ff::Field;
use rayon::prelude::*;

use super::roots::{LOW_LOG, Products, Twiddles};
use crate::scalars::ORDER;
use crate::{Scalar, words};

/// Blocks up to this size are finished by one task: 4096 × 32 bytes fit a second-level cache.
const BLOCK_PER_TASK: usize = 1 << 12;
/// Elements that one task of an element-wise pass takes.
const ELEMENTS_PER_TASK: usize = 1 << 12;

/// Natural order in, bit-reversed order out: `x[rev(k)] ← Σ x[j] ω^(jk)`.
pub(super) fn to_reversed(x: &mut [Scalar], twiddles: &Twiddles) {
    split_block(x, 0, twiddles);
}

/// Bit-reversed order in, natural order out: `x[k] ← Σ x[rev(j)] ω^(jk)`, the transpose of [`to_reversed`].
pub(super) fn to_natural(x: &mut [Scalar], twiddles: &Twiddles) {
    join_block(x, 0, twiddles);
}

fn split_block(x: &mut [Scalar], block: usize, twiddles: &Twiddles) {
    let half = x.len() / 2;
    if half == 0 {
        return;
    }
    let twiddle = twiddles.get(block);
    let (low, high) = x.split_at_mut(half);
    if half < BLOCK_PER_TASK {
        split_layer(low, high, block, &twiddle);
        split_block(low, 2 * block, twiddles);
        split_block(high, 2 * block + 1, twiddles);
    } else {
        let low_tasks = low.par_chunks_mut(ELEMENTS_PER_TASK);
        low_tasks.zip(high.par_chunks_mut(ELEMENTS_PER_TASK)).for_each(|(l, h)| split_layer(l, h, block, &twiddle));
        rayon::join(|| split_block(low, 2 * block, twiddles), || split_block(high, 2 * block + 1, twiddles));
    }
}

fn split_layer(low: &mut [Scalar], high: &mut [Scalar], block: usize, twiddle: &Scalar) {
    for (l, h) in low.iter_mut().zip(high) {
        // Block 0 has the twiddle 1. In place: a copy would wait until blst's stores have reached the cache.
        if block != 0 {
            *h *= twiddle;
        }
        (*l, *h) = sum_and_difference(l, h);
    }
}

fn join_block(x: &mut [Scalar], block: usize, twiddles: &Twiddles) {
    let half = x.len() / 2;
    if half == 0 {
        return;
    }
    let twiddle = twiddles.get(block);
    let (low, high) = x.split_at_mut(half);
    if half < BLOCK_PER_TASK {
        join_block(low, 2 * block, twiddles);
        join_block(high, 2 * block + 1, twiddles);
        join_layer(low, high, block, &twiddle);
    } else {
        rayon::join(|| join_block(low, 2 * block, twiddles), || join_block(high, 2 * block + 1, twiddles));
        let low_tasks = low.par_chunks_mut(ELEMENTS_PER_TASK);
        low_tasks.zip(high.par_chunks_mut(ELEMENTS_PER_TASK)).for_each(|(l, h)| join_layer(l, h, block, &twiddle));
    }
}

fn join_layer(low: &mut [Scalar], high: &mut [Scalar], block: usize, twiddle: &Scalar) {
    for (l, h) in low.iter_mut().zip(high) {
        (*l, *h) = sum_and_difference(l, h);
        if block != 0 {
            *h *= twiddle;
        }
    }
}

/// a + b and a − b.
#[inline(always)]
fn sum_and_difference(a: &Scalar, b: &Scalar) -> (Scalar, Scalar) {
    let [a, b] = [a, b].map(|x| blst::blst_fr::from(*x).l);
    let [sum, difference] = [words::add(&a, &b, &ORDER), words::sub(&a, &b, &ORDER)];
    (blst::blst_fr { l: sum }.into(), blst::blst_fr { l: difference }.into())
}

/// Multiplies the entry at position i by `powers`' entry i.
pub(super) fn scale_reversed(x: &mut [Scalar], powers: &Products) {
    x.par_chunks_mut(1 << LOW_LOG).enumerate().for_each(|(task, chunk)| {
        let (low, high) = powers.run(task << LOW_LOG);
        for (x, power) in chunk.iter_mut().zip(low) {
            *x *= power;
            *x *= high;
        }
    });
}

/// Multiplies entry i by `first · base^i`.
pub(super) fn scale_by_powers(x: &mut [Scalar], base: Scalar, first: Scalar) {
    x.par_chunks_mut(ELEMENTS_PER_TASK).enumerate().for_each(|(task, chunk)| {
        let mut power = first * base.pow_vartime([(task * ELEMENTS_PER_TASK) as u64]);
        for x in chunk {
            *x *= power;
            power *= base;
        }
    });
}
