//! Sums of scalars with one reduction at the end.

use crate::scalars::ORDER;
use crate::{Scalar, words};

/// A sum of scalars in Montgomery form and a sum to take away from it, five limbs each: room for 2^64 summands.
#[derive(Clone, Copy, Default)]
pub(super) struct Sum {
    plus: [u64; 5],
    minus: [u64; 5],
}

impl Sum {
    #[inline(always)]
    pub(super) fn add(&mut self, x: &Scalar) {
        accumulate(&mut self.plus, x);
    }

    #[inline(always)]
    pub(super) fn subtract(&mut self, x: &Scalar) {
        accumulate(&mut self.minus, x);
    }

    /// The value of the sum.
    #[inline(always)]
    pub(super) fn reduced(self) -> Scalar {
        let plus = reduce(self.plus);
        if self.minus == [0; 5] { plus } else { plus - reduce(self.minus) }
    }
}

#[inline(always)]
fn accumulate(sum: &mut [u64; 5], x: &Scalar) {
    let [a, b, c, d] = blst::blst_fr::from(*x).l;
    // Nothing is carried out of the fifth limb, which counts summands at most.
    *sum = words::plus(sum, &[a, b, c, d, 0]).0;
}

/// x mod r, for Montgomery words.
#[inline(always)]
fn reduce(mut x: [u64; 5]) -> Scalar {
    // Rows are short: mostly nothing or one r is to be taken away. Long sums first lose 2^256 − (2^256 mod r) per unit of
    // the fifth limb.
    while x[4] != 0 {
        // The words of 1 are 2^256 mod r, so that those of k are k·2^256 mod r.
        let fold = Scalar::from(x[4]);
        x[4] = 0;
        accumulate(&mut x, &fold);
    }
    let [mut rest @ .., _] = x;
    loop {
        match words::minus(&rest, &ORDER) {
            (_, true) => return Scalar::from(blst::blst_fr { l: rest }),
            (less, false) => rest = less,
        }
    }
}

#[cfg(test)]
mod tests {
    use ff::Field;

    use super::*;

    #[test]
    fn sums_of_any_length() {
        for count in [0u64, 1, 2, 3, 4, 5, 9, 10, 1000, 70_000] {
            for value in [Scalar::ZERO, Scalar::ONE, -Scalar::ONE, -Scalar::from(7)] {
                let mut sum = Sum::default();
                (0..count).for_each(|_| sum.add(&value));
                assert_eq!(sum.reduced(), value * Scalar::from(count), "{count} times {value:?}");
                (0..2 * count).for_each(|_| sum.subtract(&value));
                assert_eq!(sum.reduced(), -value * Scalar::from(count), "{count} times {value:?} away");
            }
        }
    }
}
