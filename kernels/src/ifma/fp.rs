//! Fp, the base field: eight lanes of eight limbs, Montgomery form with R = 2^416.
//!
//! p is 381 bits long, so R/p > 2^35: products of factors up to 2^17·p stay below p + 2^-1·p without any conditional
//! subtraction. Between operations values are kept *weakly reduced*: normalised limbs, below 2p.

use super::Ifma;
use super::field::{self, Limbs, Modulus, multiple, normalise, splat};
use super::vector::{LANES, LIMB_BITS, LIMB_MASK, Row, V, each, transpose};
use crate::words;

/// Limbs of an element.
pub(crate) const LIMBS: usize = 8;
/// 64-bit words of an element in memory.
pub(crate) const WORDS: usize = 6;

/// Eight elements.
pub(crate) type Fp = Limbs<LIMBS>;

/// The modulus p.
pub(crate) struct P;

impl Modulus<LIMBS> for P {
    const PRIME: [u64; LIMBS] = field::to_limbs(&words::PRIME);
    const NEGATED_INVERSE: u64 = 0x3_fffc_fffc_fffd;
    const SHORT_INVERSE: bool = false;
}

/// 2^416 mod p: the number 1.
pub(crate) const ONE: [u64; LIMBS] = [
    0x6_480e_a8e9_b9af,
    0x6_5766_c8fe_444f,
    0x8_b540_fea9_6f7d,
    0x3_b2ee_82ef_d422,
    0xa_6723_e5f0_ade5,
    0xf_f6eb_6fdd_4230,
    0xe_06ef_23c2_4a25,
    0x1_4c8e,
];

/// 2^384 mod p; a product with it takes our form to blst's (R = 2^384).
const TO_BLST: [u64; LIMBS] = [
    0x9_0000_0002_fffd,
    0x0_bc40_c000_2760,
    0x3_c758_baeb_f400,
    0x5_7455_f489_8575,
    0xd_77ce_5853_7052,
    0x0_71a9_7a25_6ec6,
    0xe_c3fa_80e4_935c,
    0x1_5f65,
];

/// 2^448 mod p; a product with it takes blst's form to ours.
const FROM_BLST: [u64; LIMBS] = [
    0x7_fde3_7dba_9366,
    0x4_e275_25bc_342b,
    0x1_f5b1_e977_8489,
    0xb_872b_2b91_b9dc,
    0xb_206f_497d_fcaf,
    0x4_137c_c89a_9b0b,
    0xd_9d20_d7e3_9959,
    0x411c,
];

/// Row i, lane k: limb i of k·p.
static MULTIPLES: [Row; LIMBS] = {
    let mut rows = [Row([0; LANES]); LIMBS];
    let mut k = 0;
    while k < LANES {
        let limbs = multiple(P::PRIME, k as u64);
        let mut i = 0;
        while i < LIMBS {
            rows[i].0[k] = limbs[i];
            i += 1;
        }
        k += 1;
    }
    rows
};

#[inline(always)]
pub(crate) fn one(proof: Ifma) -> Fp {
    splat(proof, &ONE)
}

#[inline(always)]
pub(crate) fn mul(a: &Fp, b: &Fp) -> Fp {
    field::mul::<LIMBS, P>(a, b)
}

#[inline(always)]
pub(crate) fn mul_raw(a: &Fp, b: &Fp) -> Fp {
    field::mul_raw::<LIMBS, P>(a, b)
}

#[inline(always)]
pub(crate) fn square_raw(a: &Fp) -> Fp {
    field::reduce_raw::<LIMBS, P>(field::square_columns(a))
}

/// a − b + k·p with limbs as they come.
#[inline(always)]
pub(crate) fn sub_raw<const K: u64>(a: &Fp, b: &Fp) -> Fp {
    let offset = const { multiple(P::PRIME, K) };
    each!([a[0]; LIMBS], i => a[i] - b[i] + a[i].splat(offset[i]))
}

/// a − b + k·p, normalised; b must not exceed a + k·p.
#[inline(always)]
pub(crate) fn sub<const K: u64>(a: &Fp, b: &Fp) -> Fp {
    let mut out = sub_raw::<K>(a, b);
    normalise(&mut out);
    out
}

