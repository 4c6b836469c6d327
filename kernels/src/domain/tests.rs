use ark_ff::PrimeField as _;
use ark_poly::EvaluationDomain as _;
use ff::{Field, PrimeField};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;

fn random(seed: u64, n: usize) -> Vec<Scalar> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..n).map(|_| Scalar::random(&mut rng)).collect()
}

fn domain(log_size: u32) -> Domain {
    Domain::for_rows(1 << log_size).unwrap()
}

/// Σ x[j] · point^j.
fn evaluate(x: &[Scalar], point: Scalar) -> Scalar {
    x.iter().rev().fold(Scalar::ZERO, |sum, c| sum * point + c)
}

fn to_ark(x: &Scalar) -> ark_bls12_381::Fr {
    ark_bls12_381::Fr::from_le_bytes_mod_order(&x.to_repr())
}

#[test]
fn sizes_are_the_next_power_of_two() {
    for (rows, log_size) in
        [(0, 0), (1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (1023, 10), (1024, 10), (1025, 11), (1 << 20, 20)]
    {
        let domain = Domain::for_rows(rows).unwrap();
        assert_eq!((domain.log_size(), domain.size()), (log_size, 1 << log_size), "{rows} rows");
    }
    assert_eq!(Domain::for_rows(1 << 28).unwrap().log_size(), 28);
    for rows in [(1 << 28) + 1, usize::MAX] {
        assert_eq!(Domain::for_rows(rows).unwrap_err(), DomainError::TooLarge { rows, limit_log: 28 });
    }
}

#[test]
fn fft_is_the_definition() {
    for log_size in 0..=7 {
        let domain = domain(log_size);
        let x = random(log_size.into(), domain.size());
        let root = roots::root_of_unity(Convention::Coefficients, log_size);
        let mut plain = x.clone();
        domain.fft(&mut plain);
        let mut coset = x.clone();
        domain.coset_fft(&mut coset);
        for k in 0..domain.size() {
            let point = root.pow_vartime([k as u64]);
            assert_eq!(plain[k], evaluate(&x, point), "2^{log_size}, value {k}");
            assert_eq!(coset[k], evaluate(&x, point * Scalar::from(7)), "2^{log_size}, coset value {k}");
        }
    }
}

#[test]
fn fft_is_arkworks() {
    for log_size in [1, 2, 5, 10, 11, 12, 13, 14, 15, 16] {
        let ours = domain(log_size);
        let theirs = ark_poly::Radix2EvaluationDomain::<ark_bls12_381::Fr>::new(ours.size()).unwrap();
        let x = random(100 + u64::from(log_size), ours.size());
        let ark: Vec<_> = x.iter().map(to_ark).collect();
        let mut got = x.clone();
        ours.fft(&mut got);
        let want = theirs.fft(&ark);
        assert!(got.iter().map(to_ark).eq(want.iter().copied()), "2^{log_size}");
        let mut got = x.clone();
        ours.coset_fft(&mut got);
        let want = theirs.get_coset(ark_bls12_381::Fr::from(7u64)).unwrap().fft(&ark);
        assert!(got.iter().map(to_ark).eq(want.iter().copied()), "coset of 2^{log_size}");
    }
}

#[test]
fn inverses_undo() {
    for log_size in [0, 1, 2, 3, 9, 13, 14] {
        let domain = domain(log_size);
        let x = random(200, domain.size());
        let mut y = x.clone();
        domain.fft(&mut y);
        domain.ifft(&mut y);
        assert_eq!(x, y, "2^{log_size}");
        domain.coset_fft(&mut y);
        domain.coset_ifft(&mut y);
        assert_eq!(x, y, "coset of 2^{log_size}");
    }
}

#[test]
fn extreme_values() {
    for log_size in [1, 4, 10, 13] {
        let domain = domain(log_size);
        for value in [Scalar::ZERO, Scalar::ONE, -Scalar::ONE, -Scalar::from(2)] {
            let mut x = vec![value; domain.size()];
            domain.fft(&mut x);
            assert_eq!(x[0], value * Scalar::from(domain.size() as u64), "2^{log_size} of {value:?}");
            assert!(x[1..].iter().all(|x| *x == Scalar::ZERO), "2^{log_size} of {value:?}");
        }
    }
}

/// Schoolbook product.
fn product(a: &[Scalar], b: &[Scalar]) -> Vec<Scalar> {
    let mut out = vec![Scalar::ZERO; a.len() + b.len() - 1];
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            out[i + j] += *a * b;
        }
    }
    out
}

/// Coefficients of the polynomial with the given values at `root^j`, by Lagrange's definition of the inverse.
fn interpolate(values: &[Scalar], root: Scalar) -> Vec<Scalar> {
    let n = values.len() as u64;
    let n_inverse = Scalar::from(n).invert().unwrap();
    let back = root.invert().unwrap();
    (0..n).map(|k| evaluate(values, back.pow_vartime([k])) * n_inverse).collect()
}

