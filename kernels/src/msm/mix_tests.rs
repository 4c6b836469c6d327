//! Points whose multiples of one another are known, in every mix that upsets additions, by scalars of every class: the sum is
//! one product.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ff::Field;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::fixed_base::Table;
use crate::{G1Affine, G2Affine};

/// Points by their factors of the generator; 0 is infinity.
pub(super) struct Known<C: Curve> {
    factors: Vec<Scalar>,
    pub(super) points: Vec<C>,
}

impl<C: Curve> Known<C> {
    pub(super) fn of(factors: Vec<Scalar>) -> Self {
        let points = Table::new(C::standard_generator().into(), factors.len()).mul_many(&factors);
        Self { factors, points }
    }

    pub(super) fn sum(&self, scalars: &[Scalar]) -> C {
        let products = self.factors.iter().zip(scalars).map(|(factor, scalar)| *factor * scalar);
        C::from(C::Projective::from(C::standard_generator()) * products.sum::<Scalar>())
    }
}

fn power_of_two(k: u64) -> Scalar {
    Scalar::from(2).pow_vartime([k])
}

/// Ways to choose the points of a query, by their places.
fn point_mixes(rng: &mut ChaCha8Rng, n: usize) -> Vec<(&'static str, Vec<Scalar>)> {
    let one = Scalar::from(rng.r#gen::<u64>());
    let (zero, two) = (Scalar::ZERO, one + one);
    let mut all = |name, factor: &dyn Fn(usize, &mut ChaCha8Rng) -> Scalar| {
        (name, (0..n).map(|k| factor(k, rng)).collect::<Vec<_>>())
    };
    vec![
        all("all equal", &|_, _| one),
        all("P and −P in turn", &|k, _| if k % 2 == 0 { one } else { -one }),
        all("P, P, −P, −P", &|k, _| if k % 4 < 2 { one } else { -one }),
        all("P and 2P in turn", &|k, _| if k % 2 == 0 { one } else { two }),
        all("infinity in turn", &|k, _| if k % 2 == 0 { zero } else { one }),
        all("infinity everywhere", &|_, _| zero),
        all("infinity but for the last", &|k, _| if k + 1 == n { one } else { zero }),
        all("any of P, −P, 2P, −2P, infinity", &|_, rng| [one, -one, two, -two, zero][rng.gen_range(0..5)]),
        all("different", &|_, rng| Scalar::random(rng)),
        all("1 to n", &|k, _| Scalar::from(k as u64 + 1)),
    ]
}

/// Ways to choose the scalars.
fn scalar_mixes(rng: &mut ChaCha8Rng, n: usize) -> Vec<(&'static str, Vec<Scalar>)> {
    let alone = rng.gen_range(0..n.max(1));
    let mut all = |name, scalar: &dyn Fn(usize, &mut ChaCha8Rng) -> Scalar| {
        (name, (0..n).map(|k| scalar(k, rng)).collect::<Vec<_>>())
    };
    let any = |rng: &mut ChaCha8Rng| match rng.gen_range(0..7) {
        0 => Scalar::ZERO,
        1 => Scalar::ONE,
        2 => -Scalar::ONE,
        3 => power_of_two(rng.gen_range(0..255)),
        4 => -power_of_two(rng.gen_range(0..255)),
        5 => Scalar::from(rng.r#gen::<u64>() >> rng.gen_range(0..64)),
        _ => -Scalar::from(rng.r#gen::<u64>() >> rng.gen_range(0..64)),
    };
    vec![
        all("all 0", &|_, _| Scalar::ZERO),
        all("all 1", &|_, _| Scalar::ONE),
        all("all r − 1", &|_, _| -Scalar::ONE),
        all("1 and r − 1 in turn", &|k, _| if k % 2 == 0 { Scalar::ONE } else { -Scalar::ONE }),
        all("all 2^64 − 1", &|_, _| Scalar::from(u64::MAX)),
        all("all 2^64", &|_, _| power_of_two(64)),
        all("all 2^254", &|_, _| power_of_two(254)),
        all("all −2^254", &|_, _| -power_of_two(254)),
        all("one alone, full", &|k, _| if k == alone { -Scalar::from(2).pow_vartime([100]) } else { Scalar::ZERO }),
        all("one alone, small", &|k, _| if k == alone { -Scalar::from(u64::MAX) } else { Scalar::ZERO }),
        all("any", &|_, rng| any(rng)),
        all("full", &|_, rng| Scalar::random(rng)),
    ]
}

/// Both ways to multiply on every path, with one workspace for all: the same points, which have one affine form.
fn check<C: Curve>(known: &Known<C>, scalars: &[Scalar], workspace: &Workspace<C>, what: &str) {
    let want = known.sum(scalars);
    let mut set = ScalarSet::new();
    set.fill(scalars);
    for path in Path::all() {
        let query = Query::with_path(known.points.clone(), path);
        let name = path.name();
        assert_eq!(C::from(query.msm(&set, Density::FULL, workspace)), want, "{what}, by classes, {name}");
        assert_eq!(C::from(query.msm_dense(scalars, workspace)), want, "{what}, dense, {name}");
    }
}

fn every_mix<C: Curve>(lengths: &[usize]) {
    let mut rng = ChaCha8Rng::seed_from_u64(21);
    let workspace = Workspace::new();
    for &n in lengths {
        for (points, factors) in point_mixes(&mut rng, n) {
            let known = Known::<C>::of(factors);
            for (scalars, values) in scalar_mixes(&mut rng, n) {
                check(&known, &values, &workspace, &format!("{n} points ({points}) by scalars ({scalars})"));
            }
        }
    }
}

#[test]
fn every_mix_in_g1() {
    // Around lanes, pieces of a sum, and a batch of additions.
    every_mix::<G1Affine>(&[1, 2, 3, 7, 8, 9, 15, 16, 17, 127, 128, 129, 257]);
}

#[test]
fn every_mix_in_g2() {
    every_mix::<G2Affine>(&[1, 2, 8, 9, 17, 129]);
}

/// Around the numbers of points at which a batch, a block and a task are full: sums of ones are one segment.
fn borders<C: Curve>(lengths: &[usize]) {
    let mut rng = ChaCha8Rng::seed_from_u64(22);
    let workspace = Workspace::new();
    let longest = lengths.iter().copied().max().unwrap_or(0);
    let one = Scalar::from(rng.r#gen::<u64>());
    for (name, factors) in [
        ("1 to n", (1..=longest as u64).map(Scalar::from).collect::<Vec<_>>()),
        ("P and −P in turn", (0..longest).map(|k| if k % 2 == 0 { one } else { -one }).collect()),
        ("all equal", vec![one; longest]),
    ] {
        let all = Known::<C>::of(factors);
        for &n in lengths {
            let known = Known { factors: all.factors[..n].to_vec(), points: all.points[..n].to_vec() };
            for (scalars, value) in [("1", Scalar::ONE), ("r − 1", -Scalar::ONE), ("3", Scalar::from(3))] {
                check(&known, &vec![value; n], &workspace, &format!("{n} points ({name}) by {scalars}"));
            }
        }
    }
}

#[test]
fn borders_of_batches_and_blocks_in_g1() {
    let around = |n: usize| [n - 1, n, n + 1];
    borders::<G1Affine>(&[around(1 << 10), around(1 << 11), around(1 << 13), around(1 << 14)].concat());
}

#[test]
fn borders_of_batches_in_g2() {
    borders::<G2Affine>(&[1023, 1024, 1025, 2049]);
}

/// More scalars than points, of all kinds of calls: refused before anything is read.
#[test]
fn a_query_shorter_than_its_scalars_is_refused() {
    let known = Known::<G2Affine>::of((1..5).map(Scalar::from).collect());
    for path in Path::all() {
        let query = Query::with_path(known.points.clone(), path);
        let scalars = [Scalar::ONE; 5];
        let mut set = ScalarSet::new();
        set.fill(&scalars);
        let workspace = Workspace::new();
        assert!(catch_unwind(AssertUnwindSafe(|| query.msm(&set, Density::FULL, &workspace))).is_err());
        assert!(catch_unwind(AssertUnwindSafe(|| query.msm_dense(&scalars, &workspace))).is_err());
        check(&known, &scalars[..4], &workspace, "afterwards");
        check(&known, &[], &workspace, "no scalars");
    }
}

/// No y of a point is zero: such a base would be taken for infinity by one path and for a point by another.
#[test]
fn a_stored_point_with_y_zero_is_refused() {
    fn refused<C: Curve>() {
        let mut plain = vec![0; 3 * C::PLAIN_BYTES];
        plain.chunks_exact_mut(C::PLAIN_BYTES).for_each(|plain| C::standard_generator().to_plain(plain));
        plain[2 * C::PLAIN_BYTES + C::PLAIN_BYTES / 2..].fill(0);
        for path in Path::all() {
            let stored = Stored { len: 3, infinities: &[], points_per_piece: 3 };
            let read = |first: usize, bytes: &mut [u8]| {
                bytes.copy_from_slice(&plain[first * C::PLAIN_BYTES..]);
                Ok::<_, ()>(())
            };
            let error = Query::<C>::load(stored, path, read).unwrap_err();
            assert!(matches!(error, LoadError::NoPoint { index: 2 }), "{}", path.name());
            // Of two faults the first is told, whatever they are.
            let mut two = plain.clone();
            two[C::PLAIN_BYTES..][..48].fill(0xff);
            let read = |_: usize, bytes: &mut [u8]| {
                bytes.copy_from_slice(&two);
                Ok::<_, ()>(())
            };
            let error = Query::<C>::load(stored, path, read).unwrap_err();
            assert!(matches!(error, LoadError::NoPoint { index: 1 }), "{}", path.name());
        }
    }
    refused::<G1Affine>();
    refused::<G2Affine>();
}
