//! Radix-2 evaluation domains over the scalar field, their transforms, and the quotient of a Groth16 proof.
//!
//! Transforms use twiddles that depend on the block, not on the position inside it: a polynomial modulo
//! `x^m − c²` splits into its remainders modulo `x^(m/2) − c` and `x^(m/2) + c`. From coefficients in natural
//! order this ends at evaluations in bit-reversed order; the transposed network takes bit-reversed input to natural
//! order with the same twiddles. One table of `√size` order serves every layer, and chains of transforms such as the
//! quotient's need no reordering in between.

mod lagrange;
mod portable;
mod quotient;
pub(crate) mod reverse;
pub(crate) mod roots;
mod transform;

pub use lagrange::OddCosetBasis;

use reverse::reverse;
use transform::Transforms;

use crate::{Path, Scalar};

/// Which definition of the quotient, root of unity and coset a proving key was made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Convention {
    /// bellman, bellperson: the coefficients of (A·B − C)/Z over the domain of the root `7^((r−1)/2^k)`.
    Coefficients,
    /// snarkjs' `.zkey`: the values of A·B − C on the odd coset of the domain of the root `5^((r−1)/2^k)`.
    OddCoset,
}

/// Why a domain could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DomainError {
    /// More rows than the largest domain has points.
    #[error("{rows} rows need a domain above the limit of 2^{limit_log}: split the circuit")]
    TooLarge {
        /// The number of rows asked for.
        rows: usize,
        /// Base-two logarithm of the largest domain.
        limit_log: u32,
    },
}

/// The largest supported domain is `2^28`; the field itself would go to `2^32`.
pub const MAX_LOG_SIZE: u32 = 28;

/// A multiplicative subgroup of order `2^k`, with the tables for its transforms.
///
/// [`fft`](Self::fft) and friends use the root of unity `7^((r−1)/2^k)` and the coset generator 7, as bellman,
/// bellperson and arkworks do. Slices are in natural order.
#[derive(Debug, Clone)]
pub struct Domain {
    log_size: u32,
    path: Path,
    /// For the root of bellman.
    transforms: Transforms,
    /// What quotients need beside, from the first one on.
    quotients: quotient::Tables,
}

impl Domain {
    /// The smallest domain with at least `n` points, for the best path of this CPU.
    ///
    /// # Errors
    /// If that would be larger than `2^28`.
    pub fn for_rows(n: usize) -> Result<Self, DomainError> {
        Self::with_path(n, Path::best())
    }

    /// [`for_rows`](Self::for_rows) for a given path.
    ///
    /// # Errors
    /// See [`for_rows`](Self::for_rows).
    pub fn with_path(n: usize, path: Path) -> Result<Self, DomainError> {
        let too_large = DomainError::TooLarge { rows: n, limit_log: MAX_LOG_SIZE };
        let size = n.checked_next_power_of_two().ok_or(too_large.clone())?;
        let log_size = size.trailing_zeros();
        if log_size > MAX_LOG_SIZE {
            return Err(too_large);
        }
        let root = roots::root_of_unity(Convention::Coefficients, log_size);
        Ok(Self {
            log_size,
            path,
            transforms: Transforms::new(path, root, log_size),
            quotients: quotient::Tables::default(),
        })
    }

    /// The path that transforms take.
    pub fn path(&self) -> Path {
        self.path
    }

    /// Number of points.
    pub fn size(&self) -> usize {
        1 << self.log_size
    }

    /// The root of unity whose powers are the points, in order.
    pub fn root(&self) -> Scalar {
        roots::root_of_unity(Convention::Coefficients, self.log_size)
    }

    /// Base-two logarithm of [`size`](Self::size).
    pub fn log_size(&self) -> u32 {
        self.log_size
    }

    /// Bytes of the tables, but for those that the first quotient makes beside them, which are short.
    pub fn bytes(&self) -> usize {
        self.transforms.forward.bytes() + self.transforms.backward.bytes()
    }

    /// Coefficients to values on the domain.
    ///
    /// # Panics
    /// Like every transform here: if `x` has not exactly [`size`](Self::size) entries.
    pub fn fft(&self, x: &mut [Scalar]) {
        self.check(x);
        self.transforms.forward.to_reversed(x, None);
        reverse(x);
    }

    /// Values on the domain to coefficients.
    ///
    /// # Panics
    /// See [`fft`](Self::fft).
    pub fn ifft(&self, x: &mut [Scalar]) {
        self.check(x);
        let backward = &self.transforms.backward;
        backward.to_reversed(x, Some(&backward.scale(roots::one(), self.size_inverse())));
        reverse(x);
    }

    /// Coefficients to values on the coset 7·domain.
    ///
    /// # Panics
    /// See [`fft`](Self::fft).
    pub fn coset_fft(&self, x: &mut [Scalar]) {
        self.check(x);
        portable::scale_by_powers(x, roots::coset_generator(), roots::one());
        self.fft(x);
    }

    /// Values on the coset 7·domain to coefficients.
    ///
    /// # Panics
    /// See [`fft`](Self::fft).
    pub fn coset_ifft(&self, x: &mut [Scalar]) {
        self.check(x);
        let backward = &self.transforms.backward;
        let scale = backward.scale(roots::inverse(roots::coset_generator()), self.size_inverse());
        backward.to_reversed(x, Some(&scale));
        reverse(x);
    }

    /// The quotient of the three evaluated rows; the result is left in `a`, and `b` and `c` are scratch afterwards.
    ///
    /// - [`Convention::Coefficients`]: the coefficients of (A·B − C)/Z, of which the first `size − 1` are meaningful
    ///   and the last is zero for a satisfied witness.
    /// - [`Convention::OddCoset`]: `c` is not read (the format takes C = A·B on the domain); the values of
    ///   A·B − C at the odd powers of the root of order `2·size`, in order, without division by Z.
    ///
    /// # Panics
    /// See [`fft`](Self::fft); all three slices are held to it.
    pub fn quotient(&self, convention: Convention, a: &mut [Scalar], b: &mut [Scalar], c: &mut [Scalar]) {
        self.check(a);
        self.check(b);
        self.check(c);
        match convention {
            Convention::Coefficients => quotient::coefficients(self, a, b, c),
            Convention::OddCoset => quotient::odd_coset(self, a, b, c),
        }
    }

    fn size_inverse(&self) -> Scalar {
        roots::inverse(Scalar::from(self.size() as u64))
    }

    fn check(&self, x: &[Scalar]) {
        assert_eq!(x.len(), self.size(), "a transform over 2^{} points takes exactly that many values", self.log_size);
    }
}

/// The root of a domain of 2^`log_size` points.
#[cfg(target_arch = "x86_64")]
pub(crate) fn root(log_size: u32) -> Scalar {
    roots::root_of_unity(Convention::Coefficients, log_size)
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod way_tests;
