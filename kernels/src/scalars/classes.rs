//! What class a scalar is of.

use super::{ONE, ORDER, canonical};
use crate::{Scalar, words};

/// What a scalar costs.
pub(super) enum Class {
    Zero,
    One,
    MinusOne,
    Small { magnitude: u64, negative: bool },
    Full([u64; 4]),
}

impl Class {
    #[inline]
    pub(super) fn of(scalar: &Scalar) -> Self {
        // Bits are most of many witnesses; their Montgomery forms tell them without a conversion.
        let montgomery = blst::blst_fr::from(*scalar).l;
        if montgomery == [0; 4] {
            return Self::Zero;
        }
        if montgomery == ONE {
            return Self::One;
        }
        let limbs = canonical(scalar);
        match limbs {
            [magnitude, 0, 0, 0] => Self::Small { magnitude, negative: false },
            _ => match words::minus(&ORDER, &limbs).0 {
                [1, 0, 0, 0] => Self::MinusOne,
                [magnitude, 0, 0, 0] => Self::Small { magnitude, negative: true },
                _ => Self::Full(limbs),
            },
        }
    }
}
