use ark_ec::{CurveGroup, VariableBaseMSM};
use ark_ff::PrimeField as _;
use ff::{Field, PrimeField};
use group::prime::PrimeCurveAffine;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::scalars::DensityMap;
use crate::sparse::Bitmap;
use crate::{G1Affine, G2Affine};

/// Σ scalar · point, one product at a time.
pub(super) fn naive<C: Curve>(points: &[C], scalars: &[Scalar]) -> C::Projective {
    points.iter().zip(scalars).map(|(point, scalar)| C::Projective::from(*point) * *scalar).sum()
}

pub(super) fn random_points<C: Curve>(rng: &mut ChaCha8Rng, n: usize) -> Vec<C> {
    // A walk is much faster than n random points and has no relation that the kernels could meet by accident.
    let step = C::from(C::Projective::from(C::standard_generator()) * Scalar::random(&mut *rng));
    let mut at = C::Projective::from(C::standard_generator()) * Scalar::random(&mut *rng);
    let walk: Vec<_> = (0..n)
        .map(|_| {
            at += &step;
            at
        })
        .collect();
    affine_many(&walk)
}

fn borders() -> Vec<Scalar> {
    let two_64 = Scalar::from(u64::MAX) + Scalar::ONE;
    let positive = [
        Scalar::ZERO,
        Scalar::ONE,
        Scalar::from(2),
        Scalar::from(3),
        Scalar::from(u64::MAX),
        two_64,
        two_64 + Scalar::ONE,
        two_64.square(),
    ];
    positive.iter().flat_map(|x| [*x, -*x]).collect()
}

/// Scalars of all classes.
pub(super) fn mixed_scalars(rng: &mut ChaCha8Rng, n: usize) -> Vec<Scalar> {
    let borders = borders();
    (0..n)
        .map(|_| match rng.gen_range(0..4) {
            0 => Scalar::random(&mut *rng),
            1 => Scalar::from(rng.r#gen::<u64>() >> rng.gen_range(0..64)),
            2 => Scalar::from(u64::from(rng.r#gen::<bool>())),
            _ => borders[rng.gen_range(0..borders.len())],
        })
        .collect()
}

/// Both entry points on every path against the expectation.
fn check<C: Curve>(points: &[C], scalars: &[Scalar], want: C::Projective, what: &str) {
    let mut set = ScalarSet::new();
    set.fill(scalars);
    let workspace = Workspace::new();
    for path in Path::all() {
        let query = Query::with_path(points.to_vec(), path);
        assert_eq!(query.len(), points.len());
        assert_eq!(query.msm(&set, Density::FULL, &workspace), want, "{what}: by classes, {}", path.name());
        assert_eq!(query.msm_dense(scalars, &workspace), want, "{what}: dense, {}", path.name());
    }
}

fn check_naive<C: Curve>(points: &[C], scalars: &[Scalar], what: &str) {
    check(points, scalars, naive(points, scalars), what);
}

fn sizes<C: Curve>() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for n in [0, 1, 2, 7, 8, 9, 31, 32, 33, 100, 300] {
        let points = random_points::<C>(&mut rng, n);
        check_naive(&points, &mixed_scalars(&mut rng, n), &format!("{n} points"));
    }
}

fn every_border_alone_and_together<C: Curve>() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let borders = borders();
    let points = random_points::<C>(&mut rng, borders.len());
    for (point, scalar) in points.iter().zip(&borders) {
        check_naive(&[*point], &[*scalar], &format!("{scalar:?}"));
        check_naive(&points, &vec![*scalar; points.len()], &format!("all {scalar:?}"));
    }
    check_naive(&points, &borders, "all borders");
}

fn infinity_anywhere<C: Curve>() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let n = 40;
    let scalars = mixed_scalars(&mut rng, n);
    for (name, at) in [
        ("first", vec![0]),
        ("last", vec![n - 1]),
        ("first and last", vec![0, n - 1]),
        ("every second", (0..n).step_by(2).collect()),
        ("everywhere", (0..n).collect()),
    ] {
        let mut points = random_points::<C>(&mut rng, n);
        for at in at {
            points[at] = C::infinity();
        }
        check_naive(&points, &scalars, &format!("infinity {name}"));
    }
}

