//! Multiplications whose sums are known.

use ff::Field;

use crate::msm::{Curve, Query, Stored, Workspace, affine_many};
use crate::scalars::{Density, ScalarSet};
use crate::{Path, Scalar};

/// Points of the dense multiplication, which takes every scalar for a full one.
const DENSE_POINTS: usize = 71;

/// So many multiples of G, from G on, are the test's points, again and again.
const MULTIPLES: usize = 500;

/// The factors of the test's points: k + 1 from the front on, but where the scalar is 1 whatever additions have to tell apart.
///
/// Points with the scalar 1 are summed as a tree over neighbours: here equal and opposite points meet in its first round, and
/// equal and opposite sums in the second.
pub(super) fn factors(points: usize) -> Vec<i64> {
    let mut factors: Vec<i64> = (0..points as i64).map(|k| k % MULTIPLES as i64 + 1).collect();
    for (place, like) in [(6, 4), (7, 5), (9, 8)] {
        factors[ONES_EACH * place] = -factors[ONES_EACH * like];
    }
    // The sum of the first two is twice the second but one: 1 + 9 = 5 + 5.
    (factors[2 * ONES_EACH], factors[3 * ONES_EACH]) = (5, 5);
    factors
}

/// Of so many points at the front one has the scalar 1.
pub(super) const ONES_EACH: usize = 8;
/// Points at the front that have so many ones; of those behind half as many do.
const MANY_ONES: usize = 12 * ONES_EACH;

/// The scalars of the test's points: of all classes, and of lengths that have few windows, since it is windows that take
/// time here, and all go through the same additions.
struct Scalars {
    long: Scalar,
    word: u64,
}

impl Scalars {
    fn new() -> Self {
        // Iterated squares run through all sizes of limbs.
        Self { long: Scalar::from(7), word: 7 }
    }

    fn next(&mut self, k: usize) -> Scalar {
        self.long = self.long.square() + Scalar::ONE;
        self.word = self.word.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
        let (word, short) = (Scalar::from(self.word), Scalar::from(self.word >> 40));
        match k % 16 {
            0 => Scalar::ONE,
            ONES_EACH if k < MANY_ONES => Scalar::ONE,
            // Full ones, of two limbs.
            1 => word * Scalar::from(1 << 15),
            2 => -short,
            3 if k % 64 == 3 => word,
            _ => short,
        }
    }
}

/// Points of known multiples of G: the sum is one product of G.
pub(super) fn msm<C: Curve>(path: Path, points: usize, slip: Scalar) -> bool {
    let generator = C::standard_generator();
    let mut at = C::zero();
    let walk: Vec<_> = (0..points.min(MULTIPLES))
        .map(|_| {
            at += &generator;
            at
        })
        .collect();
    let multiples: Vec<C> = affine_many(&walk);
    let factors = factors(points);
    let multiple = |factor: &i64| {
        let point = multiples[factor.unsigned_abs() as usize - 1];
        if *factor < 0 { -point } else { point }
    };
    let multiples: Vec<C> = factors.iter().map(multiple).collect();
    let factors = factors.iter().map(|factor| {
        let size = Scalar::from(factor.unsigned_abs());
        if *factor < 0 { -size } else { size }
    });
    let factors: Vec<Scalar> = factors.collect();
    let mut next = Scalars::new();
    let scalars: Vec<Scalar> = (0..points).map(|k| next.next(k)).collect();
    // One of all limbs, for all windows.
    let mut dense_scalars = scalars[..DENSE_POINTS].to_vec();
    dense_scalars[5] = next.long;
    let sum_of = |scalars: &[Scalar]| {
        let products = scalars.iter().zip(&factors).map(|(scalar, factor)| *scalar * factor);
        C::Projective::from(generator) * products.sum::<Scalar>()
    };
    let Some(dense) = stored(path, &multiples[..DENSE_POINTS]) else { return false };
    let query = Query::<C>::with_path(multiples, path);
    let mut set = ScalarSet::new();
    set.fill(&scalars);
    let workspace = Workspace::new();
    let slip = C::Projective::from(generator) * slip;
    query.msm(&set, Density::FULL, &workspace) + slip == sum_of(&scalars)
        && dense.msm_dense(&dense_scalars, &workspace) + slip == sum_of(&dense_scalars)
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
