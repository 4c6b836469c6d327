//! One vector of eight 64-bit lanes.

use std::arch::x86_64::*;
use std::ops::{Add, BitAnd, BitOr, Sub};

use super::Ifma;

/// An array of `N` entries by a loop: `each!([initial; N], i => entry)`.
///
/// `array::from_fn` and `map` would do, but their closures are functions without target features, into which the compiler
/// inlines no vector instruction; a loop stays in the function around it.
macro_rules! each {
    ([$initial:expr; $n:expr], $i:ident => $entry:expr) => {{
        let mut out = [$initial; $n];
        for $i in 0..$n {
            out[$i] = $entry;
        }
        out
    }};
}
pub(crate) use each;

/// Bits of a limb.
pub(crate) const LIMB_BITS: u32 = 52;
/// The largest normalised limb.
pub(crate) const LIMB_MASK: u64 = (1 << LIMB_BITS) - 1;
/// Lanes of a vector.
pub(crate) const LANES: usize = 8;

/// Eight 64-bit lanes. Having one proves that the CPU has the instructions of [`Ifma`].
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct V(__m512i);

/// Eight 64-bit words as memory, aligned for whole-vector access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct Row(pub(crate) [u64; LANES]);

impl Ifma {
    /// A bare vector.
    #[inline(always)]
    pub(crate) fn wrap(self, x: __m512i) -> V {
        V(x)
    }

    /// The same word in every lane.
    #[inline(always)]
    pub(crate) fn splat(self, x: u64) -> V {
        // SAFETY: `self` proves the features.
        V(unsafe { _mm512_set1_epi64(x as i64) })
    }

    /// A row of memory.
    #[inline(always)]
    pub(crate) fn load(self, row: &Row) -> V {
        // SAFETY: `self` proves the features; a row is 64 aligned bytes.
        V(unsafe { _mm512_load_si512(row.0.as_ptr().cast()) })
    }

    /// Eight words from memory of any alignment.
    #[inline(always)]
    pub(crate) fn load_words(self, words: &[u64; LANES]) -> V {
        // SAFETY: `self` proves the features; the array has 64 bytes.
        V(unsafe { _mm512_loadu_si512(words.as_ptr().cast()) })
    }

    /// Whether all eight numbers are below the limit.
    #[inline(always)]
    pub(crate) fn all_below(self, numbers: &[u32; LANES], limit: u32) -> bool {
        // SAFETY: `self` proves the features; the array has 32 bytes.
        unsafe {
            let numbers = _mm256_loadu_si256(numbers.as_ptr().cast());
            _mm256_cmp_epu32_mask::<_MM_CMPINT_NLT>(numbers, _mm256_set1_epi32(limit as i32)) == 0
        }
    }

    /// Six words and two zeros.
    #[inline(always)]
    pub(crate) fn load_six(self, words: &[u64; 6]) -> V {
        // SAFETY: `self` proves the features; the mask reads the array's six words only.
        V(unsafe { _mm512_maskz_loadu_epi64(0x3f, words.as_ptr().cast()) })
    }
}

impl V {
    /// The same word in every lane.
    #[inline(always)]
    pub(crate) fn splat(self, x: u64) -> Self {
        // SAFETY: `self` proves the features.
        Self(unsafe { _mm512_set1_epi64(x as i64) })
    }

    /// A row of memory.
    #[inline(always)]
    pub(crate) fn load(self, row: &Row) -> Self {
        // SAFETY: `self` proves the features; a row is 64 aligned bytes.
        Self(unsafe { _mm512_load_si512(row.0.as_ptr().cast()) })
    }

    /// To a row of memory.
    #[inline(always)]
    pub(crate) fn store(self, row: &mut Row) {
        // SAFETY: `self` proves the features; a row is 64 aligned bytes.
        unsafe { _mm512_store_si512(row.0.as_mut_ptr().cast(), self.0) }
    }

    /// To eight words of any alignment.
    #[inline(always)]
    pub(crate) fn store_words(self, words: &mut [u64; LANES]) {
        // SAFETY: `self` proves the features; the array has 64 bytes.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), self.0) }
    }

    /// The first six lanes.
    #[inline(always)]
    pub(crate) fn store_six(self, words: &mut [u64; 6]) {
        // SAFETY: `self` proves the features; the mask writes the array's six words only.
        unsafe { _mm512_mask_storeu_epi64(words.as_mut_ptr().cast(), 0x3f, self.0) }
    }

    /// The lanes as words.
    #[inline(always)]
    pub(crate) fn lanes(self) -> [u64; LANES] {
        let mut out = [0; LANES];
        self.store_words(&mut out);
        out
    }

    /// `self` + the low 52 bits of the 104-bit product of the low 52 bits of `a` and `b`.
    #[inline(always)]
    pub(crate) fn add_low(self, a: Self, b: Self) -> Self {
        // SAFETY: `self` proves the features.
        Self(unsafe { _mm512_madd52lo_epu64(self.0, a.0, b.0) })
    }