fn equal_and_opposite_bases<C: Curve>() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let n = 96;
    let some = random_points::<C>(&mut rng, 3);
    type Pattern<'a, C> = (&'static str, Box<dyn Fn(usize) -> C + 'a>);
    let patterns: [Pattern<'_, C>; 4] = [
        ("P everywhere", Box::new(|_| some[0])),
        ("P, −P alternating", Box::new(|i| if i % 2 == 0 { some[0] } else { -some[0] })),
        ("P then −P", Box::new(|i| if i < n / 2 { some[0] } else { -some[0] })),
        ("three points and infinity", Box::new(|i| if i % 4 == 3 { C::infinity() } else { some[i % 4] })),
    ];
    let random = mixed_scalars(&mut rng, n);
    for (name, pattern) in &patterns {
        let points: Vec<C> = (0..n).map(pattern).collect();
        check_naive(&points, &random, name);
        for scalar in borders() {
            check_naive(&points, &vec![scalar; n], &format!("{name} by {scalar:?}"));
        }
    }
}

/// A long sum with a known value: points k·G for k = 1 … n.
fn large<C: Curve>(n: usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let generator = C::standard_generator();
    let mut at = C::zero();
    let walk: Vec<_> = (0..n)
        .map(|_| {
            at += &generator;
            at
        })
        .collect();
    let points = affine_many::<C>(&walk);
    let scalars = mixed_scalars(&mut rng, n);
    let total: Scalar = scalars.iter().zip(1u64..).map(|(scalar, k)| *scalar * Scalar::from(k)).sum();
    check(&points, &scalars, C::Projective::from(generator) * total, &format!("{n} points"));
    let all_full: Vec<_> = (0..n).map(|_| Scalar::random(&mut rng)).collect();
    let total: Scalar = all_full.iter().zip(1u64..).map(|(scalar, k)| *scalar * Scalar::from(k)).sum();
    check(&points, &all_full, C::Projective::from(generator) * total, &format!("{n} points, full scalars"));
}

fn fewer_scalars_than_points<C: Curve>() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let points = random_points::<C>(&mut rng, 20);
    let scalars = mixed_scalars(&mut rng, 13);
    let query = Query::new(points.clone());
    let mut set = ScalarSet::new();
    set.fill(&scalars);
    assert_eq!(query.msm(&set, Density::FULL, &Workspace::new()), naive(&points, &scalars));
    assert_eq!(query.msm_dense(&scalars, &Workspace::new()), naive(&points, &scalars));
}

/// One set for queries that have points for some of its scalars, some of them at infinity.
fn queries_take_by_density<C: Curve>() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let scalars = mixed_scalars(&mut rng, 300);
    let mut set = ScalarSet::new();
    set.fill(&scalars);
    for one_in in [1, 2, 50] {
        let mut bits = Bitmap::new(scalars.len());
        (0..scalars.len()).filter(|_| rng.gen_range(0..one_in) == 0).for_each(|variable| bits.set(variable));
        let own: Vec<_> = bits.ones().map(|variable| scalars[variable]).collect();
        let mut points = random_points::<C>(&mut rng, own.len());
        points.iter_mut().step_by(3).for_each(|point| *point = C::infinity());
        let map = DensityMap::new(bits);
        for path in Path::all() {
            let query = Query::with_path(points.clone(), path);
            let sum = query.msm(&set, Density::Of(&map), &Workspace::new());
            assert_eq!(sum, naive(&points, &own), "one in {one_in}, {}", path.name());
        }
    }
    for first in [0, 1, 299, 300] {
        let points = random_points::<C>(&mut rng, scalars.len() - first);
        let sum = Query::new(points.clone()).msm(&set, Density::From { first }, &Workspace::new());
        assert_eq!(sum, naive(&points, &scalars[first..]), "from {first}");
    }
}

