//! Every way that a transform can go: sizes, threads, cuts into passes, and tables that many make at once.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ff::Field;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

/// Values at the ends of the range among random ones.
fn values(seed: u64, n: usize) -> Vec<Scalar> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..n)
        .map(|_| match rng.gen_range(0..4) {
            0 => -Scalar::ONE,
            1 => Scalar::ZERO,
            2 => Scalar::ONE,
            _ => Scalar::random(&mut rng),
        })
        .collect()
}

type Rows = [Vec<Scalar>; 3];

/// The quotient of some rows, in both conventions, and the transforms of the first.
fn all_of(domain: &Domain, rows: &Rows) -> Vec<Vec<Scalar>> {
    let quotients = [Convention::Coefficients, Convention::OddCoset].map(|convention| {
        let [mut a, mut b, mut c] = rows.clone();
        domain.quotient(convention, &mut a, &mut b, &mut c);
        a
    });
    let transforms = [Domain::fft, Domain::ifft, Domain::coset_fft, Domain::coset_ifft].map(|transform| {
        let mut x = rows[0].clone();
        transform(domain, &mut x);
        x
    });
    quotients.into_iter().chain(transforms).collect()
}

#[test]
fn sizes_and_threads_and_paths_agree() {
    let pools = [1, 2, 7].map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap());
    for log_size in (0..=10).chain([12, 13]) {
        let n = 1usize << log_size;
        for rows in [
            [1, 2, 3].map(|seed| values(seed, n)),
            [(); 3].map(|()| vec![-Scalar::ONE; n]),
            [(); 3].map(|()| vec![Scalar::ZERO; n]),
        ] {
            let mut first: Option<Vec<Vec<Scalar>>> = None;
            for path in Path::all() {
                for pool in &pools {
                    let domain = Domain::with_path(n, path).unwrap();
                    let got = pool.install(|| all_of(&domain, &rows));
                    let threads = pool.current_num_threads();
                    let want = first.get_or_insert_with(|| got.clone());
                    assert!(got == *want, "2^{log_size}, {threads} threads, {}", path.name());
                }
            }
        }
    }
}

/// A satisfied circuit whose rows are all zero, or equal to one another, has the quotient that it should.
#[test]
fn quotients_of_rows_that_say_nothing() {
    for path in Path::all() {
        for log_size in [0, 1, 2, 6, 7, 11] {
            let n = 1usize << log_size;
            let domain = Domain::with_path(n, path).unwrap();
            for convention in [Convention::Coefficients, Convention::OddCoset] {
                // A·B − C is the polynomial 0 for constants whose product C is.
                for (a, b) in [(0, 0), (1, 1), (0, 9), (7, 9)] {
                    let [mut a, mut b, mut c] = [a, b, a * b].map(|value| vec![Scalar::from(value); n]);
                    domain.quotient(convention, &mut a, &mut b, &mut c);
                    assert!(a.iter().all(|x| *x == Scalar::ZERO), "2^{log_size}, {}", path.name());
                }
            }
        }
    }
}

#[test]
fn every_other_length_is_refused() {
    for path in Path::all() {
        for log_size in [0, 1, 2, 6, 9] {
            let domain = Domain::with_path(1 << log_size, path).unwrap();
            let n = domain.size();
            for wrong in [0, n - 1, n + 1, 2 * n].into_iter().filter(|wrong| *wrong != n) {
                for transform in [Domain::fft, Domain::ifft, Domain::coset_fft, Domain::coset_ifft] {
                    let mut x = vec![Scalar::ONE; wrong];
                    assert!(catch_unwind(AssertUnwindSafe(|| transform(&domain, &mut x))).is_err(), "{wrong} of {n}");
                    assert!(x.iter().all(|x| *x == Scalar::ONE), "nothing was touched");
                }
                for place in 0..3 {
                    let mut rows = [(); 3].map(|()| vec![Scalar::ONE; n]);
                    rows[place].resize(wrong, Scalar::ONE);
                    let [a, b, c] = &mut rows;
                    let quotient = || domain.quotient(Convention::OddCoset, a, b, c);
                    assert!(catch_unwind(AssertUnwindSafe(quotient)).is_err(), "row {place}: {wrong} of {n}");
                }
            }
        }
    }
}

/// Tables that the first quotient of a domain makes, asked for by many tasks of one pool at once, of a size whose tables are
/// long: a task that waits for others while it makes them takes up one that waits for the tables.
#[test]
fn tables_are_made_once_while_many_wait() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    for path in Path::all() {
        let domain = Domain::with_path(1 << 22, path).unwrap();
        for _ in 0..20 {
            let fresh = domain.clone();
            std::thread::scope(|scope| {
                for at in 0..6 {
                    let (pool, fresh) = (&pool, &fresh);
                    scope.spawn(move || {
                        pool.install(|| match at % 2 {
                            0 => _ = quotient::coset_scales(fresh),
                            _ => _ = quotient::odd_coset_tables(fresh),
                        })
                    });
                }
            });
        }
    }
}

/// Passes of every number of layers in every order, also those that only the largest domains have, against the portable
/// transform: both directions, and the scale.
#[cfg(target_arch = "x86_64")]
#[test]
fn every_cut_into_passes_is_the_same_transform() {
    use super::roots::{Products, Twiddles};
    use crate::ifma::ntt::{Order, Plan};
    let Some(proof) = crate::ifma::Ifma::detect() else { return };
    let mut cuts: Vec<Vec<u32>> = Vec::new();
    for first in 2..=10 {
        for last in 3..=10 {
            cuts.push(vec![first, last]);
            cuts.extend((2..=10).map(|middle| vec![first, middle, last]));
        }
    }
    cuts.extend([vec![2, 2, 2, 2, 3], vec![3, 2, 4, 3], vec![2, 3, 2, 5]]);
    let fits = |cut: &&Vec<u32>| {
        let log_size: u32 = cut.iter().sum();
        log_size <= 13 && log_size - cut[cut.len() - 1] >= 3
    };
    let mut seen = 0;
    for cut in cuts.iter().filter(fits) {
        let log_size = cut.iter().sum();
        let root = roots::root_of_unity(Convention::Coefficients, log_size);
        let twiddles = || Twiddles::twiddles(root, log_size);
        let plan = Plan::of_passes(proof, twiddles(), cut);
        for x in [values(9, 1 << log_size), vec![-Scalar::ONE; 1 << log_size]] {
            let (mut got, mut want) = (x.clone(), x.clone());
            plan.run(&mut got, Order::Split, None);
            portable::to_reversed(&mut want, &twiddles());
            assert!(got == want, "{cut:?}, to reversed order");
            let (base, first) = (Scalar::from(7), Scalar::from(11));
            let mut got = x.clone();
            plan.run(&mut got, Order::Split, Some(&plan.scale(base, first)));
            portable::scale_reversed(&mut want, &Products::powers(base, log_size, first));
            assert!(got == want, "{cut:?}, scaled");
            let (mut got, mut want) = (x.clone(), x);
            plan.run(&mut got, Order::Join, None);
            portable::to_natural(&mut want, &twiddles());
            assert!(got == want, "{cut:?}, to natural order");
        }
        seen += 1;
    }
    assert!(seen > 60, "{seen} cuts");
}
