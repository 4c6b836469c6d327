//! Bucket multiplication: per window, terms are sorted by digit, buckets summed as trees, and weighed.

use rayon::prelude::*;

use super::Curve;
use super::adder::Adder;
use super::digits::Windows;
use super::segments::{sum_segments, weighted_sum};
use super::terms::Terms;
use super::workspace::{Pool, Window};

/// Terms that one window sorts at once: bounds the memory of a window to 32 MiB and its buckets.
const TERMS_PER_CHUNK: usize = 1 << 22;
/// Windows wider than this have more buckets than caches and translation buffers like.
const MAX_WIDTH: u32 = 18;

/// Σ ±scalar · base over the terms.
pub(super) fn multiply<C: Curve, A: Adder<C>, const LIMBS: usize>(
    adder: &A,
    pool: &Pool<C, A>,
    terms: Terms<'_, LIMBS>,
) -> C::Projective {
    let width = window_width(terms.len().min(TERMS_PER_CHUNK), terms.bits());
    multiply_with_width(adder, pool, terms, width)
}

/// [`multiply`] with windows of a given width.
pub(super) fn multiply_with_width<C: Curve, A: Adder<C>, const LIMBS: usize>(
    adder: &A,
    pool: &Pool<C, A>,
    mut terms: Terms<'_, LIMBS>,
    width: u32,
) -> C::Projective {
    if terms.bits() == 0 {
        return C::zero();
    }
    let windows = Windows::new(terms.bits(), width);
    terms.bias(&windows);
    let terms = &terms;
    let chunks = terms.len().div_ceil(TERMS_PER_CHUNK).max(1);
    let per_chunk = terms.len().div_ceil(chunks);
    let sums: Vec<C::Projective> = (0..windows.count())
        .into_par_iter()
        .map(|window| {
            let sum = |chunk| {
                let range = chunk * per_chunk..terms.len().min((chunk + 1) * per_chunk);
                pool.with_window(|Window { sorted, buckets }| {
                    terms.sort(range, &windows, window, sorted);
                    buckets.clear();
                    buckets.resize(sorted.sizes.len(), A::infinity());
                    sum_segments(adder, pool, &sorted.entries, &sorted.sizes, buckets);
                    weighted_sum(adder, pool, buckets)
                })
            };
            (0..chunks).into_par_iter().map(sum).sum()
        })
        .collect();
    sums.into_iter().rev().fold(C::zero(), |mut total, sum| {
        for _ in 0..windows.width() {
            total = C::doubled(&total);
        }
        total + sum
    })
}

/// The width that minimises additions: about one per term and window, and two per bucket.
fn window_width(terms: usize, bits: u32) -> u32 {
    let cost = |width: u32| {
        let windows = f64::from(bits.div_ceil(width).max(1));
        windows * (terms as f64 + 2.0 * f64::from(1u32 << (width - 1)))
    };
    (2..=MAX_WIDTH).min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap_or(2)
}
