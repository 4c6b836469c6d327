//! Up to five layers on 2^k vectors, k ≤ 5.

use super::super::field::normalise;
use super::super::fr::{self, Fr};

/// Layers of a stage at most.
pub(super) const MAX_LAYERS: usize = 5;
/// Vectors of a stage at most.
pub(super) const MAX_ROWS: usize = 1 << MAX_LAYERS;

/// The twiddles of one stage: of block i of its layer t at 2^t − 1 + i. Canonical, R = 2^260.
pub(super) type Twiddles = [Fr; MAX_ROWS];

/// Splits x, natural to reversed order: each layer adds at most 2r to the bound of the values, which must stay below 35r.
///
/// With `TRIVIAL` the twiddles of block 0 in the first three layers are 1; x is then below 2r + ε, and the bounds after
/// those layers are 5r, 9r and 17r.
#[inline(always)]
pub(super) fn split<const TRIVIAL: bool>(x: &mut [Fr], twiddles: &Twiddles) {
    let layers = x.len().trailing_zeros() as usize;
    for layer in 0..layers {
        let half = x.len() >> (layer + 1);
        for block in 0..1 << layer {
            let (low, high) = x[2 * half * block..2 * half * (block + 1)].split_at_mut(half);
            if TRIVIAL && block == 0 && layer < 3 {
                for (low, high) in low.iter_mut().zip(high) {
                    let sum = fr::add_raw(low, high);
                    *high = match layer {
                        0 => fr::sub_raw::<3>(low, high),
                        1 => fr::sub_raw::<5>(low, high),
                        _ => fr::sub_raw::<9>(low, high),
                    };
                    *low = sum;
                }
                continue;
            }
            let twiddle = &twiddles[(1 << layer) - 1 + block];
            for (low, high) in low.iter_mut().zip(high) {
                let mut factor = *high;
                normalise(&mut factor);
                let product = fr::mul_raw(&factor, twiddle);
                *high = fr::sub_raw::<2>(low, &product);
                *low = fr::add_raw(low, &product);
            }
        }
    }
}

/// Joins x, reversed to natural order. Takes values below 2r + ε and gives such, normalised.
///
/// After d layers, an entry that was a sum in all of them is below 2^(d+1)·r + ε, one whose last k were sums is below
/// 2^(k+1)·r + ε. Differences must be below 35r: the fifth layer first reduces the only pair of entries per block that
/// are above 16r + ε, the first of each half.
#[inline(always)]
pub(super) fn join(x: &mut [Fr], twiddles: &Twiddles) {
    let layers = x.len().trailing_zeros() as usize;
    for layer in (0..layers).rev() {
        let half = x.len() >> (layer + 1);
        let done = layers - 1 - layer;
        for block in 0..1 << layer {
            let (low, high) = x[2 * half * block..2 * half * (block + 1)].split_at_mut(half);
            if done == 4 {
                low[0] = fr::weak(low[0]);
                high[0] = fr::weak(high[0]);
            }
            let twiddle = &twiddles[(1 << layer) - 1 + block];
            for (low, high) in low.iter_mut().zip(high) {
                let mut difference = match done {
                    0 => fr::sub_raw::<3>(low, high),
                    1 => fr::sub_raw::<5>(low, high),
                    2 => fr::sub_raw::<9>(low, high),
                    _ => fr::sub_raw::<17>(low, high),
                };
                normalise(&mut difference);
                *low = fr::add_raw(low, high);
                *high = fr::mul(&difference, twiddle);
            }
        }
    }
    // The upper half came out of products, which are below 2r and normalised.
    let sums = x.len().div_ceil(2);
    for sum in &mut x[..sums] {
        *sum = fr::weak(*sum);
    }
}
