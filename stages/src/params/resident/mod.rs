//! Keys in the form that the prover holds them in: `circuit.params.resident`, `circuit.zkey.resident`.
//!
//! A key file is checked point by point, for the curve and for the subgroup, which takes minutes for a large key.
//! A converted file was made by that check, once, and is read back as fast as its digests can be computed. It is a sealed
//! file with the sections
//!
//! | number | contents |
//! |---|---|
//! | 1 | the quotient's convention (8 bytes: 0 bellperson's coefficients, 1 the odd coset), then for each query its points and those that are stored (8 + 8) |
//! | 2 | the source: its length (8), its digest (32), its stamp (40) |
//! | 3 | the verifying key, as in a `.vk` file; its points are checked at every reading |
//! | 10–14 | the points of H, L, A, B-G1, B-G2 without those at infinity |
//! | 20–24 | the positions of the points at infinity in each, ascending: 4 bytes each |
//!
//! Points are in the kernels' plain form (`proofline_kernels::msm::Curve::to_plain`): affine, 96 and 192 bytes, Montgomery
//! form as blst has it. It is the same for every machine; the portable path takes it as it is, the IFMA path multiplies
//! each coordinate once.
//!
//! # What is trusted
//!
//! The digests find damage and mistakes, not malice: **who can write the converted file can make the prover use any key**,
//! exactly like who can write the program's own binary. Keep it where only those write whom you trust with both.
//! Coordinates are held below p at every reading, and no y is zero, so that no file can do more than make proofs fail: those
//! of points off the curve do not verify, or additions find that there is no sum and end the proof with an internal fault.
//! Curve and subgroup were checked when the file was made, and `verify` checks them again. What leaves was always verified
//! against the verifying key.
//!
//! # Belonging together
//!
//! A converted file states the digest of the bytes that it was made from. Beside a key file it is used only if it
//! belongs to it: the file's stamp (see [`Stamp`](source::Stamp)) says that nobody has written to it since, or, where the
//! stamp differs, for example after a copy, its digest is computed again. A file that belongs to another key is refused, never
//! passed over: whoever converted a key wants to know why it is not used. Without a key file it stands for itself.

pub(super) mod convert;
mod read;
mod source;
mod verify;

use std::path::{Path, PathBuf};

use super::parameters::key_in;
use crate::sealed::{Kind, begins_as};

pub use convert::{Converted, convert};
pub use read::Resident;
pub use verify::{Verified, verify};

/// What a converted key's name has behind the key's.
pub const RESIDENT_SUFFIX: &str = "resident";

pub(super) const KIND: Kind = Kind {
    magic: *b"PLKEYS\r\n",
    version: 1,
    what: "a converted key",
    advice: "delete it, or convert the key again with `proofline params convert`",
};

const FACTS: u32 = 1;
const SOURCE: u32 = 2;
const VERIFYING_KEY: u32 = 3;
/// The points of the first query; the others follow.
const POINTS: u32 = 10;
/// The infinities of the first query; the others follow.
const INFINITIES: u32 = 20;

/// The queries in the order of a `.params` file.
const QUERIES: [&str; 5] = ["h", "l", "a", "b_g1", "b_g2"];

/// The key file and the converted file that a path stands for: the folder of both, or one of them. Whether they are
/// there is not looked at.
#[must_use]
pub fn files_of(path: &Path) -> (PathBuf, PathBuf) {
    let file = key_in(path);
    if begins_as(&file, &KIND) {
        let source = if file.extension().is_some_and(|extension| extension == RESIDENT_SUFFIX) {
            file.with_extension("")
        } else {
            // Under another name it has no source.
            PathBuf::new()
        };
        return (source, file);
    }
    let converted = beside(&file);
    (file, converted)
}

/// The converted file beside a key file.
#[must_use]
pub fn beside(params: &Path) -> PathBuf {
    params.with_added_extension(RESIDENT_SUFFIX)
}

#[cfg(test)]
mod tests;