macro_rules! for_both_groups {
    ($($name:ident $(($argument:expr, $argument2:expr))?),* $(,)?) => {
        mod g1 {
            $(#[test] fn $name() { super::$name::<super::G1Affine>($($argument)?) })*
        }
        mod g2 {
            $(#[test] fn $name() { super::$name::<super::G2Affine>($($argument2)?) })*
        }
    };
}

fn just_below_a_power_of_two<C: Curve>(n: usize) {
    large::<C>(n - 1);
}

fn just_above_a_power_of_two<C: Curve>(n: usize) {
    large::<C>(n + 1);
}

for_both_groups!(
    sizes,
    every_border_alone_and_together,
    infinity_anywhere,
    equal_and_opposite_bases,
    fewer_scalars_than_points,
    queries_take_by_density,
    affine_forms,
    all_window_sizes(16, 12),
    just_below_a_power_of_two(1 << 16, 1 << 13),
    just_above_a_power_of_two(1 << 16, 1 << 13),
);

#[test]
fn equals_arkworks_and_blst() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for n in [33, 1000, 5000] {
        let points = random_points::<G1Affine>(&mut rng, n);
        let scalars = mixed_scalars(&mut rng, n);
        let projective: Vec<_> = points.iter().map(|p| p.to_curve()).collect();
        let got = Query::new(points.clone()).msm_dense(&scalars, &Workspace::new());
        assert_eq!(got, crate::G1Projective::multi_exp(&projective, &scalars), "blst, {n} points");

        // blstrs keeps its base field private; the uncompressed encoding is big-endian x then y.
        let ark_point = |p: &G1Affine| {
            let bytes = p.to_uncompressed();
            let field = ark_bls12_381::Fq::from_be_bytes_mod_order;
            ark_bls12_381::G1Affine::new(field(&bytes[..48]), field(&bytes[48..]))
        };
        let ark_points: Vec<_> = points.iter().map(ark_point).collect();
        let ark_scalars: Vec<_> =
            scalars.iter().map(|x| ark_bls12_381::Fr::from_le_bytes_mod_order(&x.to_repr())).collect();
        let want = ark_bls12_381::G1Projective::msm(&ark_points, &ark_scalars).unwrap().into_affine();
        assert_eq!(ark_point(&got.into()), want, "arkworks, {n} points");
    }
}

fn affine_forms<C: Curve>() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    for n in [0, 1, 2, 1023, 1024, 1025, 2000] {
        let mut points: Vec<_> =
            random_points::<C>(&mut rng, n).iter().map(|p| C::doubled(&C::Projective::from(*p))).collect();
        for at in [0, n / 2, n / 2 + 1, n.saturating_sub(1)] {
            if let Some(point) = points.get_mut(at) {
                *point = C::zero();
            }
        }
        let want: Vec<C> = points.iter().map(|p| C::from(*p)).collect();
        assert_eq!(affine_many::<C>(&points), want, "{n} points");
        let infinite = vec![C::zero(); n];
        assert!(affine_many::<C>(&infinite).iter().all(Curve::is_infinity), "{n} times infinity");
    }
}

/// Windows of every width, and terms in one chunk and in many, as only queries of millions of points have them.
fn all_window_sizes<C: Curve>(widest: u32) {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let points = random_points::<C>(&mut rng, 50);
    let mut scalars = mixed_scalars(&mut rng, 40);
    scalars.extend(borders().into_iter().take(10));
    let want = naive(&points, &scalars);
    for width in 2..=widest {
        for most in [pippenger::TERMS_PER_CHUNK, 50, 49, 17, 1] {
            let what = format!("width {width}, {most} terms a chunk");
            assert_eq!(sum_of_chunks(&C::portable(points.clone()), &scalars, width, most), want, "{what}, portable");
            #[cfg(target_arch = "x86_64")]
            if let Some(proof) = crate::ifma::Ifma::detect() {
                assert_eq!(sum_of_chunks(&C::ifma(proof, &points), &scalars, width, most), want, "{what}, IFMA");
            }
            // The few chunks of the widest windows are as good as many.
            if width > 6 && most < 17 {
                break;
            }
        }
    }
}

fn sum_of_chunks<C: Curve, A: Adder<C>>(adder: &A, scalars: &[Scalar], width: u32, most: usize) -> C::Projective {
    let (arena, n) = (proofline_memory::Arena::default(), scalars.len());
    let mut memory = workspace::Limbs::new(&arena);
    let term = |i: usize| Some((2 * i as u32, canonical(&scalars[i])));
    let jobs = pippenger::Jobs::cut(Terms::new(memory.room(n, 4 * n).take(n), term), width, most);
    assert_eq!(jobs.count() % n.div_ceil(most.min(n)), 0, "as many jobs a window as there are chunks");
    pippenger::multiply(adder, &Pool::new(&arena), &jobs)
}

#[test]
#[should_panic(expected = "5 scalars for a query of 4 points")]
fn more_scalars_than_points_is_a_bug_of_the_caller() {
    Query::new(vec![G2Affine::standard_generator(); 4]).msm_dense(&[Scalar::ONE; 5], &Workspace::new());
}
