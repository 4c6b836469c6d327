//! The coordinate fields over blst: its products and inversions, sums and differences in place.

use crate::words::{self, PRIME};

/// The coordinate field of a curve, over blst.
pub trait Field: Copy + Default + PartialEq + Send + Sync + std::fmt::Debug + 'static {
    /// Elements of Fp that it consists of.
    const COMPONENTS: usize;
    /// These elements, the real part first.
    fn components(&self) -> &[blst::blst_fp];
    /// The element of the next components.
    fn from_components(next: &mut impl FnMut() -> blst::blst_fp) -> Self;
    /// out ← a·b. Results go to where they are wanted: what blst stores word by word, a copy would load in pairs of words,
    /// which has to wait until the stores have reached the cache.
    fn mul_to(&self, b: &Self, out: &mut Self);
    /// a ← a·b.
    fn mul_assign(&mut self, b: &Self);
    /// out ← a².
    fn square_to(&self, out: &mut Self);
    /// a + b.
    fn add(&self, b: &Self) -> Self;
    /// a − b.
    fn sub(&self, b: &Self) -> Self;
    /// −a if that is asked for, without a branch.
    fn negated_if(&self, negative: bool) -> Self;
    /// The inverse, and zero for zero.
    fn invert(&self) -> Self;
    /// The number 1.
    fn one() -> Self;
    /// Whether this is zero.
    fn is_zero(&self) -> bool;
}

/// 2^384 mod p, the number 1 of blst.
const ONE: blst::blst_fp = blst::blst_fp {
    l: [
        0x7609_0000_0002_fffd,
        0xebf4_000b_c40c_0002,
        0x5f48_9857_53c7_58ba,
        0x77ce_5853_7052_5745,
        0x5c07_1a97_a256_ec6d,
        0x15f6_5ec3_fa80_e493,
    ],
};

impl Field for blst::blst_fp {
    const COMPONENTS: usize = 1;

    fn components(&self) -> &[blst::blst_fp] {
        std::slice::from_ref(self)
    }

    fn from_components(next: &mut impl FnMut() -> blst::blst_fp) -> Self {
        next()
    }

    #[inline(always)]
    fn mul_to(&self, b: &Self, out: &mut Self) {
        // SAFETY: all point to live elements.
        unsafe { blst::blst_fp_mul(out, self, b) };
    }

    #[inline(always)]
    fn mul_assign(&mut self, b: &Self) {
        // SAFETY: all point to live elements; the result may take the place of an operand.
        unsafe { blst::blst_fp_mul(self, self, b) };
    }

    #[inline(always)]
    fn square_to(&self, out: &mut Self) {
        // SAFETY: both point to live elements.
        unsafe { blst::blst_fp_sqr(out, self) };
    }

    #[inline(always)]
    fn add(&self, b: &Self) -> Self {
        Self { l: words::add(&self.l, &b.l, &PRIME) }
    }

    #[inline(always)]
    fn sub(&self, b: &Self) -> Self {
        Self { l: words::sub(&self.l, &b.l, &PRIME) }
    }

    #[inline(always)]
    fn negated_if(&self, negative: bool) -> Self {
        Self { l: words::choose(negative, &words::sub(&[0; 6], &self.l, &PRIME), &self.l) }
    }

    fn invert(&self) -> Self {
        let mut out = Self::default();
        // SAFETY: both point to live elements.
        unsafe { blst::blst_fp_inverse(&mut out, self) };
        out
    }

    fn one() -> Self {
        ONE
    }

    #[inline(always)]
    fn is_zero(&self) -> bool {
        self.l.iter().fold(0, |all, word| all | word) == 0
    }
}

impl Field for blst::blst_fp2 {
    const COMPONENTS: usize = 2;

    fn components(&self) -> &[blst::blst_fp] {
        &self.fp
    }

    fn from_components(next: &mut impl FnMut() -> blst::blst_fp) -> Self {
        Self { fp: [next(), next()] }
    }

    #[inline(always)]
    fn mul_to(&self, b: &Self, out: &mut Self) {
        // SAFETY: all point to live elements.
        unsafe { blst::blst_fp2_mul(out, self, b) };
    }

    #[inline(always)]
    fn mul_assign(&mut self, b: &Self) {
        // SAFETY: all point to live elements; the result may take the place of an operand.
        unsafe { blst::blst_fp2_mul(self, self, b) };
    }

    #[inline(always)]
    fn square_to(&self, out: &mut Self) {
        // SAFETY: both point to live elements.
        unsafe { blst::blst_fp2_sqr(out, self) };
    }

    #[inline(always)]
    fn add(&self, b: &Self) -> Self {
        Self { fp: [self.fp[0].add(&b.fp[0]), self.fp[1].add(&b.fp[1])] }
    }

    #[inline(always)]
    fn sub(&self, b: &Self) -> Self {
        Self { fp: [self.fp[0].sub(&b.fp[0]), self.fp[1].sub(&b.fp[1])] }
    }

    #[inline(always)]
    fn negated_if(&self, negative: bool) -> Self {
        Self { fp: [self.fp[0].negated_if(negative), self.fp[1].negated_if(negative)] }
    }

    fn invert(&self) -> Self {
        let mut out = Self::default();
        // SAFETY: both point to live elements.
        unsafe { blst::blst_fp2_inverse(&mut out, self) };
        out
    }

    fn one() -> Self {
        Self { fp: [ONE, blst::blst_fp::default()] }
    }

    #[inline(always)]
    fn is_zero(&self) -> bool {
        self.fp[0].is_zero() & self.fp[1].is_zero()
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngCore, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn check(a: &blst::blst_fp, b: &blst::blst_fp) {
        let (mut sum, mut difference) = Default::default();
        // SAFETY: all point to live elements.
        unsafe {
            blst::blst_fp_add(&mut sum, a, b);
            blst::blst_fp_sub(&mut difference, a, b);
        }
        assert_eq!((a.add(b), a.sub(b)), (sum, difference), "{a:?} and {b:?}");
        assert_eq!((a.negated_if(false), a.negated_if(true)), (*a, blst::blst_fp::default().sub(a)));
    }

    #[test]
    fn sums_and_differences_are_those_of_blst() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut last = blst::blst_fp { l: PRIME };
        last.l[0] -= 1;
        let mut elements = vec![blst::blst_fp::default(), blst::blst_fp { l: [1, 0, 0, 0, 0, 0] }, ONE, last];
        elements.extend((0..60).map(|_| {
            let mut bytes = [0; 48];
            rng.fill_bytes(&mut bytes);
            let mut element = blst::blst_fp::default();
            // SAFETY: 48 bytes are read; blst makes any number of them canonical.
            unsafe { blst::blst_fp_from_lendian(&mut element, bytes.as_ptr()) };
            element
        }));
        for a in &elements {
            for b in &elements {
                check(a, b);
                let pair = [blst::blst_fp2 { fp: [*a, *b] }, blst::blst_fp2 { fp: [*b, *a] }];
                assert_eq!(pair[0].add(&pair[1]).fp, [a.add(b), b.add(a)]);
                assert_eq!(pair[0].sub(&pair[1]).fp, [a.sub(b), b.sub(a)]);
                assert_eq!(pair[0].is_zero(), a.is_zero() && b.is_zero());
            }
        }
    }
}
