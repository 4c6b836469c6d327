//! The built-in family: knowledge of a preimage of a SHA-256 digest.

use bellpepper::gadgets::multipack;
use bellpepper::gadgets::sha256::sha256;
use bellpepper_core::boolean::{AllocatedBit, Boolean};
use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// The bytes of a block of SHA-256.
pub const BLOCK_BYTES: usize = 64;

/// "I know a preimage of so many blocks whose SHA-256 is this digest." The digest is public, packed into two scalars.
///
/// A preimage of N blocks takes N + 1 compressions: the last one is SHA-256's padding.
#[derive(Clone)]
pub struct Sha256Preimage {
    blocks: usize,
    preimage: Option<Zeroizing<Vec<u8>>>,
}

impl Sha256Preimage {
    /// The circuit without a witness, for setup.
    #[must_use]
    pub fn of_blocks(blocks: usize) -> Self {
        Self { blocks, preimage: None }
    }

    /// The circuit with its witness. The last block of the preimage is filled up with zeros.
    #[must_use]
    pub fn of_preimage(mut preimage: Zeroizing<Vec<u8>>) -> Self {
        let blocks = preimage.len().div_ceil(BLOCK_BYTES);
        preimage.resize(blocks * BLOCK_BYTES, 0);
        Self { blocks, preimage: Some(preimage) }
    }

    /// The public inputs of the proof, the constant ONE not counted; `None` without a preimage.
    #[must_use]
    pub fn public_inputs(&self) -> Option<Vec<Scalar>> {
        let preimage: &[u8] = self.preimage.as_ref()?;
        let digest = Sha256::digest(preimage);
        Some(multipack::compute_multipacking(&multipack::bytes_to_bits(&digest)))
    }
}

impl Circuit<Scalar> for Sha256Preimage {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let bits = (0..self.blocks * BLOCK_BYTES * 8)
            .map(|i| {
                let value = self.preimage.as_ref().map(|bytes| bytes[i / 8] >> (7 - i % 8) & 1 == 1);
                AllocatedBit::alloc(cs.namespace(|| format!("preimage bit {i}")), value).map(Boolean::from)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let digest = sha256(cs.namespace(|| "sha256"), &bits)?;
        multipack::pack_into_inputs(cs.namespace(|| "digest"), &digest)
    }
}
