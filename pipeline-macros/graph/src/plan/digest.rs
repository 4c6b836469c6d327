//! What a plan was made from, as one number.

use sha2::{Digest, Sha256};

use crate::source::Sources;

/// SHA-256 over all texts, each with its length before it, as lower-case hexadecimal digits.
#[must_use]
pub fn digest(sources: &Sources) -> String {
    let mut sha = Sha256::new();
    for source in sources.iter() {
        sha.update((source.text.len() as u64).to_le_bytes());
        sha.update(source.text.as_bytes());
    }
    sha.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
