//! Whether points of the curve are in the subgroup of prime order, many at a time.
//!
//! A check of one point takes some hundred curve operations, and a key has millions of points. If one of many points
//! is outside of the subgroup, the sum of a random subset of them is outside with a probability of at least one half,
//! whatever the points are: for each choice of the others, at most one of "with it" and "without it" gives a sum
//! inside. So the sums of 130 independent subsets, all of them inside, leave a chance of 2^-130 that a point is not.
//! The subsets come from the operating system's randomness after the points are known.
//!
//! Ten subsets share one pass: each point goes to one of 2^10 buckets by ten random bits, and the sum of a subset is
//! the sum of the buckets whose number has its bit.

use group::{Curve, Group};
use rand::rngs::OsRng;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::point::Point;
use crate::error::Error;

/// Subsets that share the additions of one pass over the points.
const BITS: usize = 10;
/// Passes over the points; each is a task of its own.
const PASSES: usize = 13;
/// Fewer points are checked one by one: the sums themselves take as long as so many checks.
const FEW: usize = 512;

/// The points of `each` bytes that these bytes are, in parallel: decoded with a check of the curve, then checked for the
/// subgroup. `refused` makes an error of a point's index and what is wrong with it.
pub(super) fn checked<P: Point>(
    bytes: &[u8],
    each: usize,
    decode: impl Fn(&[u8]) -> Result<P, &'static str> + Sync,
    refused: impl Fn(usize, &str) -> Error + Sync,
) -> Result<Vec<P>, Error> {
    let decoded = bytes.par_chunks_exact(each).enumerate();
    let decoded = decoded.map(|(index, bytes)| decode(bytes).map_err(|fault| refused(index, fault)));
    let points = decoded.collect::<Result<Vec<P>, Error>>()?;
    match first_outside(&points) {
        None => Ok(points),
        Some(index) => Err(refused(index, "is on the curve, but not in the subgroup of prime order")),
    }
}

/// The first point outside of the subgroup, if there is one. All points must be on the curve.
fn first_outside<P: Point>(points: &[P]) -> Option<usize> {
    if points.len() >= FEW && (0..PASSES).into_par_iter().all(|_| pass(points)) {
        return None;
    }
    points.par_iter().position_first(|point| !point.in_subgroup())
}

/// Whether the sums of [`BITS`] random subsets are in the subgroup.
fn pass<P: Point>(points: &[P]) -> bool {
    let mut seed = [0; 32];
    OsRng.fill_bytes(&mut seed);
    let mut rng = ChaCha8Rng::from_seed(seed);
    let mut buckets = vec![P::Curve::identity(); 1 << BITS];
    for point in points {
        buckets[rng.next_u32() as usize % (1 << BITS)] += point;
    }
    // The upper half of the buckets is the subset of the topmost bit; folded onto the lower half, the buckets are
    // those of the bits below.
    while buckets.len() > 1 {
        let half = buckets.len() / 2;
        let (lower, upper) = buckets.split_at_mut(half);
        let mut sum = P::Curve::identity();
        for (lower, upper) in lower.iter_mut().zip(upper.iter()) {
            sum += upper;
            *lower += upper;
        }
        if !sum.to_affine().in_subgroup() {
            return false;
        }
        buckets.truncate(half);
    }
    true
}

#[cfg(test)]
mod tests;
