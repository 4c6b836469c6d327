//! Lane arithmetic against arkworks, at the borders of the stated ranges.

use ark_bls12_381::{Fq, Fq2, Fr as ArkFr};
use ark_ff::{Field, PrimeField};
use ff::Field as _;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::field::{self, Modulus, multiple, pack, unpack};
use super::fp2::{Quadratic, Tower};
use super::vector::{LANES, LIMB_MASK, Row, transpose};
use super::{Ifma, fp, fr};
use crate::Scalar;

/// The proof, or nothing on a CPU without the instructions, where there is nothing to test.
pub(super) fn proof() -> Option<Ifma> {
    let proof = Ifma::detect();
    if proof.is_none() {
        eprintln!("this CPU has no AVX-512 IFMA: not tested");
    }
    proof
}

/// The integer that normalised limbs stand for, mod the modulus of F.
fn value<F: PrimeField, const N: usize>(limbs: &[u64; N]) -> F {
    limbs.iter().rev().fold(F::from(0u64), |sum, limb| sum * F::from(1u64 << 52) + F::from(*limb))
}

/// k·p + d, normalised, for small d of either sign.
fn near_multiple<const N: usize>(prime: [u64; N], k: u64, d: i64) -> [u64; N] {
    let mut limbs = multiple(prime, k).map(|limb| limb as i64);
    limbs[0] += d;
    for i in 0..N - 1 {
        limbs[i + 1] += limbs[i] >> 52;
        limbs[i] &= LIMB_MASK as i64;
    }
    assert!(limbs[N - 1] >= 0, "negative");
    limbs.map(|limb| limb as u64)
}

