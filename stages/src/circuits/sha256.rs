//! The built-in family: knowledge of a preimage of a SHA-256 digest.

use bellpepper::gadgets::multipack;
use bellpepper::gadgets::sha256::sha256_compression_function;
use bellpepper::gadgets::uint32::UInt32;
use bellpepper_core::boolean::{AllocatedBit, Boolean};
use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// The bytes of a block of SHA-256.
pub const BLOCK_BYTES: usize = 64;

/// The bits of a block.
const BLOCK_BITS: usize = 8 * BLOCK_BYTES;

/// What the first block starts from (FIPS 180-4, 5.3.3).
const INITIAL_STATE: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

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
        // Block by block, not all bits in one list: no piece of memory is large, however many blocks there are. Variables
        // and constraints are those of `bellpepper::gadgets::sha256::sha256`, in the same order.
        let mut blocks = Vec::with_capacity(self.blocks + 1);
        for block in 0..self.blocks {
            let bits = (0..BLOCK_BITS).map(|bit| {
                let i = block * BLOCK_BITS + bit;
                let value = self.preimage.as_ref().map(|bytes| bytes[i / 8] >> (7 - i % 8) & 1 == 1);
                AllocatedBit::alloc(cs.namespace(|| format!("preimage bit {i}")), value).map(Boolean::from)
            });
            blocks.push(bits.collect::<Result<Vec<_>, _>>()?);
        }
        blocks.push(padding(self.blocks));
        let mut state: Vec<UInt32> = INITIAL_STATE.iter().map(|word| UInt32::constant(*word)).collect();
        for (i, block) in blocks.iter().enumerate() {
            state = sha256_compression_function(cs.namespace(|| format!("block {i}")), block, &state)?;
        }
        let digest: Vec<Boolean> = state.into_iter().flat_map(|word| word.into_bits_be()).collect();
        multipack::pack_into_inputs(cs.namespace(|| "digest"), &digest)
    }
}

/// The block behind so many whole ones: a one, zeros, and the number of bits before it (FIPS 180-4, 5.1.1).
fn padding(blocks: usize) -> Vec<Boolean> {
    let length = (blocks * BLOCK_BITS) as u64;
    let bit = |i: usize| i == 0 || (i >= BLOCK_BITS - 64 && length >> (BLOCK_BITS - 1 - i) & 1 == 1);
    (0..BLOCK_BITS).map(|i| Boolean::constant(bit(i))).collect()
}

#[cfg(test)]
mod tests {
    use bellpepper::gadgets::sha256::sha256;
    use bellpepper_core::test_cs::TestConstraintSystem;

    use super::*;

    /// bellpepper's own gadget over all bits at once.
    struct AllAtOnce(Vec<u8>);

    impl Circuit<Scalar> for AllAtOnce {
        fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
            let bits = (0..self.0.len() * 8)
                .map(|i| {
                    let value = Some(self.0[i / 8] >> (7 - i % 8) & 1 == 1);
                    AllocatedBit::alloc(cs.namespace(|| format!("preimage bit {i}")), value).map(Boolean::from)
                })
                .collect::<Result<Vec<_>, _>>()?;
            let digest = sha256(cs.namespace(|| "sha256"), &bits)?;
            multipack::pack_into_inputs(cs.namespace(|| "digest"), &digest)
        }
    }

    #[test]
    fn the_constraints_are_those_of_bellpepper() {
        for blocks in [1, 2] {
            let preimage: Vec<u8> = (0..blocks * BLOCK_BYTES).map(|i| (i * 37 + 5) as u8).collect();
            let (mut ours, mut theirs) = (TestConstraintSystem::new(), TestConstraintSystem::new());
            Sha256Preimage::of_preimage(preimage.clone().into()).synthesize(&mut ours).unwrap();
            AllAtOnce(preimage).synthesize(&mut theirs).unwrap();
            assert!(ours.is_satisfied());
            assert_eq!(ours.num_constraints(), theirs.num_constraints());
            assert_eq!(ours.scalar_aux(), theirs.scalar_aux());
            assert_eq!(ours.scalar_inputs(), theirs.scalar_inputs());
        }
    }
}
