//! A transform of one size with one root, on either path.

use super::portable;
use super::roots::{self, Products, Twiddles};
#[cfg(target_arch = "x86_64")]
use crate::ifma::ntt;
use crate::{Path, Scalar};

/// The tables of a transform.
#[derive(Debug, Clone)]
pub(super) enum Transform {
    Portable(u32, Twiddles),
    #[cfg(target_arch = "x86_64")]
    Ifma(ntt::Plan),
}

/// Factors `first · base^j` for natural index j, in the order of a transform's output.
#[derive(Debug, Clone)]
pub(super) enum Scale {
    Portable(Products),
    #[cfg(target_arch = "x86_64")]
    Ifma(ntt::Scale),
}

impl Transform {
    /// For a root of order 2^`log_size`. Small sizes are portable on any path.
    pub(super) fn new(path: Path, root: Scalar, log_size: u32) -> Self {
        let twiddles = Twiddles::twiddles(root, log_size);
        match path {
            #[cfg(target_arch = "x86_64")]
            Path::Ifma(proof) if log_size >= ntt::MIN_LOG => Self::Ifma(ntt::Plan::new(proof, twiddles, log_size)),
            _ => Self::Portable(log_size, twiddles),
        }
    }

    /// Natural order in, reversed order out: `x[rev(k)] ← scale(k) · Σ x[j] ω^(jk)`.
    pub(super) fn to_reversed(&self, x: &mut [Scalar], scale: Option<&Scale>) {
        match (self, scale) {
            #[cfg(target_arch = "x86_64")]
            (Self::Ifma(plan), Some(Scale::Ifma(scale))) => plan.run(x, ntt::Order::Split, Some(scale)),
            #[cfg(target_arch = "x86_64")]
            (Self::Ifma(plan), _) => plan.run(x, ntt::Order::Split, None),
            (Self::Portable(_, twiddles), scale) => {
                portable::to_reversed(x, twiddles);
                if let Some(Scale::Portable(powers)) = scale {
                    portable::scale_reversed(x, powers);
                }
            }
        }
    }

    /// Reversed order in, natural order out: `x[k] ← Σ x[rev(j)] ω^(jk)`.
    pub(super) fn to_natural(&self, x: &mut [Scalar]) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Ifma(plan) => plan.run(x, ntt::Order::Join, None),
            Self::Portable(_, twiddles) => portable::to_natural(x, twiddles),
        }
    }

    /// Factors `first · base^j` for [`to_reversed`](Self::to_reversed) of this transform or one of the same size and path.
    pub(super) fn scale(&self, base: Scalar, first: Scalar) -> Scale {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Ifma(plan) => Scale::Ifma(plan.scale(base, first)),
            Self::Portable(log_size, _) => Scale::Portable(Products::powers(base, *log_size, first)),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Ifma(plan) => plan.bytes(),
            Self::Portable(_, twiddles) => twiddles.bytes(),
        }
    }
}

/// Both directions between values and coefficients for one root.
#[derive(Debug, Clone)]
pub(super) struct Transforms {
    pub(super) forward: Transform,
    pub(super) backward: Transform,
}

impl Transforms {
    pub(super) fn new(path: Path, root: Scalar, log_size: u32) -> Self {
        Self {
            forward: Transform::new(path, root, log_size),
            backward: Transform::new(path, roots::inverse(root), log_size),
        }
    }
}
