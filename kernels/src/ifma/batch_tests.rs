//! Batches of additions against the group's own.

use ff::Field;
use proofline_memory::Arena;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::tests::proof;
use super::{bases, batch};
use crate::Scalar;
use crate::msm::Curve;
use crate::msm::adder::{Adder, BATCH, Pair};

/// Batches in which every kind of pair meets every lane: different, equal, opposite, infinity on either side or both.
fn batches<C: Curve, A: Adder<C>>(make: impl Fn(&[C]) -> A) {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let some: Vec<C> =
        (0..20).map(|_| C::from(C::Projective::from(C::standard_generator()) * Scalar::random(&mut rng))).collect();
    let adder = make(&some);
    let mut scratch = adder.scratch(&Arena::default());
    for count in [1, 7, 8, 9, 100, BATCH, BATCH + 13] {
        for odd_ones in [0, 1, 5, count] {
            // Operands as entries; none is infinity.
            let mut entries: Vec<[Option<u32>; 2]> =
                (0..count).map(|_| [rng.gen_range(0..20), rng.gen_range(20..40)].map(Some)).collect();
            for _ in 0..odd_ones {
                let at = rng.gen_range(0..count);
                let [a, _] = entries[at];
                entries[at] = match rng.gen_range(0..5) {
                    0 => [a, a],
                    1 => [a, a.map(|a| a ^ 1)],
                    2 => [None, a],
                    3 => [a, None],
                    _ => [None, None],
                };
            }
            let operand = |entry: Option<u32>| entry.map_or(A::infinity(), |entry| adder.base(entry));
            let mut points: Vec<A::Point> = entries.iter().flatten().map(|entry| operand(*entry)).collect();
            let projective = |point: &A::Point| C::Projective::from(adder.to_affine(point));
            let sums: Vec<C::Projective> =
                points.chunks(2).map(|pair| projective(&pair[0]) + projective(&pair[1])).collect();
            let from_bases = entries.iter().flatten().all(Option::is_some);
            if from_bases {
                let pair = |(out, entries): (usize, &[Option<u32>; 2])| {
                    Some(Pair { a: entries[0]?, b: entries[1]?, out: out as u32 })
                };
                let pairs: Vec<Pair> = entries.iter().enumerate().filter_map(pair).collect();
                let mut out = vec![A::infinity(); count];
                adder.add_bases(&pairs, &[], &mut out, &mut scratch);
                assert!(out.iter().map(projective).eq(sums.iter().copied()));
            }
            let pairs: Vec<Pair> = (0..count as u32).map(|i| Pair { a: 2 * i, b: 2 * i + 1, out: i }).collect();
            adder.add_points(&pairs, &[], &mut points, &mut scratch);
            let got = points[..count].iter().map(projective);
            assert!(got.eq(sums.iter().copied()), "{count} pairs, {odd_ones} odd ones");
        }
    }
}

#[test]
fn batches_in_g1() {
    let Some(proof) = proof() else { return };
    batches::<crate::G1Affine, _>(|points| bases::Bases1::new(proof, points));
}

#[test]
fn batches_in_g2() {
    let Some(proof) = proof() else { return };
    batches::<crate::G2Affine, _>(|points| bases::Bases2::new(proof, points));
}

#[test]
fn portable_batches() {
    batches::<crate::G1Affine, _>(|points| crate::G1Affine::portable(points.to_vec()));
    batches::<crate::G2Affine, _>(|points| crate::G2Affine::portable(points.to_vec()));
}

/// A chain of sums stays in range: the coordinates of one are operands of the next, a thousand times.
#[test]
fn long_chains_stay_in_range() {
    let Some(proof) = proof() else { return };
    let generator = crate::G1Affine::standard_generator();
    let adder = bases::Bases1::new(proof, &[generator]);
    let mut scratch = Adder::<crate::G1Affine>::scratch(&adder, &Arena::default());
    let mut points = vec![Adder::<crate::G1Affine>::base(&adder, 0), batch::Affine::INFINITY];
    for k in 1..1000u64 {
        let pair = Pair { a: 0, b: 1, out: 1 };
        Adder::<crate::G1Affine>::add_points(&adder, &[pair], &[], &mut points, &mut scratch);
        if k % 97 == 0 {
            let want = crate::G1Projective::from(generator) * Scalar::from(k);
            assert_eq!(Adder::<crate::G1Affine>::to_affine(&adder, &points[1]), want.into(), "{k} times");
        }
    }
}