    /// `self` + the high 52 bits of the 104-bit product of the low 52 bits of `a` and `b`.
    #[inline(always)]
    pub(crate) fn add_high(self, a: Self, b: Self) -> Self {
        // SAFETY: `self` proves the features.
        Self(unsafe { _mm512_madd52hi_epu64(self.0, a.0, b.0) })
    }

    /// Logical shift right.
    #[inline(always)]
    pub(crate) fn shr<const BITS: u32>(self) -> Self {
        // SAFETY: `self` proves the features.
        Self(unsafe { _mm512_srli_epi64::<BITS>(self.0) })
    }

    /// Arithmetic shift right.
    #[inline(always)]
    pub(crate) fn sar<const BITS: u32>(self) -> Self {
        // SAFETY: `self` proves the features.
        Self(unsafe { _mm512_srai_epi64::<BITS>(self.0) })
    }

    /// Shift left.
    #[inline(always)]
    pub(crate) fn shl<const BITS: u32>(self) -> Self {
        // SAFETY: `self` proves the features.
        Self(unsafe { _mm512_slli_epi64::<BITS>(self.0) })
    }

    /// Lane i becomes `table[self[i] mod 8]`.
    #[inline(always)]
    pub(crate) fn look_up(self, table: &Row) -> Self {
        let table = self.load(table);
        // SAFETY: `self` proves the features.
        Self(unsafe { _mm512_permutexvar_epi64(self.0, table.0) })
    }

    /// `other` where the mask has a one, else `self`.
    #[inline(always)]
    pub(crate) fn blend(self, mask: u8, other: Self) -> Self {
        // SAFETY: `self` proves the features.
        Self(unsafe { _mm512_mask_mov_epi64(self.0, mask, other.0) })
    }

    /// The larger of two signed numbers.
    #[inline(always)]
    pub(crate) fn max(self, other: Self) -> Self {
        // SAFETY: `self` proves the features.
        Self(unsafe { _mm512_max_epi64(self.0, other.0) })
    }

    /// Lanes that are all zeros.
    #[inline(always)]
    pub(crate) fn zero_lanes(self) -> u8 {
        // SAFETY: `self` proves the features.
        unsafe { _mm512_testn_epi64_mask(self.0, self.0) }
    }

    /// Lanes that are negative as signed numbers.
    #[inline(always)]
    pub(crate) fn negative_lanes(self) -> u8 {
        // SAFETY: `self` proves the features.
        unsafe { _mm512_movepi64_mask(self.0) }
    }

    /// The bare vector.
    #[inline(always)]
    pub(crate) fn raw(self) -> __m512i {
        self.0
    }

    /// Lanes that are equal.
    #[inline(always)]
    pub(crate) fn equal_lanes(self, other: Self) -> u8 {
        // SAFETY: `self` proves the features.
        unsafe { _mm512_cmpeq_epi64_mask(self.0, other.0) }
    }
}

impl Add for V {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: `self` proves the features.
        Self(unsafe { _mm512_add_epi64(self.0, other.0) })
    }
}

impl Sub for V {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: `self` proves the features.
        Self(unsafe { _mm512_sub_epi64(self.0, other.0) })
    }
}

impl BitAnd for V {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        // SAFETY: `self` proves the features.
        Self(unsafe { _mm512_and_si512(self.0, other.0) })
    }
}

impl BitOr for V {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        // SAFETY: `self` proves the features.
        Self(unsafe { _mm512_or_si512(self.0, other.0) })
    }
}

/// Transposes eight rows of eight words: word j of row i becomes word i of row j.
#[inline(always)]
pub(crate) fn transpose(r: [V; 8]) -> [V; 8] {
    // SAFETY: vectors prove the features; only registers are touched.
    unsafe {
        let even = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
        let odd = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
        // quads[half][k]: rows 4·half to 4·half + 3 of words k and k + 4.
        let mut quads = [[r[0].0; 4]; 2];
        for (half, quad) in quads.iter_mut().enumerate() {
            let at = 4 * half;
            let low_a = _mm512_unpacklo_epi64(r[at].0, r[at + 1].0);
            let high_a = _mm512_unpackhi_epi64(r[at].0, r[at + 1].0);
            let low_b = _mm512_unpacklo_epi64(r[at + 2].0, r[at + 3].0);
            let high_b = _mm512_unpackhi_epi64(r[at + 2].0, r[at + 3].0);
            *quad = [
                _mm512_permutex2var_epi64(low_a, even, low_b),
                _mm512_permutex2var_epi64(high_a, even, high_b),
                _mm512_permutex2var_epi64(low_a, odd, low_b),
                _mm512_permutex2var_epi64(high_a, odd, high_b),
            ];
        }
        let mut out = r;
        for k in 0..4 {
            out[k] = V(_mm512_shuffle_i64x2::<0x44>(quads[0][k], quads[1][k]));
            out[k + 4] = V(_mm512_shuffle_i64x2::<0xee>(quads[0][k], quads[1][k]));
        }
        out
    }
}