#[test]
fn quotient_is_polynomial_division() {
    for log_size in 0..=6 {
        let domain = domain(log_size);
        let n = domain.size();
        let root = roots::root_of_unity(Convention::Coefficients, log_size);
        let (a, b) = (random(300, n), random(301, n));
        let c: Vec<_> = a.iter().zip(&b).map(|(a, b)| *a * b).collect();
        let mut numerator = product(&interpolate(&a, root), &interpolate(&b, root));
        for (x, c) in numerator.iter_mut().zip(interpolate(&c, root)) {
            *x -= c;
        }
        // Division by x^n − 1: the coefficient of x^(i+n) moves to x^i.
        let mut h = vec![Scalar::ZERO; n];
        for i in (n..numerator.len()).rev() {
            h[i - n] = numerator[i];
            let carry = numerator[i];
            numerator[i - n] += carry;
        }
        assert!(numerator[..n].iter().all(|x| *x == Scalar::ZERO), "the division leaves nothing");
        let (mut got, mut b, mut c) = (a, b, c);
        domain.quotient(Convention::Coefficients, &mut got, &mut b, &mut c);
        assert_eq!(got, h, "2^{log_size}");
        assert_eq!(got[n - 1], Scalar::ZERO, "the last coefficient is unused");
    }
}

#[test]
fn odd_coset_is_the_definition() {
    for log_size in 0..=6 {
        let domain = domain(log_size);
        let n = domain.size();
        let root = roots::root_of_unity(Convention::OddCoset, log_size);
        let shift = roots::root_of_unity(Convention::OddCoset, log_size + 1);
        assert_eq!(shift.square(), root);
        let (a, b) = (random(400, n), random(401, n));
        let c: Vec<_> = a.iter().zip(&b).map(|(a, b)| *a * b).collect();
        let polynomials = [&a, &b, &c].map(|x| interpolate(x, root));
        let (mut got, mut b, mut c) = (a, b, vec![Scalar::from(3); n]);
        domain.quotient(Convention::OddCoset, &mut got, &mut b, &mut c);
        for (j, got) in got.iter().enumerate() {
            let point = shift.pow_vartime([2 * j as u64 + 1]);
            let [a, b, c] = polynomials.each_ref().map(|x| evaluate(x, point));
            assert_eq!(*got, a * b - c, "2^{log_size}, value {j}");
        }
    }
}

#[test]
fn the_root_of_snarkjs() {
    // 5^((r−1)/2^32), from the format's description.
    let want = Scalar::from_str_vartime("937917089079007706106976984802249742464848817460758522850752807661925904159");
    assert_eq!(Some(roots::root_of_unity(Convention::OddCoset, 32)), want);
}

#[test]
fn parallel_equals_serial() {
    let domain = domain(15);
    let x = random(500, domain.size());
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut y = x.clone();
        pool.install(|| domain.coset_fft(&mut y));
        y
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn paths_agree_bit_for_bit() {
    for log_size in (0..=14).chain([17, 21]) {
        let n = 1usize << log_size;
        let domains: Vec<_> = Path::all().into_iter().map(|path| Domain::with_path(n, path).unwrap()).collect();
        // Values at both ends of the range among random ones.
        let input = |seed: u64| {
            let mut x = random(seed, n);
            for (i, x) in x.iter_mut().enumerate().step_by(3) {
                *x = if i % 2 == 0 { -Scalar::ONE } else { Scalar::ZERO };
            }
            x
        };
        let all_largest = vec![-Scalar::ONE; n];
        let run = |f: &dyn Fn(&Domain) -> Vec<Scalar>, what: &str| {
            let results: Vec<_> = domains.iter().map(f).collect();
            assert!(results.iter().all(|x| *x == results[0]), "{what} of 2^{log_size}");
        };
        let single = |f: fn(&Domain, &mut [Scalar]), x: &[Scalar]| {
            let x = x.to_vec();
            move |domain: &Domain| {
                let mut x = x.clone();
                f(domain, &mut x);
                x
            }
        };
        run(&single(Domain::fft, &input(1)), "fft");
        run(&single(Domain::fft, &all_largest), "fft of −1");
        let round_trip = |domain: &Domain, x: &mut [Scalar]| {
            domain.transforms.forward.to_natural(x);
        };
        run(&single(round_trip, &input(6)), "reversed to natural order");
        run(&single(Domain::coset_ifft, &input(2)), "coset ifft");
        // The largest size is there for its third pass, which both directions of one transform have.
        let conventions = [Convention::Coefficients, Convention::OddCoset];
        for convention in conventions.into_iter().filter(|_| log_size < 20) {
            let quotient = |domain: &Domain| {
                let (mut a, mut b, mut c) = (input(3), input(4), input(5));
                domain.quotient(convention, &mut a, &mut b, &mut c);
                a
            };
            run(&quotient, "quotient");
        }
    }
}

#[test]
#[should_panic(expected = "exactly that many values")]
fn another_length_is_a_bug_of_the_caller() {
    domain(3).fft(&mut random(1, 7));
}
