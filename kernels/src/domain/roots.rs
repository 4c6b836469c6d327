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

/// Products over the bits of an index: entry b is the product of a factor per set bit of b, taken from a table for the low
/// bits and one for the high bits.
#[derive(Debug, Clone)]
pub(crate) struct Products {
    low: Vec<Scalar>,
    high: Vec<Scalar>,
}

/// Block twiddles: see [`Products::twiddles`].
pub(crate) type Twiddles = Products;

/// 2^12 entries of 32 bytes stay in a second-level cache beside the data.
pub(super) const LOW_LOG: u32 = 12;

impl Products {
    /// The block twiddles of a root ω of order 2^`log_size`: block b of any layer has ω^e(b), where bit i of b adds
    /// 2^log_size / 2^(i+2) to the exponent.
    pub(crate) fn twiddles(root: Scalar, log_size: u32) -> Self {
        Self::halving(root, log_size.saturating_sub(1), Scalar::ONE)
    }

    /// `first · base^j` at the position rev(j) of an array of 2^`log_size`: bit i of the position adds 2^log_size / 2^(i+1)
    /// to j.
    pub(crate) fn powers(base: Scalar, log_size: u32, first: Scalar) -> Self {
        Self::halving(base, log_size, first)
    }

    /// The last of `count` bits has the factor `last`, each before it the square of the next.
    fn halving(last: Scalar, count: u32, first: Scalar) -> Self {
        let mut factor = vec![last; count as usize];
        for i in (0..factor.len().saturating_sub(1)).rev() {
            factor[i] = factor[i + 1].square();
        }
        let low_log = count.min(LOW_LOG) as usize;
        Self { low: products(&factor[..low_log], Scalar::ONE), high: products(&factor[low_log..], first) }
    }

    /// Entry b.
    pub(crate) fn get(&self, b: usize) -> Scalar {
        let low = self.low[b & (self.low.len() - 1)];
        let high = b >> LOW_LOG;
        if high == 0 && self.high[0] == Scalar::ONE { low } else { low * self.high[high] }
    }

    /// Entries of the low bits, and the factor of the high bits that an aligned run of as many entries has in common.
    pub(super) fn run(&self, at: usize) -> (&[Scalar], Scalar) {
        (&self.low, self.high[at >> LOW_LOG])
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.low.as_slice()) + size_of_val(self.high.as_slice())
    }
}

/// `out[b]` = `first` · product of `factor[i]` over the set bits i of `b`.
fn products(factor: &[Scalar], first: Scalar) -> Vec<Scalar> {
    let mut out = vec![first];
    for f in factor {
        for at in 0..out.len() {
            out.push(out[at] * f);
        }
    }
    out
}
