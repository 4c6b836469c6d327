//! The coordinate fields of G1 and G2 as towers of Fp: Fp itself, and Fp2 = Fp[i]/(i² + 1).

use super::Ifma;
use super::field::{self, normalise};
use super::fp::{self, Fp, LIMBS, P};
use super::vector::each;

/// A field whose elements are K elements of Fp, in eight lanes.
///
/// Factors must be normalised with components below 8p; results of products are below 2p + 2^-29·p.
pub trait Tower<const K: usize>: Send + Sync + 'static {
    /// The product, normalised.
    fn mul(a: &[Fp; K], b: &[Fp; K]) -> [Fp; K];
    /// The product; limbs may be out of range and negative, the value is not.
    fn mul_raw(a: &[Fp; K], b: &[Fp; K]) -> [Fp; K];
    /// The square; limbs may be out of range and negative, the value is in [0, 1.01·p).
    fn square_raw(a: &[Fp; K]) -> [Fp; K];
    /// The inverses; nothing if a lane is zero.
    fn invert(proof: Ifma, a: &[Fp; K]) -> Option<[Fp; K]>;
}

/// Fp, for G1.
#[derive(Debug, Clone, Copy)]
pub struct Prime;

/// Fp2, for G2.
#[derive(Debug, Clone, Copy)]
pub struct Quadratic;

impl Tower<1> for Prime {
    #[inline(always)]
    fn mul(a: &[Fp; 1], b: &[Fp; 1]) -> [Fp; 1] {
        [fp::mul(&a[0], &b[0])]
    }

    #[inline(always)]
    fn mul_raw(a: &[Fp; 1], b: &[Fp; 1]) -> [Fp; 1] {
        [fp::mul_raw(&a[0], &b[0])]
    }

    #[inline(always)]
    fn square_raw(a: &[Fp; 1]) -> [Fp; 1] {
        [fp::square_raw(&a[0])]
    }

    fn invert(proof: Ifma, a: &[Fp; 1]) -> Option<[Fp; 1]> {
        fp::invert(proof, &a[0]).map(|x| [x])
    }
}

impl Tower<2> for Quadratic {
    #[inline(always)]
    fn mul(a: &[Fp; 2], b: &[Fp; 2]) -> [Fp; 2] {
        let mut out = Self::mul_raw(a, b);
        for component in &mut out {
            normalise(component);
        }
        out
    }

    #[inline(always)]
    fn mul_raw(a: &[Fp; 2], b: &[Fp; 2]) -> [Fp; 2] {
        // SAFETY: having vectors proves the features.
        unsafe { mul_quadratic(a, b) }
    }

    /// (a₀ + a₁)(a₀ − a₁) and 2a₀a₁; factors are below 16p.
    #[inline(always)]
    fn square_raw(a: &[Fp; 2]) -> [Fp; 2] {
        let mut sum = fp::add_raw(&a[0], &a[1]);
        let mut twice = fp::add_raw(&a[0], &a[0]);
        normalise(&mut sum);
        normalise(&mut twice);
        let difference = fp::sub::<8>(&a[0], &a[1]);
        [fp::mul_raw(&sum, &difference), fp::mul_raw(&twice, &a[1])]
    }

    fn invert(proof: Ifma, a: &[Fp; 2]) -> Option<[Fp; 2]> {
        // SAFETY: `proof` proves the features.
        unsafe { invert_quadratic(proof, a) }
    }
}

/// Three column products and two reductions (Karatsuba). Sums of components are below 16p. The real part a₀b₀ − a₁b₁ may
/// be negative, but above −64p², which is above −2^-29·p after the reduction: adding p makes it positive.
///
/// Not inlined: at some 1500 instructions a copy per use would not fit the instruction cache.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx512ifma")]
fn mul_quadratic(a: &[Fp; 2], b: &[Fp; 2]) -> [Fp; 2] {
    let mut s = fp::add_raw(&a[0], &a[1]);
    let mut t = fp::add_raw(&b[0], &b[1]);
    normalise(&mut s);
    normalise(&mut t);
    let v0 = field::columns(&a[0], &b[0]);
    let v1 = field::columns(&a[1], &b[1]);
    let real = each!([v0[0]; 16], i => v0[i] - v1[i]);
    let mut mixed = field::columns(&s, &t);
    for i in 0..16 {
        mixed[i] = mixed[i] - (v0[i] + v1[i]);
    }
    let real = field::reduce_raw::<LIMBS, P>(real);
    let prime = const { field::multiple(<P as field::Modulus<LIMBS>>::PRIME, 1) };
    let real = each!([v0[0]; LIMBS], i => real[i] + real[i].splat(prime[i]));
    [real, field::reduce_raw::<LIMBS, P>(mixed)]
}

/// (a₀ − a₁i)/(a₀² + a₁²); the norm of an element is zero only if the element is, since −1 is no square mod p.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx512ifma")]
fn invert_quadratic(proof: Ifma, a: &[Fp; 2]) -> Option<[Fp; 2]> {
    let mut norm = fp::add_raw(&fp::square_raw(&a[0]), &fp::square_raw(&a[1]));
    normalise(&mut norm);
    let inverse = fp::invert(proof, &norm)?;
    let zero = [proof.splat(0); LIMBS];
    Some([fp::mul(&a[0], &inverse), fp::mul(&fp::sub::<8>(&zero, &a[1]), &inverse)])
}
