//! Bucket multiplication over the point arithmetic of blst, parallel over windows and chunks of terms.

use rayon::prelude::*;

use super::Curve;
use super::digits::{Windows, bit_length};

/// Terms that one task adds up at most; together with the window it bounds the memory of the buckets.
const TERMS_PER_TASK: usize = 1 << 17;
/// Points that one task sums.
const POINTS_PER_TASK: usize = 1 << 12;

/// Σ ±scalar · points[place] over `count` terms; `term(i)` gives the place, the scalar and whether it is negative, or
/// nothing for a term that is zero.
pub(super) fn multiply<C: Curve, const LIMBS: usize>(
    points: &[C],
    count: usize,
    term: impl Fn(usize) -> Option<(usize, [u64; LIMBS], bool)> + Sync,
) -> C::Projective {
    let longest = (0..count)
        .into_par_iter()
        .with_min_len(POINTS_PER_TASK)
        .filter_map(|i| term(i).map(|(_, scalar, _)| bit_length(&scalar)))
        .max();
    let Some(bits) = longest else { return C::zero() };
    let windows = Windows::<LIMBS>::new(bits.max(1), window_width(count.min(TERMS_PER_TASK), bits));
    multiply_with(points, count, &term, windows)
}

fn multiply_with<C: Curve, const LIMBS: usize>(
    points: &[C],
    count: usize,
    term: &(impl Fn(usize) -> Option<(usize, [u64; LIMBS], bool)> + Sync),
    windows: Windows<LIMBS>,
) -> C::Projective {
    let sums: Vec<C::Projective> = (0..windows.count())
        .into_par_iter()
        .map(|window| {
            (0..count.div_ceil(TERMS_PER_TASK))
                .into_par_iter()
                .map(|task| {
                    let from = task * TERMS_PER_TASK;
                    window_sum(points, from..count.min(from + TERMS_PER_TASK), term, &windows, window)
                })
                .sum()
        })
        .collect();
    sums.into_iter().rev().fold(C::zero(), |mut total, sum| {
        for _ in 0..windows.width() {
            total = C::doubled(&total);
        }
        total + sum
    })
}

fn window_sum<C: Curve, const LIMBS: usize>(
    points: &[C],
    terms: std::ops::Range<usize>,
    term: &impl Fn(usize) -> Option<(usize, [u64; LIMBS], bool)>,
    windows: &Windows<LIMBS>,
    window: u32,
) -> C::Projective {
    // Bucket b holds the sum of the points with the digit ±(b + 1).
    let mut buckets = vec![C::zero(); windows.buckets(window)];
    for i in terms {
        let Some((place, scalar, negative)) = term(i) else {
            continue;
        };
        let digit = windows.digit(&scalar, window);
        if digit == 0 {
            continue;
        }
        let bucket = &mut buckets[digit.unsigned_abs() as usize - 1];
        if (digit < 0) != negative {
            *bucket -= &points[place];
        } else {
            *bucket += &points[place];
        }
    }
    let mut running = C::zero();
    let mut total = C::zero();
    for bucket in buckets.iter().rev() {
        running += *bucket;
        total += running;
    }
    total
}

/// Σ points[place] over `count` places.
pub(super) fn sum<C: Curve>(
    points: &[C],
    count: usize,
    place: impl Fn(usize) -> Option<usize> + Sync,
) -> C::Projective {
    (0..count.div_ceil(POINTS_PER_TASK))
        .into_par_iter()
        .map(|task| {
            let from = task * POINTS_PER_TASK;
            let mut sum = C::zero();
            for place in (from..count.min(from + POINTS_PER_TASK)).filter_map(&place) {
                sum += &points[place];
            }
            sum
        })
        .sum()
}

/// The width that minimises additions: one per term and window, and two (full, 1.4 times as dear) per bucket.
fn window_width(terms: usize, bits: u32) -> u32 {
    let cost = |width: u32| {
        let windows = f64::from(bits.div_ceil(width).max(1));
        windows * (terms as f64 + 2.8 * f64::from(1u32 << (width - 1)))
    };
    (2..=16).min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap_or(2)
}
