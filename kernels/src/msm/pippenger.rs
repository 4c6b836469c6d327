//! Bucket multiplication: per window, terms are sorted by digit, buckets summed as trees, and weighed.

use rayon::prelude::*;

use super::Curve;
use super::adder::Adder;
use super::digits::{Windows, bit_length};
use super::segments::{Pool, sum_segments, weighted_sum};

/// Terms that one window sorts at once: bounds the memory of a window to 32 MiB and its buckets.
const TERMS_PER_CHUNK: usize = 1 << 22;
/// Terms that one task looks at for the longest scalar.
const TERMS_PER_TASK: usize = 1 << 12;
/// Windows wider than this have more buckets than caches and translation buffers like.
const MAX_WIDTH: u32 = 18;

/// Σ ±scalar · base over `count` terms. `term(i)` gives the entry of a base (twice its index, plus one for its negative)
/// and the scalar, or nothing for a term that is zero.
pub(super) fn multiply<C: Curve, A: Adder<C>, const LIMBS: usize>(
    adder: &A,
    pool: &Pool<C, A>,
    count: usize,
    term: &(impl Fn(usize) -> Option<(u32, [u64; LIMBS])> + Sync),
) -> C::Projective {
    let tasks = (0..count).into_par_iter().with_min_len(TERMS_PER_TASK);
    let longest = tasks.filter_map(|i| term(i).map(|(_, scalar)| bit_length(&scalar))).max();
    let Some(bits) = longest else { return C::zero() };
    let width = window_width(count.min(TERMS_PER_CHUNK), bits);
    multiply_with(adder, pool, count, term, Windows::new(bits.max(1), width))
}

/// [`multiply`] with given windows.
pub(super) fn multiply_with<C: Curve, A: Adder<C>, const LIMBS: usize>(
    adder: &A,
    pool: &Pool<C, A>,
    count: usize,
    term: &(impl Fn(usize) -> Option<(u32, [u64; LIMBS])> + Sync),
    windows: Windows<LIMBS>,
) -> C::Projective {
    let chunks = count.div_ceil(TERMS_PER_CHUNK).max(1);
    let per_chunk = count.div_ceil(chunks);
    let sums: Vec<C::Projective> = (0..windows.count())
        .into_par_iter()
        .map(|window| {
            (0..chunks)
                .into_par_iter()
                .map(|chunk| {
                    let terms = chunk * per_chunk..count.min((chunk + 1) * per_chunk);
                    window_sum(adder, pool, terms, term, &windows, window)
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

/// Σ digit · base of one window.
fn window_sum<C: Curve, A: Adder<C>, const LIMBS: usize>(
    adder: &A,
    pool: &Pool<C, A>,
    terms: std::ops::Range<usize>,
    term: &impl Fn(usize) -> Option<(u32, [u64; LIMBS])>,
    windows: &Windows<LIMBS>,
    window: u32,
) -> C::Projective {
    let (entries, sizes) = sort_by_digit(terms, term, windows, window);
    let mut buckets = vec![A::infinity(); sizes.len()];
    sum_segments(adder, pool, &entries, &sizes, &mut buckets);
    weighted_sum(adder, pool, &mut buckets)
}

/// A counting sort: the entries of bucket 0 (digits ±1), then those of bucket 1 (±2) and so on, and how many each has.
/// A negative digit turns the entry into that of the negative base. Zero digits are dropped.
fn sort_by_digit<const LIMBS: usize>(
    terms: std::ops::Range<usize>,
    term: &impl Fn(usize) -> Option<(u32, [u64; LIMBS])>,
    windows: &Windows<LIMBS>,
    window: u32,
) -> (Vec<u32>, Vec<u32>) {
    // Place 0 counts zero digits and absent terms.
    let mut sizes = vec![0u32; windows.buckets(window) + 1];
    let digits: Vec<(u32, u32)> = terms
        .map(|i| {
            let Some((entry, scalar)) = term(i) else { return (0, 0) };
            let digit = windows.digit(&scalar, window);
            (digit.unsigned_abs(), entry ^ u32::from(digit < 0))
        })
        .inspect(|(bucket, _)| sizes[*bucket as usize] += 1)
        .collect();
    let mut next = 0;
    let mut places: Vec<u32> = sizes[1..]
        .iter()
        .map(|size| {
            let place = next;
            next += size;
            place
        })
        .collect();
    let mut entries = vec![0; next as usize];
    for (bucket, entry) in digits {
        if bucket != 0 {
            let place = &mut places[bucket as usize - 1];
            entries[*place as usize] = entry;
            *place += 1;
        }
    }
    sizes.remove(0);
    (entries, sizes)
}

/// The width that minimises additions: about one per term and window, and two per bucket.
fn window_width(terms: usize, bits: u32) -> u32 {
    let cost = |width: u32| {
        let windows = f64::from(bits.div_ceil(width).max(1));
        windows * (terms as f64 + 2.0 * f64::from(1u32 << (width - 1)))
    };
    (2..=MAX_WIDTH).min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap_or(2)
}
