//! snarkjs' proving keys: `.zkey`.
//!
//! A container ([`iden3`](crate::iden3)) with magic `zkey`, version 1, and the sections
//!
//! | number | contents |
//! |---|---|
//! | 1 | the protocol: 1 is Groth16 |
//! | 2 | the base field's width and prime, the scalar field's width and prime, wires, public wires (ONE not counted), the size of the domain; α G1, β G1, β G2, γ G2, δ G1, δ G2 |
//! | 3 | IC: a point of G1 for each public wire, ONE first |
//! | 4 | the coefficients of A and B: their number, then for each matrix, row, wire (4 bytes each) and value (32) |
//! | 5, 6, 7 | A in G1, B in G1, B in G2: a point for each wire |
//! | 8 | L: a point for each wire that is not public |
//! | 9 | H: a point for each point of the domain |
//! | 10 | what the ceremony left; not read |
//!
//! Points are affine, x then y, components little-endian in Montgomery form: the kernels' plain form. All bytes zero is
//! the point at infinity, which A and B have for wires that do not occur in their matrix: two thirds of B in a SHA-256
//! circuit. Values of coefficients are c·2^512 mod r. The matrix C is not in the file; the quotient is of the
//! convention [`OddCoset`](super::Convention::OddCoset), which does without.
//!
//! Behind the circuit's own rows, A has one row `x · 0 = 0` for each public wire x, ONE included.

mod coefficients;
mod header;
mod points;
mod write;

use std::path::Path;

use crate::circuits::CircuitShape;
use crate::error::Error;
use crate::iden3::SectionFile;
use crate::partial::open_regular;
use crate::progress::Watch;

pub(super) use points::ZkeyPoints;

use super::VerifyingKey;
use header::Header;

/// The first bytes of a `.zkey`.
const MAGIC: &str = "zkey";
const VERSION: u32 = 1;

const PROTOCOL: u32 = 1;
const HEADER: u32 = 2;
const IC: u32 = 3;
const COEFFICIENTS: u32 = 4;
const A: u32 = 5;
const B_G1: u32 = 6;
const B_G2: u32 = 7;
const L: u32 = 8;
const H: u32 = 9;
const CONTRIBUTIONS: u32 = 10;

const G1_BYTES: u64 = 96;
const G2_BYTES: u64 = 192;

/// Whether a file begins as a `.zkey`; one that cannot be read does not.
pub(super) fn is_zkey(path: &Path) -> bool {
    use std::io::Read;
    let mut head = [0; MAGIC.len()];
    open_regular(path).is_ok_and(|mut file| file.read_exact(&mut head).is_ok()) && head == MAGIC.as_bytes()
}

/// A `.zkey`, open: its header is read, every section has the length that the header makes of it, and the points of the
/// verifying key are checked. Coefficients and queries stay on disk until they are asked for.
pub struct Zkey {
    file: SectionFile,
    header: Header,
    key: VerifyingKey,
}

impl Zkey {
    /// Opens a file.
    ///
    /// # Errors
    /// The file cannot be read, is cut off or damaged, or is a key of another protocol or curve.
    pub fn open(path: &Path, watch: Watch<'_>) -> Result<Self, Error> {
        let file = SectionFile::open(path, MAGIC, VERSION)?;
        let header = Header::read(&file)?;
        let [alpha_g1, beta_g1, delta_g1] = header.g1;
        let [beta_g2, gamma_g2, delta_g2] = header.g2;
        let ic = points::read_all(&file, header.place_of(&file, IC)?, "ic", watch)?;
        let key = VerifyingKey { alpha_g1, beta_g1, beta_g2, gamma_g2, delta_g1, delta_g2, ic };
        header.check_lengths(&file)?;
        Ok(Self { file, header, key })
    }

    /// The verifying key.
    #[must_use]
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.key
    }

    /// Wires, ONE counted.
    #[must_use]
    pub fn wires(&self) -> usize {
        self.header.wires
    }

    /// Public wires, ONE counted.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.header.inputs
    }

    /// The size of the domain; a key may have a larger one than its circuit needs.
    #[must_use]
    pub fn domain(&self) -> usize {
        self.header.domain
    }

    /// Bytes of its coefficients, which [`Self::shape`] holds in memory once as they are and once as rows.
    #[must_use]
    pub fn bytes_of_coefficients(&self) -> u64 {
        self.file.section(COEFFICIENTS, "the coefficients").map_or(0, |place| place.length)
    }

    /// The circuit as far as the key knows it: without C, so that a witness that does not satisfy it is noticed by the
    /// verification of its proof only.
    ///
    /// # Errors
    /// The coefficients cannot be read, or are no circuit's.
    pub fn shape(&self, watch: Watch<'_>) -> Result<CircuitShape, Error> {
        let path = self.file.path();
        let name = path.file_stem().map_or_else(|| path.display().to_string(), |stem| stem.display().to_string());
        let rows = coefficients::rows(&self.file, &self.header, watch)?;
        CircuitShape::without_c(&name, self.inputs(), self.wires(), &rows, self.domain())
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// The queries, for one pass over them.
    ///
    /// # Errors
    /// The coefficients cannot be read.
    pub(super) fn points(&self, watch: Watch<'_>) -> Result<ZkeyPoints<'_>, Error> {
        let [a, b] = coefficients::densities(&self.file, &self.header, watch)?;
        Ok(ZkeyPoints::new(&self.file, &self.header, a, b))
    }
}

impl std::fmt::Debug for Zkey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Zkey").field("file", &self.file.path()).field("header", &self.header).finish_non_exhaustive()
    }
}
