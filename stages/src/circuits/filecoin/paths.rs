//! Paths in trees, looked at before the network's code uses them: it asserts what is checked here.

use blstrs::Scalar;
use storage_proofs_core::merkle::MerkleProofTrait;

use super::bytes::Bytes32;

/// Holds a path against its own form: where each node stands among its siblings, and that all of them are elements of the
/// field.
pub(super) fn check<P: MerkleProofTrait>(path: &P) -> anyhow::Result<()> {
    anyhow::ensure!(
        is_element(path.leaf()) && is_element(path.root()),
        "a leaf or root is not below the field's prime"
    );
    for (height, (siblings, place)) in path.path().into_iter().enumerate() {
        anyhow::ensure!(
            place <= siblings.len(),
            "a node at height {height} is said to be number {place} of {}",
            siblings.len() + 1
        );
        anyhow::ensure!(
            siblings.into_iter().all(is_element),
            "a node at height {height} is not below the field's prime"
        );
    }
    Ok(())
}

/// Whether this is an element of the field, in its only form.
pub(super) fn is_element(bytes: impl AsRef<[u8]>) -> bool {
    Bytes32::try_from(bytes.as_ref()).is_ok_and(|bytes| bool::from(Scalar::from_bytes_le(&bytes).is_some()))
}
