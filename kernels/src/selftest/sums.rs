//! Multiplications whose sums are known.

use ff::Field;

use crate::msm::{Curve, Query, Stored, Workspace, affine_many};
use crate::scalars::{Density, ScalarSet};
use crate::{Path, Scalar};

/// Points of the dense multiplication, which takes every scalar for a full one.
const DENSE_POINTS: usize = 71;

/// The factors of the test's points: k + 1, but where the scalar is 1 whatever additions have to tell apart.
///
/// Points with the scalar 1 are summed as a tree over neighbours: here equal and opposite points meet in its first round, and
/// equal and opposite sums in the second.
pub(super) fn factors(points: usize) -> Vec<Scalar> {
    let mut factors: Vec<Scalar> = (1..=points as u64).map(Scalar::from).collect();
    for (place, like) in [(6, 4), (7, 5), (9, 8)] {
        factors[ONES_EACH * place] = -factors[ONES_EACH * like];
    }
    // The sum of the first two is twice the second but one: 1 + 9 = 5 + 5.
    (factors[2 * ONES_EACH], factors[3 * ONES_EACH]) = (Scalar::from(5), Scalar::from(5));
    factors
}

/// Of so many points at the front one has the scalar 1.
pub(super) const ONES_EACH: usize = 8;
/// Points at the front that have so many ones; of those behind half as many do.
const MANY_ONES: usize = 12 * ONES_EACH;

/// Points of known multiples of G, scalars of all classes: the sum is one product of G.
pub(super) fn msm<C: Curve>(path: Path, points: usize, slip: Scalar) -> bool {
    let generator = C::standard_generator();
    let factors = factors(points);
    let mut at = C::zero();
    let mut walk: Vec<_> = (0..points)
        .map(|_| {
            at += &generator;
            at
        })
        .collect();
    for (k, factor) in factors.iter().enumerate().take(MANY_ONES).step_by(ONES_EACH) {
        walk[k] = C::Projective::from(generator) * *factor;
    }
    // Iterated squares run through all sizes of limbs. Most scalars are small, of either sign: they have a quarter of the
    // windows, and go through the same additions.
    let (mut power, mut word) = (Scalar::from(7), 7u64);
    let scalars: Vec<Scalar> = (0..points)
        .map(|k| {
            power = power.square() + Scalar::ONE;
            word = word.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
            match k % 16 {
                0 => Scalar::ONE,
                ONES_EACH if k < MANY_ONES => Scalar::ONE,
                1 => power,
                2 => -Scalar::from(word),
                _ => Scalar::from(word),
            }
        })
        .collect();
    let sum_of = |count: usize| {
        let products = scalars[..count].iter().zip(&factors).map(|(scalar, factor)| *scalar * factor);
        C::Projective::from(generator) * products.sum::<Scalar>()
    };
    let multiples: Vec<C> = affine_many(&walk);
    let Some(dense) = stored(path, &multiples[..DENSE_POINTS]) else { return false };
    let query = Query::<C>::with_path(multiples, path);
    let mut set = ScalarSet::new();
    set.fill(&scalars);
    let workspace = Workspace::new();
    let slip = C::Projective::from(generator) * slip;
    query.msm(&set, Density::FULL, &workspace) + slip == sum_of(points)
        && dense.msm_dense(&scalars[..DENSE_POINTS], &workspace) + slip == sum_of(DENSE_POINTS)
}

/// A query that was stored and is read back: keys that were converted come this way.
fn stored<C: Curve>(path: Path, points: &[C]) -> Option<Query<C>> {
    let mut plain = vec![0; C::PLAIN_BYTES * points.len()];
    plain.chunks_exact_mut(C::PLAIN_BYTES).zip(points).for_each(|(plain, point)| point.to_plain(plain));
    let stored = Stored { len: points.len(), infinities: &[], points_per_piece: points.len() };
    let read = |first: usize, bytes: &mut [u8]| {
        let from = C::PLAIN_BYTES * first;
        bytes.copy_from_slice(&plain[from..from + bytes.len()]);
        Ok::<_, std::convert::Infallible>(())
    };
    Query::load(stored, path, read).ok()
}
