//! Montgomery arithmetic on N limbs of 52 bits, R = 2^(52·N), generic over the modulus.

use super::Ifma;
use super::vector::{LANES, LIMB_BITS, LIMB_MASK, V, each};

/// Eight field elements, limb by limb.
pub(crate) type Limbs<const N: usize> = [V; N];

/// A prime modulus.
pub(crate) trait Modulus<const N: usize> {
    /// The prime, normalised.
    const PRIME: [u64; N];
    /// −1/p mod 2^52.
    const NEGATED_INVERSE: u64;
    /// Whether −1/p ≡ −(1 + 2^32) mod 2^52, so that a shift and an addition replace a product.
    const SHORT_INVERSE: bool;
}

/// `k`·p, normalised; the top limb keeps what is above.
pub(crate) const fn multiple<const N: usize>(prime: [u64; N], k: u64) -> [u64; N] {
    let mut out = [0; N];
    let mut carry = 0;
    let mut i = 0;
    while i < N {
        let limb = prime[i] * k + carry;
        if i + 1 < N {
            out[i] = limb & LIMB_MASK;
            carry = limb >> LIMB_BITS;
        } else {
            out[i] = limb;
        }
        i += 1;
    }
    out
}

#[inline(always)]
pub(crate) fn splat<const N: usize>(proof: Ifma, limbs: &[u64; N]) -> Limbs<N> {
    each!([proof.splat(0); N], i => proof.splat(limbs[i]))
}

/// Normalises limbs that may exceed 52 bits or be negative; the value must not be negative, and the top limb keeps what
/// is above.
#[inline(always)]
pub(crate) fn normalise<const N: usize>(t: &mut Limbs<N>) {
    let mask = t[0].splat(LIMB_MASK);
    for i in 0..N - 1 {
        t[i + 1] = t[i + 1] + t[i].sar::<LIMB_BITS>();
        t[i] = t[i] & mask;
    }
}

/// The factor q with t + q·p ≡ 0 mod 2^52; only its low 52 bits count.
#[inline(always)]
fn reduction_factor<const N: usize, M: Modulus<N>>(t: V) -> V {
    if M::SHORT_INVERSE { t.splat(0) - (t + t.shl::<32>()) } else { t.splat(0).add_low(t, t.splat(M::NEGATED_INVERSE)) }
}

/// a·b/R mod p: below p + a·b/R, with limbs that are not normalised (non-negative, below 2^58).
///
/// `a` and `b` must be normalised. Ranges: each of the N steps adds at most 4 summands below 2^52 to a limb of either
/// row, and shifts it down, so a limb has at most 4·N + 1 of them: below 2^58 for N ≤ 8. The low limb of q·p cancels
/// that of t: its carry is (t₀ + 2^52 − 1) >> 52, which spares one instruction a step.
#[inline(always)]
pub(crate) fn mul_raw<const N: usize, M: Modulus<N>>(a: &Limbs<N>, b: &Limbs<N>) -> Limbs<N> {
    let zero = a[0].splat(0);
    let mask = a[0].splat(LIMB_MASK);
    let prime = each!([zero; N], i => a[0].splat(M::PRIME[i]));
    // Two rows of accumulators, for a·b and for q·p: two short dependency chains instead of a long one.
    let mut t = [zero; N];
    let mut u = [zero; N];
    for &factor in b {
        t[0] = (t[0] + u[0]).add_low(a[0], factor);
        let q = reduction_factor::<N, M>(t[0]);
        let carry = (t[0] + mask).shr::<LIMB_BITS>();
        for j in 1..N {
            t[j] = t[j].add_low(a[j], factor);
        }
        u[1] = u[1] + carry;
        for j in 0..N - 1 {
            t[j] = t[j + 1].add_high(a[j], factor);
        }
        t[N - 1] = zero.add_high(a[N - 1], factor);
        for j in 1..N {
            u[j] = u[j].add_low(q, prime[j]);
        }
        for j in 0..N - 1 {
            u[j] = u[j + 1].add_high(q, prime[j]);
        }
        u[N - 1] = zero.add_high(q, prime[N - 1]);
    }
    each!([zero; N], i => t[i] + u[i])
}

/// a·b/R mod p, normalised: below p + a·b/R. See [`mul_raw`].
#[inline(always)]
pub(crate) fn mul<const N: usize, M: Modulus<N>>(a: &Limbs<N>, b: &Limbs<N>) -> Limbs<N> {
    let mut out = mul_raw::<N, M>(a, b);
    normalise(&mut out);
    out
}

