//! The verification equation: e(A, B) = e(α, β) · e(inputs, γ) · e(C, δ).

use blstrs::{Bls12, G1Affine, G1Projective, G2Affine, G2Prepared, Gt, Scalar};
use group::Group;
use group::prime::PrimeCurveAffine;
use pairing::{Engine, MillerLoopResult, MultiMillerLoop};

use crate::error::Error;
use crate::params::VerifyingKey;
use crate::tokens::PROOF_BYTES;

/// The points of a proof, in their groups and none of them at infinity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProofPoints {
    /// A.
    pub a: G1Affine,
    /// B.
    pub b: G2Affine,
    /// C.
    pub c: G1Affine,
}

const G1_BYTES: usize = 48;
const G2_BYTES: usize = 96;

impl ProofPoints {
    /// Reads a proof's 192 bytes: A (48), B (96), C (48), compressed. Each point is checked for curve and subgroup.
    ///
    /// # Errors
    /// The bytes have another length, or are no proof.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let wrong_length =
            || Error::BadText(format!("a proof has {PROOF_BYTES} bytes, and these are {}: not a proof", bytes.len()));
        let not = |name: &str| {
            Error::BadText(format!("point {name} of the proof is not a point of its group, or the point at infinity"))
        };
        let (a, rest) = bytes.split_first_chunk::<G1_BYTES>().ok_or_else(wrong_length)?;
        let (b, rest) = rest.split_first_chunk::<G2_BYTES>().ok_or_else(wrong_length)?;
        let c: &[u8; G1_BYTES] = rest.try_into().map_err(|_| wrong_length())?;
        let g1 = |bytes, name| {
            let point: Option<G1Affine> = G1Affine::from_compressed(bytes).into();
            point.filter(|point| !bool::from(point.is_identity())).ok_or_else(|| not(name))
        };
        let b: Option<G2Affine> = G2Affine::from_compressed(b).into();
        let b = b.filter(|point| !bool::from(point.is_identity())).ok_or_else(|| not("B"))?;
        Ok(Self { a: g1(a, "A")?, b, c: g1(c, "C")? })
    }

    /// The proof's 192 bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; PROOF_BYTES] {
        let mut bytes = [0; PROOF_BYTES];
        bytes[..G1_BYTES].copy_from_slice(&self.a.to_compressed());
        bytes[G1_BYTES..G1_BYTES + G2_BYTES].copy_from_slice(&self.b.to_compressed());
        bytes[G1_BYTES + G2_BYTES..].copy_from_slice(&self.c.to_compressed());
        bytes
    }
}

/// A verifying key with everything computed that does not depend on the proof.
#[derive(Clone, Debug)]
pub struct PreparedKey {
    ic: Vec<G1Affine>,
    alpha_beta: Gt,
    minus_gamma: G2Prepared,
    minus_delta: G2Prepared,
}

impl PreparedKey {
    /// Prepares a key.
    #[must_use]
    pub fn new(key: &VerifyingKey) -> Self {
        Self::of_points(&key.alpha_g1, &key.beta_g2, &key.gamma_g2, &key.delta_g2, key.ic.clone())
    }

    /// Prepares a key of the points that a verifier needs.
    pub(super) fn of_points(
        alpha_g1: &G1Affine,
        beta_g2: &G2Affine,
        gamma_g2: &G2Affine,
        delta_g2: &G2Affine,
        ic: Vec<G1Affine>,
    ) -> Self {
        Self {
            ic,
            alpha_beta: Bls12::pairing(alpha_g1, beta_g2),
            minus_gamma: G2Prepared::from(-gamma_g2),
            minus_delta: G2Prepared::from(-delta_g2),
        }
    }

    /// Whether the proof proves its statement about these public inputs (the constant ONE not counted).
    ///
    /// # Errors
    /// There are more or fewer public inputs than the key is for.
    pub fn verify(&self, proof: &ProofPoints, public: &[Scalar]) -> Result<bool, Error> {
        let Some((one, ic)) = self.ic.split_first().filter(|(_, ic)| ic.len() == public.len()) else {
            return Err(Error::Mismatch(format!(
                "the key is for {} public inputs, and {} are given",
                self.ic.len().saturating_sub(1),
                public.len()
            )));
        };
        let sum: G1Projective = ic.iter().zip(public).map(|(base, scalar)| base * scalar).sum();
        let inputs = G1Affine::from(&(sum + one));
        let left = Bls12::multi_miller_loop(&[
            (&proof.a, &G2Prepared::from(proof.b)),
            (&inputs, &self.minus_gamma),
            (&proof.c, &self.minus_delta),
        ]);
        let product = left.final_exponentiation();
        Ok(product == self.alpha_beta && !bool::from(self.alpha_beta.is_identity()))
    }
}