/// Values in 0 … k·p: borders of multiples and random ones.
fn sample<const N: usize>(rng: &mut ChaCha8Rng, prime: [u64; N], k: u64) -> [u64; N] {
    let multiple_of = rng.gen_range(0..k);
    match rng.gen_range(0..4) {
        0 => near_multiple(prime, multiple_of, rng.gen_range(0..3)),
        1 => near_multiple(prime, multiple_of + 1, -rng.gen_range(1..3)),
        _ => {
            // A random value below the top of the range, by its top limb.
            let top = multiple(prime, k)[N - 1];
            let mut limbs: [u64; N] = std::array::from_fn(|_| rng.r#gen::<u64>() & LIMB_MASK);
            limbs[N - 1] = rng.gen_range(0..top);
            limbs
        }
    }
}

fn samples<const N: usize>(rng: &mut ChaCha8Rng, prime: [u64; N], k: u64) -> [[u64; N]; LANES] {
    std::array::from_fn(|_| sample(rng, prime, k))
}

/// The same values with limbs out of range, as sums and differences leave them.
fn denormalised<const N: usize>(rng: &mut ChaCha8Rng, mut x: [[u64; N]; LANES]) -> [[u64; N]; LANES] {
    for limbs in &mut x {
        for i in 0..N - 1 {
            let units = rng.gen_range(-30i64..30);
            limbs[i] = limbs[i].wrapping_add((units << 52) as u64);
            limbs[i + 1] = limbs[i + 1].wrapping_sub(units as u64);
        }
    }
    x
}

const P: [u64; 8] = <fp::P as Modulus<8>>::PRIME;
const R: [u64; 5] = <fr::R as Modulus<5>>::PRIME;

#[test]
fn products_and_squares_of_fp() {
    let Some(proof) = proof() else { return };
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let r_inverse = Fq::from(2u64).pow([416]).inverse().unwrap();
    for bound in [1, 2, 8, 1 << 10] {
        for _ in 0..300 {
            let (a, b) = (samples(&mut rng, P, bound), samples(&mut rng, P, bound));
            let product = unpack(&fp::mul(&pack(proof, &a), &pack(proof, &b)));
            let mut square = fp::square_raw(&pack(proof, &a));
            field::normalise(&mut square);
            let square = unpack(&square);
            for lane in 0..LANES {
                let (x, y) = (value::<Fq, 8>(&a[lane]), value::<Fq, 8>(&b[lane]));
                assert_eq!(value::<Fq, 8>(&product[lane]), x * y * r_inverse);
                assert_eq!(value::<Fq, 8>(&square[lane]), x * x * r_inverse);
                for limbs in [&product[lane], &square[lane]] {
                    assert!(limbs.iter().all(|limb| *limb <= LIMB_MASK), "normalised");
                    assert!(limbs[7] <= multiple(P, 2)[7], "below 2p");
                }
            }
        }
    }
}

#[test]
fn weak_reduction_of_fp() {
    let Some(proof) = proof() else { return };
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for _ in 0..5000 {
        let x = samples(&mut rng, P, 6);
        let loose = denormalised(&mut rng, x);
        let weak = unpack(&fp::weak(pack(proof, &loose)));
        for lane in 0..LANES {
            assert_eq!(value::<Fq, 8>(&weak[lane]), value::<Fq, 8>(&x[lane]));
            assert!(weak[lane].iter().all(|limb| *limb <= LIMB_MASK), "normalised");
            let below = weak[lane].iter().rev().lt(multiple(P, 2).iter().rev());
            assert!(below, "below 2p: {:x?} of {:x?}", weak[lane], x[lane]);
        }
    }
}

#[test]
fn zero_lanes_are_the_multiples() {
    let Some(proof) = proof() else { return };
    for k in 0..6 {
        for d in [-1, 0, 1] {
            if k == 0 && d < 0 {
                continue;
            }
            let mut x = [near_multiple(P, 3, 5); LANES];
            x[2] = near_multiple(P, k, d);
            assert_eq!(fp::zero_lanes(&pack(proof, &x)), if d == 0 { 4 } else { 0 }, "{k}·p + {d}");
        }
    }
}

#[test]
fn inverses() {
    let Some(proof) = proof() else { return };
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for _ in 0..50 {
        let x: [[u64; 8]; LANES] = std::array::from_fn(|_| {
            loop {
                let x = sample(&mut rng, P, 4);
                if value::<Fq, 8>(&x) != Fq::from(0u64) {
                    return x;
                }
            }
        });
        let vector = pack(proof, &x);
        let inverse = fp::invert(proof, &vector).expect("no lane is zero");
        let one = unpack(&fp::mul(&vector, &inverse));
        for limbs in one {
            assert_eq!(value::<Fq, 8>(&limbs), value::<Fq, 8>(&fp::ONE));
        }
        for k in 0..4 {
            let mut x = x;
            x[k as usize * 2] = multiple(P, k);
            assert!(fp::invert(proof, &pack(proof, &x)).is_none(), "a lane is {k}·p");
        }
    }
}

#[test]
fn products_and_inverses_of_fp2() {
    let Some(proof) = proof() else { return };
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let r_inverse = Fq::from(2u64).pow([416]).inverse().unwrap();
    let element = |x: &[[[u64; 8]; LANES]; 2], lane: usize| {
        Fq2::new(value::<Fq, 8>(&x[0][lane]) * r_inverse, value::<Fq, 8>(&x[1][lane]) * r_inverse)
    };
    let read = |x: [fp::Fp; 2]| {
        x.map(|mut component| {
            field::normalise(&mut component);
            unpack(&component)
        })
    };
    for bound in [1, 2, 4, 8] {
        for _ in 0..200 {
            let a = [(); 2].map(|()| samples(&mut rng, P, bound));
            let b = [(); 2].map(|()| samples(&mut rng, P, bound));
            let (va, vb) = (a.map(|x| pack(proof, &x)), b.map(|x| pack(proof, &x)));
            let product = read(Quadratic::mul(&va, &vb));
            let square = read(Quadratic::square_raw(&va));
            for lane in 0..LANES {
                let (x, y) = (element(&a, lane), element(&b, lane));
                assert_eq!(element(&product, lane), x * y);
                assert_eq!(element(&square, lane), x * x);
                for k in 0..2 {
                    assert!(product[k][lane][7] <= multiple(P, 2)[7] && square[k][lane][7] <= multiple(P, 2)[7]);
                }
            }
            if let Some(inverse) = Quadratic::invert(proof, &va) {
                let inverse = read(inverse);
                for lane in 0..LANES {
                    assert_eq!(element(&inverse, lane) * element(&a, lane), Fq2::from(1u64));
                }
            } else {
                assert!((0..LANES).any(|lane| element(&a, lane) == Fq2::from(0u64)));
            }
        }
    }
}

#[test]
fn products_and_reductions_of_fr() {
    let Some(proof) = proof() else { return };
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let r_inverse = ArkFr::from(2u64).pow([260]).inverse().unwrap();
    for _ in 0..3000 {
        let (a, b) = (samples(&mut rng, R, 34), samples(&mut rng, R, 1));
        let product = unpack(&fr::mul(&pack(proof, &a), &pack(proof, &b)));
        let loose = pack(proof, &denormalised(&mut rng, a));
        let (weak, canonical) = (unpack(&fr::weak(loose)), unpack(&fr::canonical(loose)));
        for lane in 0..LANES {
            let x = value::<ArkFr, 5>(&a[lane]);
            assert_eq!(value::<ArkFr, 5>(&product[lane]), x * value::<ArkFr, 5>(&b[lane]) * r_inverse);
            assert!(product[lane].iter().rev().lt(multiple(R, 2).iter().rev()), "below 2r");
            assert_eq!(value::<ArkFr, 5>(&weak[lane]), x);
            let mut top = multiple(R, 2);
            top[4] += 4;
            assert!(weak[lane].iter().rev().lt(top.iter().rev()), "below 2r + 2^210");
            assert_eq!(value::<ArkFr, 5>(&canonical[lane]), x);
            assert!(canonical[lane].iter().rev().lt(R.iter().rev()), "below r");
        }
    }
}

#[test]
fn memory_forms_of_fr() {
    let Some(proof) = proof() else { return };
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let x: Vec<Scalar> = (0..64).map(|i| if i % 9 == 0 { -Scalar::ONE } else { Scalar::random(&mut rng) }).collect();
    let mut y = vec![Scalar::ZERO; 64];
    // SAFETY: both arrays have 64 elements.
    unsafe {
        let lanes = fr::load(proof, x[8..].as_ptr());
        for (lane, limbs) in unpack(&lanes).iter().enumerate() {
            assert_eq!(field::to_words::<5, 4>(limbs), fr::words(&x[8 + lane]));
        }
        fr::store(&lanes, y[8..].as_mut_ptr());
        assert_eq!(x[8..16], y[8..16]);
        let [even, odd] = fr::load_rows(proof, x[2..].as_ptr(), 8);
        for lane in 0..LANES {
            assert_eq!(field::to_words::<5, 4>(&unpack(&even)[lane]), fr::words(&x[8 * lane + 2]));
            assert_eq!(field::to_words::<5, 4>(&unpack(&odd)[lane]), fr::words(&x[8 * lane + 3]));
        }
        fr::store_rows([&even, &odd], y[2..].as_mut_ptr(), 8);
        assert!((0..8).all(|row| x[8 * row + 2..8 * row + 4] == y[8 * row + 2..8 * row + 4]));
    }
}

#[test]
fn transposition() {
    let Some(proof) = proof() else { return };
    let rows = std::array::from_fn(|i| proof.load(&Row(std::array::from_fn(|j| 8 * i as u64 + j as u64))));
    for (j, column) in transpose(rows).iter().enumerate() {
        assert_eq!(column.lanes(), std::array::from_fn(|i| 8 * i as u64 + j as u64));
    }
}
