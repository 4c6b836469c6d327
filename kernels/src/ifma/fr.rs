//! Fr, the scalar field: eight lanes of five limbs.
//!
//! Values in memory are blst's: canonical, Montgomery with R = 2^256. Transforms are linear, so data keeps that form and
//! only factors (twiddles, powers) are held with R = 2^260, this product's R. R/r is 2^5.14 = 35.3: a product with a
//! canonical factor takes anything below 35r and gives less than 2r.

use std::arch::x86_64::*;

use super::Ifma;
use super::field::{self, Limbs, Modulus, multiple, normalise};
use super::vector::{LIMB_BITS, LIMB_MASK, V, each};
use crate::Scalar;

/// Limbs of an element.
pub(crate) const LIMBS: usize = 5;

/// Eight elements.
pub(crate) type Fr = Limbs<LIMBS>;

/// The modulus r.
pub(crate) struct R;

impl Modulus<LIMBS> for R {
    const PRIME: [u64; LIMBS] = field::to_limbs(&crate::scalars::ORDER);
    const NEGATED_INVERSE: u64 = 0xf_fffe_ffff_ffff;
    const SHORT_INVERSE: bool = true;
}

/// ⌊2^306 / r⌋: the high half of its product with the top limb (units of 2^208), shifted right by [`QUOTIENT_SHIFT`], is
/// ⌊x / r⌋ or one less, for x below 2^260.
const RECIPROCAL: u64 = 0x8_d542_53b7_fb78;
const QUOTIENT_SHIFT: u32 = 46;

#[inline(always)]
pub(crate) fn mul(a: &Fr, b: &Fr) -> Fr {
    field::mul::<LIMBS, R>(a, b)
}

#[inline(always)]
pub(crate) fn mul_raw(a: &Fr, b: &Fr) -> Fr {
    field::mul_raw::<LIMBS, R>(a, b)
}

/// a + b, limbs as they come.
#[inline(always)]
pub(crate) fn add_raw(a: &Fr, b: &Fr) -> Fr {
    each!([a[0]; LIMBS], i => a[i] + b[i])
}

/// a − b + K·r, limbs as they come.
#[inline(always)]
pub(crate) fn sub_raw<const K: u64>(a: &Fr, b: &Fr) -> Fr {
    let offset = const { multiple(R::PRIME, K) };
    each!([a[0]; LIMBS], i => a[i] - b[i] + a[i].splat(offset[i]))
}

/// The same factor in every lane.
#[inline(always)]
pub(crate) fn splat(proof: Ifma, limbs: &[u64; LIMBS]) -> Fr {
    field::splat(proof, limbs)
}

/// A scalar as a factor: R = 2^260, canonical.
pub(crate) fn factor(x: Scalar) -> [u64; LIMBS] {
    // 2^260 = 16 · 2^256, and the words of a scalar are the value times 2^256.
    field::to_limbs(&words(&(x * Scalar::from(16))))
}

/// The words of a scalar in memory.
pub(crate) fn words(x: &Scalar) -> [u64; 4] {
    blst::blst_fr::from(*x).l
}

/// q·r subtracted from x, for a q given lane by lane.
#[inline(always)]
fn subtract_multiple(x: &mut Fr, q: V) {
    let mut product = [q.splat(0); LIMBS];
    for j in 0..LIMBS {
        let limb = q.splat(R::PRIME[j]);
        product[j] = product[j].add_low(q, limb);
        if j + 1 < LIMBS {
            product[j + 1] = product[j + 1].add_high(q, limb);
        }
    }
    for j in 0..LIMBS {
        x[j] = x[j] - product[j];
    }
}

