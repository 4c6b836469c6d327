//! Roots of unity and twiddle tables.

use ff::{Field, PrimeField};

use super::Convention;
use crate::Scalar;

/// Smallest non-residue of the field, the base of snarkjs' roots of unity.
const NON_RESIDUE_OF_SNARKJS: u64 = 5;

/// The inverse of a value that is known not to be zero (a root of unity, a generator, a power of two).
pub(super) fn inverse(x: Scalar) -> Scalar {
    debug_assert!(!bool::from(x.is_zero()));
    x.invert().unwrap_or(Scalar::ZERO)
}

pub(super) fn one() -> Scalar {
    Scalar::ONE
}

/// The coset generator of bellman, bellperson and arkworks: 7.
pub(super) fn coset_generator() -> Scalar {
    Scalar::MULTIPLICATIVE_GENERATOR
}

/// The primitive `2^log_size`-th root of unity of a convention.
pub(super) fn root_of_unity(convention: Convention, log_size: u32) -> Scalar {
    let mut root = match convention {
        Convention::Coefficients => Scalar::ROOT_OF_UNITY,
        Convention::OddCoset => {
            // (r − 1) / 2^32, from −1 = r − 1.
            let minus_one = (-Scalar::ONE).to_repr();
            let mut odd_part = [0u64; 4];
            for (limb, bytes) in odd_part.iter_mut().zip(minus_one[4..].chunks(8)) {
                let mut word = [0; 8];
                word[..bytes.len()].copy_from_slice(bytes);
                *limb = u64::from_le_bytes(word);
            }
            Scalar::from(NON_RESIDUE_OF_SNARKJS).pow_vartime(odd_part)
        }
    };
    for _ in log_size..Scalar::S {
        root = root.square();
    }
    root
}

/// Block twiddles of a root ω of order 2^k: block `b` of any layer has the twiddle `ω^e(b)`, where bit i of `b` adds
/// `2^k / 2^(i+2)` to the exponent. Exponents add over bits, so a twiddle is the product of one from a table for the
/// low bits of `b` and one for the high bits. Only the last layers have blocks beyond the low table.
#[derive(Debug, Clone)]
pub(super) struct Twiddles {
    low: Vec<Scalar>,
    high: Vec<Scalar>,
}

/// 2^12 entries of 32 bytes stay in a second-level cache beside the data.
const LOW_LOG: u32 = 12;

impl Twiddles {
    pub(super) fn new(root: Scalar, log_size: u32) -> Self {
        let blocks_log = log_size.saturating_sub(1);
        // factor[i] = root^(2^log_size / 2^(i+2)), the contribution of bit i.
        let mut factor = vec![root; blocks_log as usize];
        for i in (0..factor.len().saturating_sub(1)).rev() {
            factor[i] = factor[i + 1].square();
        }
        let low_log = blocks_log.min(LOW_LOG) as usize;
        Self { low: products(&factor[..low_log]), high: products(&factor[low_log..]) }
    }

    /// The twiddle of block `b`.
    pub(super) fn get(&self, b: usize) -> Scalar {
        match self.low.get(b) {
            Some(twiddle) => *twiddle,
            None => self.low[b & (self.low.len() - 1)] * self.high[b >> LOW_LOG],
        }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.low.as_slice()) + size_of_val(self.high.as_slice())
    }
}

/// `out[b]` = product of `factor[i]` over the set bits i of `b`.
fn products(factor: &[Scalar]) -> Vec<Scalar> {
    let mut out = vec![Scalar::ONE];
    for f in factor {
        for at in 0..out.len() {
            out.push(out[at] * f);
        }
    }
    out
}