/// a + b with limbs as they come.
#[inline(always)]
pub(crate) fn add_raw(a: &Fp, b: &Fp) -> Fp {
    each!([a[0]; LIMBS], i => a[i] + b[i])
}

/// Brings a value in [0, 6p), with any limbs, weakly reduced: normalised and below 2p.
///
/// The multiple k = ⌊top / 2^17⌋ is read off the top limb: 2^17 units of it are 2^381 = 1.2306·p, so that
/// v − k·p < 1.2306·p + 0.2306·k·p ≤ 2p for k ≤ 3, and v < 6p leaves less than 2p for k = 4. The estimate carries only
/// from limb 6 into the top, and is raised by 1 so that carries from further below cannot make it −1 or too small; being
/// one unit too high matters only within 2^365 of a border, where v − k·p is still at least 0.23·p (k ≥ 1).
#[inline(always)]
pub(crate) fn weak(mut t: Fp) -> Fp {
    let top = t[7] + t[6].sar::<LIMB_BITS>() + t[7].splat(1);
    let k = top.shr::<17>();
    for (limb, row) in t.iter_mut().zip(&MULTIPLES) {
        *limb = *limb - k.look_up(row);
    }
    normalise(&mut t);
    t
}

/// Lanes that are 0 mod p, of normalised values below 6p.
pub(crate) fn zero_lanes(x: &Fp) -> u8 {
    (0..6).fold(0, |zero, k| {
        let limbs = multiple(P::PRIME, k);
        zero | (0..LIMBS).fold(0xff, |equal, i| equal & x[i].equal_lanes(x[i].splat(limbs[i])))
    })
}

/// Lanes whose limbs are all zero.
#[inline(always)]
pub(crate) fn blank_lanes(x: &Fp) -> u8 {
    let mut all = x[0];
    for limb in &x[1..] {
        all = all | *limb;
    }
    all.zero_lanes()
}

#[inline(always)]
pub(crate) fn blend(a: &Fp, mask: u8, b: &Fp) -> Fp {
    each!([a[0]; LIMBS], i => a[i].blend(mask, b[i]))
}

