//! A key, ready for proofs.

use std::path::Path;

use blstrs::{G1Affine, G2Affine};
use proofline_kernels::domain::Convention;
use proofline_kernels::msm::Query;

use super::{Parameters, VerifyingKey};
use crate::circuits::CircuitShape;
use crate::error::Error;
use crate::progress::Watch;
use crate::verify::PreparedKey;

/// A key whose queries are ready to be summed, for as many proofs as one likes.
pub struct ProvingKey {
    prepared: PreparedKey,
    convention: Convention,
    pub(crate) h: Query<G1Affine>,
    pub(crate) l: Query<G1Affine>,
    pub(crate) a: Query<G1Affine>,
    pub(crate) b_g1: Query<G1Affine>,
    pub(crate) b_g2: Query<G2Affine>,
}

impl ProvingKey {
    /// Makes a key of its points.
    #[must_use]
    pub fn new(parameters: Parameters) -> Self {
        let Parameters { vk, h, l, a, b_g1, b_g2 } = parameters;
        Self {
            prepared: PreparedKey::new(vk),
            convention: Convention::Coefficients,
            h: Query::new(h),
            l: Query::new(l),
            a: Query::new(a),
            b_g1: Query::new(b_g1),
            b_g2: Query::new(b_g2),
        }
    }

    /// Reads a `.params` file, or the key in a folder that a setup wrote; see [`Parameters::read`].
    ///
    /// # Errors
    /// As [`Parameters::read`].
    pub fn read(path: &Path, watch: Watch<'_>) -> Result<Self, Error> {
        Parameters::read(path, watch).map(Self::new)
    }

    /// The verifying key.
    #[must_use]
    pub fn verifying_key(&self) -> &VerifyingKey {
        self.prepared.key()
    }

    /// The verifying key, ready for verifications.
    #[must_use]
    pub fn prepared(&self) -> &PreparedKey {
        &self.prepared
    }

    /// How the quotient is made for this key.
    #[must_use]
    pub fn convention(&self) -> Convention {
        self.convention
    }

    /// Holds the key's sizes against a circuit's. A key of another circuit of the same sizes passes here; its proofs
    /// fail their verification.
    ///
    /// # Errors
    /// The first size that differs, with both numbers.
    pub fn check(&self, shape: &CircuitShape) -> Result<(), Error> {
        let sizes = shape.sizes();
        let pairs = [
            ("public inputs (ONE counted)", self.verifying_key().ic.len(), sizes.inputs),
            ("points in h, one fewer than the domain", self.h.len(), sizes.domain - 1),
            ("auxiliary variables, points in l", self.l.len(), sizes.aux),
            ("variables in A", self.a.len(), sizes.a_density),
            ("variables in B (G1)", self.b_g1.len(), sizes.b_density),
            ("variables in B (G2)", self.b_g2.len(), sizes.b_density),
        ];
        match pairs.into_iter().find(|(_, key, circuit)| *key as u64 != *circuit) {
            None => Ok(()),
            Some((what, key, circuit)) => Err(Error::Mismatch(format!(
                "the key is for another circuit than `{}`: {what}: the key has {key}, the circuit {circuit}; choose \
                 the circuit's own key or make one with `proofline setup`",
                shape.name()
            ))),
        }
    }
}

impl std::fmt::Debug for ProvingKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProvingKey")
            .field("inputs", &self.verifying_key().ic.len())
            .field("h", &self.h.len())
            .field("l", &self.l.len())
            .field("a", &self.a.len())
            .field("b", &self.b_g2.len())
            .finish_non_exhaustive()
    }
}
