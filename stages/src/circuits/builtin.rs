//! The circuits that come with the program, by name.

use std::fmt;
use std::str::FromStr;

use rand::RngCore;
use rand::rngs::OsRng;
use zeroize::Zeroizing;

use super::sha256::{BLOCK_BYTES, Sha256Preimage};
use super::source::WitnessSource;
use crate::error::Error;

/// A block takes about 25,100 constraints, and so does the padding: more blocks than this do not fit the largest domain,
/// 2^28 rows.
const MOST_BLOCKS: usize = 10_000;

/// Raised whenever a built-in circuit's constraints change, here or in a library it is made of, so that circuits stored
/// before are not taken for it; a test holds the digest of one.
pub(super) const REVISION: u32 = 1;

/// A circuit of a built-in family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Builtin {
    /// `sha256:N`: knowledge of a preimage of N blocks of 64 bytes.
    Sha256 {
        /// The blocks of the preimage, from 1 to 10,000.
        blocks: usize,
    },
}

impl FromStr for Builtin {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let Some(count) = name.strip_prefix("sha256:") else {
            return Err(Error::BadText(format!(
                "there is no built-in circuit `{name}`: the built-in family is `sha256:N`, N blocks of 64 bytes"
            )));
        };
        match count.parse() {
            Ok(blocks) if (1..=MOST_BLOCKS).contains(&blocks) => Ok(Self::Sha256 { blocks }),
            _ => Err(Error::BadText(format!(
                "`{name}`: the number of blocks must be from 1 to {MOST_BLOCKS}, as in `sha256:4`"
            ))),
        }
    }
}

impl fmt::Display for Builtin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sha256 { blocks } => write!(f, "sha256:{blocks}"),
        }
    }
}

impl Builtin {
    /// A witness that nobody has seen: a random preimage from the operating system.
    #[must_use]
    pub fn fresh_witness(&self) -> WitnessSource {
        match self {
            Self::Sha256 { blocks } => {
                let mut preimage = Zeroizing::new(vec![0; blocks * BLOCK_BYTES]);
                OsRng.fill_bytes(&mut preimage);
                let circuit = Sha256Preimage::of_preimage(preimage);
                let public = circuit.public_inputs().unwrap_or_default();
                WitnessSource::circuit(public, circuit)
            }
        }
    }
}
