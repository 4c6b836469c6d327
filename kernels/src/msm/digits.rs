//! Signed digits of scalars.
//!
//! With windows of `c` bits every digit is brought into −2^(c−1) … 2^(c−1) − 1 by adding, before the cut, the constant
//! whose digits are all 2^(c−1), and subtracting 2^(c−1) from each digit afterwards. Half the buckets, no carries from
//! digit to digit, and every window can be cut alone.

use crate::words;

/// How scalars of a given number of bits are cut into windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Windows<const LIMBS: usize> {
    bits: u32,
    width: u32,
    bias: [u64; LIMBS],
}

impl<const LIMBS: usize> Windows<LIMBS> {
    /// Windows of `width` bits for scalars below 2^`bits`; 2 ≤ width ≤ 24, and a bit must be left above for carries.
    ///
    /// The topmost window is not biased: its digit is positive, and takes the carry of the biased ones.
    pub(super) fn new(bits: u32, width: u32) -> Self {
        debug_assert!((2..=24).contains(&width) && (bits as usize) < 64 * LIMBS);
        let mut bias = [0; LIMBS];
        let count = bits.div_ceil(width).max(1);
        for window in 0..count - 1 {
            let bit = window * width + width - 1;
            bias[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        Self { bits, width, bias }
    }

    /// Number of windows.
    pub(super) fn count(&self) -> u32 {
        self.bits.div_ceil(self.width).max(1)
    }

    /// Bits of a window.
    pub(super) fn width(&self) -> u32 {
        self.width
    }

    /// Largest magnitude of a digit of `window`.
    pub(super) fn buckets(&self, window: u32) -> usize {
        if window + 1 == self.count() {
            // The remaining bits, and the carry of the biased windows below.
            1 << (self.bits - window * self.width)
        } else {
            1 << (self.width - 1)
        }
    }

    /// `scalar` with the bias added, ready for cutting. No carry is lost: both are below 2^`bits`.
    pub(super) fn biased(&self, scalar: &[u64; LIMBS]) -> [u64; LIMBS] {
        words::plus(scalar, &self.bias).0
    }

    /// How the digit of a window is cut out of biased scalars.
    pub(super) fn cut(&self, window: u32) -> Cut {
        let bit = window * self.width;
        let top = window + 1 == self.count();
        // The topmost digit has the bits that are left and a carry.
        let bits = if top { self.bits - bit + 1 } else { self.width };
        Cut {
            limb: (bit / 64) as usize,
            shift: bit % 64,
            mask: (1 << bits) - 1,
            bias: if top { 0 } else { 1 << (self.width - 1) },
        }
    }
}

/// How one window's digit is cut out of two neighbouring limbs of a biased scalar.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    limb: usize,
    shift: u32,
    mask: u64,
    bias: i32,
}

impl Cut {
    /// The lower of the two limbs.
    pub(super) fn limb(&self) -> usize {
        self.limb
    }

    /// The digit. If the lower limb is the last, `high` may be anything.
    #[inline(always)]
    pub(super) fn digit(&self, low: u64, high: u64) -> i32 {
        // Two shifts, since a shift by 64 is not defined. Bits of `high` beyond the mask fall away; a window that needs
        // none of them ends below bit 64, where the shifted `high` begins.
        let above = high << 1 << (63 - self.shift);
        ((low >> self.shift | above) & self.mask) as i32 - self.bias
    }
}

/// The number of significant bits of a little-endian number.
pub(super) fn bit_length<const LIMBS: usize>(x: &[u64; LIMBS]) -> u32 {
    (0..LIMBS).rev().find(|&i| x[i] != 0).map_or(0, |i| 64 * i as u32 + 64 - x[i].leading_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Σ digit · 2^(c·window), in 320-bit two's complement.
    fn recombine<const LIMBS: usize>(windows: &Windows<LIMBS>, scalar: &[u64; LIMBS]) -> [u64; 5] {
        let mut total = [0u64; 5];
        for window in 0..windows.count() {
            let digit = digit(windows, scalar, window);
            assert!(digit.unsigned_abs() as usize <= windows.buckets(window), "digit {digit} of window {window}");
            let bit = window * windows.width();
            let mut carry = 0u128;
            for (i, limb) in total.iter_mut().enumerate() {
                // Limb i of digit << bit, sign-extended.
                let position = 64 * i as i64 - i64::from(bit);
                let part = if position >= 64 {
                    (i64::from(digit) >> 63) as u64
                } else if position >= 0 {
                    (i128::from(digit) >> position) as u64
                } else if position > -64 {
                    (i64::from(digit) << -position) as u64
                } else {
                    0
                };
                carry += u128::from(*limb) + u128::from(part);
                *limb = carry as u64;
                carry >>= 64;
            }
        }
        total
    }

    fn digit<const LIMBS: usize>(windows: &Windows<LIMBS>, scalar: &[u64; LIMBS], window: u32) -> i32 {
        let biased = windows.biased(scalar);
        let cut = windows.cut(window);
        cut.digit(biased[cut.limb()], biased.get(cut.limb() + 1).copied().unwrap_or(u64::MAX))
    }

    #[test]
    fn digits_recombine_at_every_width() {
        let order_minus_one = {
            let mut x = crate::scalars::ORDER;
            x[0] -= 1;
            x
        };
        let full = [[0; 4], [1, 0, 0, 0], [u64::MAX, u64::MAX, u64::MAX, u64::MAX >> 1], order_minus_one, [1 << 63; 4]];
        for width in 2..=24 {
            let windows = Windows::<4>::new(255, width);
            for scalar in full.map(|mut x| {
                x[3] &= u64::MAX >> 1;
                x
            }) {
                assert_eq!(recombine(&windows, &scalar)[..4], scalar, "width {width}");
            }
            for bits in 1..=64 {
                let windows = Windows::<2>::new(bits, width);
                for scalar in [0, 1, u64::MAX >> (64 - bits), 1 << (bits - 1), 0x5555_5555_5555_5555 >> (64 - bits)] {
                    assert_eq!(recombine(&windows, &[scalar, 0])[0], scalar, "width {width}, {bits} bits");
                }
            }
        }
    }

    #[test]
    fn bit_lengths() {
        assert_eq!(bit_length(&[0u64; 4]), 0);
        assert_eq!(bit_length(&[1, 0, 0, 0]), 1);
        assert_eq!(bit_length(&[u64::MAX]), 64);
        assert_eq!(bit_length(&[0, 0, 0, 1 << 62]), 255);
    }
}