/// Brings a value below 35r, with any limbs, below 2r + 2^210, normalised.
///
/// The top limb, with the carry of the next one only, is off by at most one either way; raised by one it is not negative
/// and not too small, so that q is ⌊x/r⌋, or one more within 2^210 below a multiple of r, or one less within 2^210
/// above. r is added back: x − q·r + r is in [0, 2r + 2^210).
#[inline(always)]
pub(crate) fn weak(mut x: Fr) -> Fr {
    let top = x[4] + x[3].sar::<LIMB_BITS>() + x[4].splat(1);
    let q = x[4].splat(0).add_high(top, x[4].splat(RECIPROCAL)).shr::<QUOTIENT_SHIFT>();
    x = each!([x[0]; LIMBS], j => x[j] + x[j].splat(R::PRIME[j]));
    subtract_multiple(&mut x, q);
    normalise(&mut x);
    x
}

/// Brings a value below 35r, with any limbs below 2^62 in magnitude, to its canonical form.
///
/// The top limb with the carry of the next one only is t − 1 to t + 1, t being what normalisation would give. One less, but
/// not below 0, is then t − 2 to t, so that q is not above x/r and above x/r − 1 − 2^−44: x − q·r is in [0, 1.1r).
#[inline(always)]
pub(crate) fn canonical(mut x: Fr) -> Fr {
    let one = x[4].splat(1);
    let top = (x[4] + x[3].sar::<LIMB_BITS>() - one).max(x[4].splat(0));
    let q = x[4].splat(0).add_high(top, x[4].splat(RECIPROCAL)).shr::<QUOTIENT_SHIFT>();
    subtract_multiple(&mut x, q);
    normalise(&mut x);
    // One conditional subtraction.
    let mut reduced = each!([x[0]; LIMBS], j => x[j] - x[j].splat(R::PRIME[j]));
    normalise(&mut reduced);
    let below = reduced[4].negative_lanes();
    each!([x[0]; LIMBS], j => reduced[j].blend(below, x[j]))
}

/// Four vectors of words, word k of all lanes in vector k, as limbs.
#[inline(always)]
fn from_words(w: [V; 4]) -> Fr {
    let mask = w[0].splat(LIMB_MASK);
    [
        w[0] & mask,
        (w[0].shr::<52>() | w[1].shl::<12>()) & mask,
        (w[1].shr::<40>() | w[2].shl::<24>()) & mask,
        (w[2].shr::<28>() | w[3].shl::<36>()) & mask,
        w[3].shr::<16>(),
    ]
}

/// The inverse of [`from_words`] for normalised values below 2^256.
#[inline(always)]
fn to_words(l: &Fr) -> [V; 4] {
    [
        l[0] | l[1].shl::<52>(),
        l[1].shr::<12>() | l[2].shl::<40>(),
        l[2].shr::<24>() | l[3].shl::<28>(),
        l[3].shr::<36>() | l[4].shl::<16>(),
    ]
}

/// Eight elements, given as pairs, one a lane.
#[inline(always)]
fn from_pairs(proof: Ifma, r: [__m512i; 4]) -> Fr {
    // SAFETY: `proof` proves the features; only registers are touched.
    unsafe {
        let low = _mm512_setr_epi64(0, 4, 8, 12, 1, 5, 9, 13);
        let high = _mm512_setr_epi64(2, 6, 10, 14, 3, 7, 11, 15);
        let (a0, b0) = (_mm512_permutex2var_epi64(r[0], low, r[1]), _mm512_permutex2var_epi64(r[0], high, r[1]));
        let (a1, b1) = (_mm512_permutex2var_epi64(r[2], low, r[3]), _mm512_permutex2var_epi64(r[2], high, r[3]));
        from_words([
            proof.wrap(_mm512_shuffle_i64x2::<0x44>(a0, a1)),
            proof.wrap(_mm512_shuffle_i64x2::<0xee>(a0, a1)),
            proof.wrap(_mm512_shuffle_i64x2::<0x44>(b0, b1)),
            proof.wrap(_mm512_shuffle_i64x2::<0xee>(b0, b1)),
        ])
    }
}

