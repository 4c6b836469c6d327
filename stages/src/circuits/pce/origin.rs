//! What a stored circuit was extracted from.

use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::circuits::Builtin;
use crate::circuits::builtin::REVISION;
use crate::error::Error;
use crate::sealed::digest_of_file;

/// A digest of what a circuit was extracted from: of an `.r1cs` file's bytes, of a `.zkey` file's, or of a built-in circuit's name and revision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Origin([u8; 32]);

impl Origin {
    /// Of a circuit that came from a program's own code.
    pub const UNKNOWN: Self = Self([0; 32]);

    /// Of a built-in circuit, as this version of the program makes it.
    #[must_use]
    pub fn of_builtin(builtin: Builtin) -> Self {
        Self(Sha256::digest(format!("built-in {builtin} {REVISION}")).into())
    }

    /// Of a circom `.r1cs` file: of its bytes, wherever it is and whatever its name.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn of_r1cs(file: &Path) -> Result<Self, Error> {
        let (digest, _) = digest_of_file(file)?;
        Ok(Self(Sha256::new_with_prefix("r1cs").chain_update(digest).finalize().into()))
    }

    /// Of a snarkjs `.zkey` file, of whose bytes `digest` is the digest.
    #[must_use]
    pub fn of_zkey(digest: &[u8; 32]) -> Self {
        Self(Sha256::new_with_prefix("zkey").chain_update(digest).finalize().into())
    }

    /// Of a circuit of a library, which this text names with its revision.
    #[cfg(feature = "filecoin")]
    pub(crate) fn of_text(text: &str) -> Self {
        Self(Sha256::digest(format!("library {text}")).into())
    }

    pub(super) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}