/// The inverses of normalised values below 2^17·p by one inversion of blst, below 2p; nothing if a lane is 0 mod p.
pub(crate) fn invert(proof: Ifma, x: &Fp) -> Option<Fp> {
    // SAFETY: `proof` proves the features.
    unsafe { invert_lanes(proof, x) }
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx512ifma")]
fn invert_lanes(proof: Ifma, x: &Fp) -> Option<Fp> {
    let limbs = field::unpack(&mul(x, &splat(proof, &TO_BLST)));
    let values = limbs.map(|limbs| blst_fp(&limbs));
    let zero = blst::blst_fp::default();
    if values.contains(&zero) {
        return None;
    }
    let mut products = values;
    for k in 1..LANES {
        products[k] = blst_mul(&products[k - 1], &values[k]);
    }
    let mut inverse = blst::blst_fp::default();
    // SAFETY: both point to live elements.
    unsafe { blst::blst_fp_inverse(&mut inverse, &products[LANES - 1]) };
    let mut out = [[0; LIMBS]; LANES];
    for k in (1..LANES).rev() {
        out[k] = field::to_limbs(&blst_mul(&inverse, &products[k - 1]).l);
        inverse = blst_mul(&inverse, &values[k]);
    }
    out[0] = field::to_limbs(&inverse.l);
    Some(mul(&field::pack(proof, &out), &splat(proof, &FROM_BLST)))
}

fn blst_mul(a: &blst::blst_fp, b: &blst::blst_fp) -> blst::blst_fp {
    let mut out = blst::blst_fp::default();
    // SAFETY: all point to live elements.
    unsafe { blst::blst_fp_mul(&mut out, a, b) };
    out
}

/// Normalised limbs of a value below 2p as canonical words.
pub(crate) fn canonical_words(limbs: &[u64; LIMBS]) -> [u64; WORDS] {
    words::reduced(&field::to_words(limbs), &words::PRIME)
}

/// Limbs that are already in blst's form, below 2p.
fn blst_fp(limbs: &[u64; LIMBS]) -> blst::blst_fp {
    blst::blst_fp { l: canonical_words(limbs) }
}

/// A scalar element of blst in our form, canonical: a·2^384 ↦ a·2^416.
pub(crate) fn from_blst(x: &blst::blst_fp) -> [u64; WORDS] {
    // blst's product divides by 2^384, so the factor is 2^416 as a plain number.
    blst_mul(x, &blst::blst_fp { l: const { field::to_words(&ONE) } }).l
}

/// The inverse of [`from_blst`], from normalised limbs below 2p: a·2^416 ↦ a·2^384.
pub(crate) fn to_blst(limbs: &[u64; LIMBS]) -> blst::blst_fp {
    // 2^352 mod p as a plain number.
    const FACTOR: blst::blst_fp = blst::blst_fp { l: [0, 0, 0, 0, 0, 1 << 32] };
    blst_mul(&blst_fp(limbs), &FACTOR)
}

/// Eight elements from their words.
#[inline(always)]
pub(crate) fn load_words(proof: Ifma, words: [&[u64; WORDS]; LANES]) -> Fp {
    let w = transpose(each!([proof.splat(0); LANES], lane => proof.load_six(words[lane])));
    let mask = proof.splat(LIMB_MASK);
    [
        w[0] & mask,
        (w[0].shr::<52>() | w[1].shl::<12>()) & mask,
        (w[1].shr::<40>() | w[2].shl::<24>()) & mask,
        (w[2].shr::<28>() | w[3].shl::<36>()) & mask,
        (w[3].shr::<16>() | w[4].shl::<48>()) & mask,
        w[4].shr::<4>() & mask,
        (w[4].shr::<56>() | w[5].shl::<8>()) & mask,
        w[5].shr::<44>(),
    ]
}

/// The inverse of [`load_words`], of normalised limbs.
#[inline(always)]
pub(crate) fn store_words(x: &Fp, words: &mut [[u64; WORDS]; LANES]) {
    let none = x[0].splat(0);
    let rows = transpose([
        x[0] | x[1].shl::<52>(),
        x[1].shr::<12>() | x[2].shl::<40>(),
        x[2].shr::<24>() | x[3].shl::<28>(),
        x[3].shr::<36>() | x[4].shl::<16>(),
        x[4].shr::<48>() | x[5].shl::<4>() | x[6].shl::<56>(),
        x[6].shr::<8>() | x[7].shl::<44>(),
        none,
        none,
    ]);
    for (row, words) in rows.iter().zip(words) {
        row.store_six(words);
    }
}

/// Normalised values minus p; the top limb is negative where they are below.
#[inline(always)]
fn minus_prime(x: &Fp) -> Fp {
    let mut out = each!([x[0]; LIMBS], i => x[i] - x[i].splat(P::PRIME[i]));
    normalise(&mut out);
    out
}

/// Lanes below p, of normalised values.
#[inline(always)]
pub(crate) fn canonical_lanes(x: &Fp) -> u8 {
    minus_prime(x)[LIMBS - 1].negative_lanes()
}

/// Normalised values below 2p, brought below p.
#[inline(always)]
pub(crate) fn canonical(x: &Fp) -> Fp {
    let less = minus_prime(x);
    blend(&less, less[LIMBS - 1].negative_lanes(), x)
}

/// What a product with takes blst's form to ours.
#[inline(always)]
pub(crate) fn from_blst_factor(proof: Ifma) -> Fp {
    splat(proof, &FROM_BLST)
}

/// Eight elements from rows of limbs.
#[inline(always)]
pub(crate) fn load_rows(proof: Ifma, rows: [&Row; LANES]) -> Fp {
    transpose(each!([proof.splat(0); LANES], lane => proof.load(rows[lane])))
}

/// The rows of eight elements, one vector each.
#[inline(always)]
pub(crate) fn to_rows(x: &Fp) -> [V; LANES] {
    transpose(*x)
}