/// Eight neighbouring elements, one a lane.
///
/// # Safety
/// `at` must be readable for 256 bytes.
#[inline(always)]
pub(crate) unsafe fn load(proof: Ifma, at: *const Scalar) -> Fr {
    let at: *const u64 = at.cast();
    // SAFETY: the caller's promise covers all four vectors; `proof` proves the features.
    let pairs = unsafe {
        [
            _mm512_loadu_si512(at.cast()),
            _mm512_loadu_si512(at.add(8).cast()),
            _mm512_loadu_si512(at.add(16).cast()),
            _mm512_loadu_si512(at.add(24).cast()),
        ]
    };
    from_pairs(proof, pairs)
}

/// Eight elements from anywhere, one a lane.
///
/// # Safety
/// The elements at all `places` behind `from` must be readable.
#[inline(always)]
pub(crate) unsafe fn gather(proof: Ifma, from: *const Scalar, places: &[u32; 8]) -> Fr {
    // SAFETY: the caller's promise; `proof` proves the features.
    let pairs = unsafe {
        each!([_mm512_setzero_si512(); 4], k => {
            let first = _mm256_loadu_si256(from.add(places[2 * k] as usize).cast());
            let second = _mm256_loadu_si256(from.add(places[2 * k + 1] as usize).cast());
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(first), second)
        })
    };
    from_pairs(proof, pairs)
}

/// To eight neighbouring elements; normalised, below 2^256.
///
/// # Safety
/// `at` must be writable for 256 bytes.
#[inline(always)]
pub(crate) unsafe fn store(x: &Fr, at: *mut Scalar) {
    let at: *mut u64 = at.cast();
    let w = to_words(x);
    let w = [w[0].raw(), w[1].raw(), w[2].raw(), w[3].raw()];
    // SAFETY: the caller's promise covers all four vectors; having vectors proves the features.
    unsafe {
        let a0 = _mm512_shuffle_i64x2::<0x44>(w[0], w[1]);
        let a1 = _mm512_shuffle_i64x2::<0xee>(w[0], w[1]);
        let b0 = _mm512_shuffle_i64x2::<0x44>(w[2], w[3]);
        let b1 = _mm512_shuffle_i64x2::<0xee>(w[2], w[3]);
        let even = _mm512_setr_epi64(0, 4, 8, 12, 1, 5, 9, 13);
        let odd = _mm512_setr_epi64(2, 6, 10, 14, 3, 7, 11, 15);
        _mm512_storeu_si512(at.cast(), _mm512_permutex2var_epi64(a0, even, b0));
        _mm512_storeu_si512(at.add(8).cast(), _mm512_permutex2var_epi64(a0, odd, b0));
        _mm512_storeu_si512(at.add(16).cast(), _mm512_permutex2var_epi64(a1, even, b1));
        _mm512_storeu_si512(at.add(24).cast(), _mm512_permutex2var_epi64(a1, odd, b1));
    }
}

/// Two neighbouring elements of each of eight rows that are `stride` elements apart, one row a lane.
///
/// # Safety
/// 64 bytes must be readable at the start of every row.
#[inline(always)]
pub(crate) unsafe fn load_rows(proof: Ifma, at: *const Scalar, stride: usize) -> [Fr; 2] {
    let mut rows = [proof.splat(0); 8];
    for (lane, row) in rows.iter_mut().enumerate() {
        // SAFETY: the caller's promise; `proof` proves the features.
        *row = proof.wrap(unsafe { _mm512_loadu_si512(at.add(lane * stride).cast()) });
    }
    let w = super::vector::transpose(rows);
    [from_words([w[0], w[1], w[2], w[3]]), from_words([w[4], w[5], w[6], w[7]])]
}

/// The inverse of [`load_rows`]; normalised, below 2^256.
///
/// # Safety
/// 64 bytes must be writable at the start of every row.
#[inline(always)]
pub(crate) unsafe fn store_rows(x: [&Fr; 2], at: *mut Scalar, stride: usize) {
    let (a, b) = (to_words(x[0]), to_words(x[1]));
    let rows = super::vector::transpose([a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]]);
    for (lane, row) in rows.iter().enumerate() {
        // SAFETY: the caller's promise; having vectors proves the features.
        unsafe { _mm512_storeu_si512(at.add(lane * stride).cast(), row.raw()) };
    }
}
