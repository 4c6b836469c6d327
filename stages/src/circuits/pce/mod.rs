//! Circuits on disk: pre-compiled constraint evaluators, as Filecoin calls stored matrices.
//!
//! A circuit is extracted once, by running its synthesis or reading its constraints; what the prover needs of it is the
//! compressed matrices, a tenth or less of an `.r1cs` file. They are kept in a sealed file (`circuit.pce`) with the sections
//!
//! | number | contents |
//! |---|---|
//! | 1 | inputs, rows, columns, non-zeros of A, B and C, the size of the domain, 1 if C is known: 8 bytes each |
//! | 2 | the circuit's digest (32), its origin (32), its name |
//! | 3 | the rows, compressed, in blocks |
//! | 4 | where each block starts: 8 bytes each |
//! | 5 | the distinct coefficients: 32 bytes each, canonical |
//!
//! The circuit's digest is SHA-256 of the digests of sections 1, 3, 4 and 5: equal circuits have equal digests, whatever
//! their names are and wherever they came from. Reading checks the digests and then decodes every row once, so that a
//! file that lies is refused too; nothing is reserved beyond the file's length.
//!
//! The *origin* says what the circuit was extracted from (see [`Origin`]), so that a stored circuit is taken only for what
//! it was made of.

mod origin;
mod write;

use std::path::Path;

use blstrs::Scalar;
use proofline_kernels::scalars::MAX_LEN;
use proofline_kernels::sparse::{Parts, Triple};

pub use origin::Origin;
pub use write::{Extracted, extract};

use super::builtin::Builtin;
use super::shape::CircuitShape;
use crate::error::Error;
use crate::sealed::{Digest, Kind, Sealed};
use write::digest_of;

/// The name of the circuit in the folder of its key.
pub const PCE_FILE: &str = "circuit.pce";

const KIND: Kind = Kind {
    magic: *b"PLCIRC\r\n",
    // Raised also when the kernels lay rows out in another way.
    version: 2,
    what: "a stored circuit",
    advice: "delete it, and it is made again from the circuit",
};

const FACTS: u32 = 1;
const IDENTITY: u32 = 2;
const STREAM: u32 = 3;
const STARTS: u32 = 4;
const VALUES: u32 = 5;

/// Bytes of a coefficient.
const VALUE_BYTES: usize = 32;
/// Longer names are cut off.
const MOST_NAME_BYTES: usize = 1024;

/// A stored circuit whose matrices were not read yet.
pub struct StoredCircuit {
    sealed: Sealed,
    digest: Digest,
    origin: Origin,
    name: String,
}

impl StoredCircuit {
    /// Opens a file and reads what it is about.
    ///
    /// # Errors
    /// The file cannot be read, or is no stored circuit.
    pub fn open(file: &Path) -> Result<Self, Error> {
        let sealed = Sealed::open(file, KIND)?;
        sealed.expect(&[FACTS, IDENTITY, STREAM, STARTS, VALUES])?;
        let identity = sealed.read(IDENTITY, "the circuit's name")?;
        let at = sealed.section(IDENTITY, "the circuit's name")?.offset;
        let Some((digest, rest)) = identity.split_first_chunk::<32>() else {
            return Err(sealed.malformed(at, "the circuit's digest is missing"));
        };
        let Some((origin, name)) = rest.split_first_chunk::<32>() else {
            return Err(sealed.malformed(at, "the circuit's origin is missing"));
        };
        let Ok(name) = String::from_utf8(name.to_vec()) else {
            return Err(sealed.malformed(at, "the circuit's name is no text"));
        };
        let (digest, origin) = (*digest, Origin::from_bytes(*origin));
        Ok(Self { sealed, digest, origin, name })
    }

    /// What it was extracted from.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Its digest: equal circuits have equal ones.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Reads the circuit, on the rayon pool that this is called in.
    ///
    /// # Errors
    /// The file cannot be read or was altered, or its matrices are none.
    pub fn shape(&self) -> Result<CircuitShape, Error> {
        let sealed = &self.sealed;
        let section = |number, what| sealed.section(number, what);
        let facts = sealed.read(FACTS, "the circuit's sizes")?;
        let sections = [
            section(FACTS, "the circuit's sizes")?,
            section(STREAM, "the rows")?,
            section(STARTS, "the blocks' starts")?,
            section(VALUES, "the coefficients")?,
        ];
        if digest_of(&sections) != self.digest {
            return Err(sealed.malformed(0, "the circuit's digest is not that of its sections"));
        }
        let sizes = words(&facts).and_then(|sizes| <[u64; 8]>::try_from(sizes).ok());
        let sizes = sizes.ok_or_else(|| sealed.malformed(sections[0].offset, "the circuit's sizes are not eight"))?;
        let size = |at: usize| usize::try_from(sizes[at]).unwrap_or(usize::MAX);
        let (inputs, rows, columns) = (size(0), size(1), size(2));
        // The number of rows is held against the blocks by the matrices' own check.
        if inputs == 0 || inputs > rows || inputs > columns || columns > MAX_LEN {
            let fault = format!("{inputs} inputs, {rows} rows and {columns} variables are no circuit");
            return Err(sealed.malformed(sections[0].offset, &fault));
        }
        if sizes[7] > 1 {
            let fault = format!("C is known or it is not (1 or 0), and {} is there", sizes[7]);
            return Err(sealed.malformed(sections[0].offset, &fault));
        }
        let stream = sealed.read(STREAM, "the rows")?;
        let starts = words(&sealed.read(STARTS, "the blocks' starts")?)
            .ok_or_else(|| sealed.malformed(sections[2].offset, "the blocks' starts are cut off"))?;
        let values = values(&sealed.read(VALUES, "the coefficients")?)
            .ok_or_else(|| sealed.malformed(sections[3].offset, "a coefficient is not below the field's prime r"))?;
        let parts = Parts { rows, columns, nonzeros: [size(3), size(4), size(5)], stream, starts, values };
        let matrices =
            Triple::from_parts(parts).map_err(|fault| sealed.malformed(sections[1].offset, &fault.to_string()))?;
        // A name that is a built-in circuit's is that circuit only if it was extracted from it.
        let builtin = self.name.parse::<Builtin>().ok().filter(|builtin| Origin::of_builtin(*builtin) == self.origin);
        CircuitShape::assemble(self.name.clone(), builtin, inputs, matrices)?.stored_with(sizes[7] != 0, size(6))
    }
}

impl CircuitShape {
    /// Reads a stored circuit, wherever it was extracted from.
    ///
    /// # Errors
    /// As [`StoredCircuit::open`] and [`StoredCircuit::shape`].
    pub fn read(file: &Path) -> Result<Self, Error> {
        StoredCircuit::open(file)?.shape()
    }
}

/// Words of eight bytes; nothing if the last is cut off.
fn words(bytes: &[u8]) -> Option<Vec<u64>> {
    let (words, rest) = bytes.as_chunks::<8>();
    rest.is_empty().then(|| words.iter().map(|word| u64::from_le_bytes(*word)).collect())
}

fn values(bytes: &[u8]) -> Option<Vec<Scalar>> {
    let (values, rest) = bytes.as_chunks::<VALUE_BYTES>();
    if !rest.is_empty() {
        return None;
    }
    values.iter().map(|value| Option::from(Scalar::from_bytes_le(value))).collect()
}

#[cfg(test)]
mod tests;
