//! A key, ready for proofs.

use std::path::Path;

use blstrs::{G1Affine, G2Affine};
use proofline_kernels::domain::Convention;
use proofline_kernels::msm::Query;

use super::key_file::KeyFile;
use super::parameters::key_in;
use super::resident::{self, Resident};
use super::{Parameters, VerifyingKey};
use crate::circuits::CircuitShape;
use crate::error::Error;
use crate::progress::Watch;
use crate::sealed::begins_as;
use crate::verify::PreparedKey;

/// A key whose queries are ready to be summed, for as many proofs as one likes.
pub struct ProvingKey {
    pub(super) vk: VerifyingKey,
    pub(super) prepared: PreparedKey,
    pub(super) convention: Convention,
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
        Self::with_path(parameters, proofline_kernels::Path::best())
    }

    /// [`new`](Self::new) for a path of the kernels.
    #[must_use]
    pub fn with_path(parameters: Parameters, path: proofline_kernels::Path) -> Self {
        let Parameters { vk, convention, h, l, a, b_g1, b_g2 } = parameters;
        Self {
            prepared: PreparedKey::new(&vk),
            vk,
            convention,
            h: Query::with_path(h, path),
            l: Query::with_path(l, path),
            a: Query::with_path(a, path),
            b_g1: Query::with_path(b_g1, path),
            b_g2: Query::with_path(b_g2, path),
        }
    }

    /// Reads a key: a [converted](resident) file, a `.params` or `.zkey` file, or the one in a folder. A converted file
    /// beside the key file is read in its place, after making sure that it belongs to it.
    ///
    /// # Errors
    /// As [`Parameters::read`], [`Zkey::open`](super::Zkey::open) and [`Resident::load`]; the converted file belongs to
    /// another key.
    pub fn read(path: &Path, watch: Watch<'_>) -> Result<Self, Error> {
        let file = key_in(path);
        if begins_as(&file, &resident::KIND) {
            return Resident::open(&file)?.load(watch);
        }
        let converted = resident::beside(&file);
        if !converted.exists() {
            return KeyFile::open(&file, watch)?.into_parameters(watch).map(Self::new);
        }
        let converted = Resident::open(&converted)?;
        if file.exists() {
            converted.expect_source(&file)?;
        }
        converted.load(watch)
    }

    /// The verifying key.
    #[must_use]
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.vk
    }

    /// The verifying key, ready for verifications.
    #[must_use]
    pub fn prepared(&self) -> &PreparedKey {
        &self.prepared
    }

    /// The memory that its queries take.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let g1 = [&self.h, &self.l, &self.a, &self.b_g1].iter().map(|query| query.bytes()).sum::<usize>();
        (g1 + self.b_g2.bytes()) as u64
    }

    /// The queries that are summed in G1, one after the other.
    pub(crate) fn in_g1(&self) -> [&Query<G1Affine>; 4] {
        [&self.h, &self.l, &self.a, &self.b_g1]
    }

    /// The size of the domain that it was made for.
    #[must_use]
    pub fn domain(&self) -> usize {
        match self.convention {
            Convention::Coefficients => self.h.len() + 1,
            Convention::OddCoset => self.h.len(),
        }
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
            ("points in the domain, by those in h", self.domain(), sizes.domain),
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