/// The columns of a·b: Σ columns[k]·2^(52k), each below 2^57 for N ≤ 8. `a` and `b` must be normalised.
#[inline(always)]
pub(crate) fn columns<const N: usize>(a: &Limbs<N>, b: &Limbs<N>) -> [V; 16] {
    let mut t = [a[0].splat(0); 16];
    for i in 0..N {
        for j in 0..N {
            t[i + j] = t[i + j].add_low(a[j], b[i]);
            t[i + j + 1] = t[i + j + 1].add_high(a[j], b[i]);
        }
    }
    t
}

/// The columns of a². Doubles the mixed columns, never the operand, which must be normalised.
#[inline(always)]
pub(crate) fn square_columns<const N: usize>(a: &Limbs<N>) -> [V; 16] {
    let mut t = [a[0].splat(0); 16];
    for i in 0..N {
        for j in i + 1..N {
            t[i + j] = t[i + j].add_low(a[i], a[j]);
            t[i + j + 1] = t[i + j + 1].add_high(a[i], a[j]);
        }
    }
    for column in &mut t[1..2 * N] {
        *column = *column + *column;
    }
    for i in 0..N {
        t[2 * i] = t[2 * i].add_low(a[i], a[i]);
        t[2 * i + 1] = t[2 * i + 1].add_high(a[i], a[i]);
    }
    t
}

/// (columns)/R mod p. The columns may be negative. Gives a value in (v/R, v/R + p), v the columns' value, with limbs
/// that are not normalised and are negative if columns were.
#[inline(always)]
pub(crate) fn reduce_raw<const N: usize, M: Modulus<N>>(mut t: [V; 16]) -> Limbs<N> {
    let mask = t[0].splat(LIMB_MASK);
    for i in 0..N {
        let q = reduction_factor::<N, M>(t[i]);
        let carry = (t[i] + mask).sar::<LIMB_BITS>();
        t[i + 1] = t[i + 1] + carry;
        for j in 1..N {
            t[i + j] = t[i + j].add_low(q, t[0].splat(M::PRIME[j]));
        }
        for j in 0..N {
            t[i + j + 1] = t[i + j + 1].add_high(q, t[0].splat(M::PRIME[j]));
        }
    }
    each!([t[0]; N], i => t[N + i])
}

/// Lane by lane, limbs as numbers.
#[inline(always)]
pub(crate) fn unpack<const N: usize>(x: &Limbs<N>) -> [[u64; N]; LANES] {
    let rows = each!([[0; LANES]; N], i => x[i].lanes());
    each!([[0; N]; LANES], lane => each!([0; N], i => rows[i][lane]))
}

/// The inverse of [`unpack`].
#[inline(always)]
pub(crate) fn pack<const N: usize>(proof: Ifma, x: &[[u64; N]; LANES]) -> Limbs<N> {
    each!([proof.splat(0); N], i => proof.load_words(&each!([0; LANES], lane => x[lane][i])))
}

/// Words of 64 bits to limbs of 52; the top limb keeps what is above.
pub(crate) const fn to_limbs<const W: usize, const N: usize>(words: &[u64; W]) -> [u64; N] {
    let mut out = [0; N];
    let mut i = 0;
    while i < N {
        let bit = LIMB_BITS as usize * i;
        let (word, shift) = (bit / 64, bit % 64);
        let mut limb = if word < W { words[word] >> shift } else { 0 };
        if shift > 0 && word + 1 < W {
            limb |= words[word + 1] << (64 - shift);
        }
        out[i] = if i + 1 < N { limb & LIMB_MASK } else { limb };
        i += 1;
    }
    out
}

/// Normalised limbs to words; what does not fit is lost.
pub(crate) const fn to_words<const N: usize, const W: usize>(limbs: &[u64; N]) -> [u64; W] {
    let mut out = [0; W];
    let mut i = 0;
    while i < N {
        let bit = LIMB_BITS as usize * i;
        let (word, shift) = (bit / 64, bit % 64);
        if word < W {
            out[word] |= limbs[i] << shift;
        }
        if shift > 0 && word + 1 < W {
            out[word + 1] |= limbs[i] >> (64 - shift);
        }
        i += 1;
    }
    out
}
