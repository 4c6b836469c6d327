//! What files take in memory when they are read, known before they are.

use std::path::Path;

use proofline_stages::params::resident::{Resident, files_of};
use proofline_stages::{CircuitShape, Error};

/// The most memory that a [`ProvingKey`](crate::ProvingKey) takes which is read from this path: a key file, a folder with one,
/// or a converted key. A converted key's header tells; another file has its points as long as they are in memory, so that its
/// length is the bound (a `.zkey` has its circuit beside them), but is read in full before it is brought into that form.
///
/// # Errors
/// The file cannot be read; a converted key's header was altered.
pub fn bytes_of_key(path: &Path) -> Result<u64, Error> {
    let (file, converted) = files_of(path);
    if !converted.exists() {
        return bytes_of_file(&file);
    }
    Ok(Resident::open(&converted)?.loaded_bytes())
}

/// What the matrices of a stored circuit take that is read from this file: its length. Tables of the transforms and of the
/// queries' variables come to it, which the circuit knows when it is there.
///
/// # Errors
/// The file cannot be read.
pub fn bytes_of_circuit(file: &Path) -> Result<u64, Error> {
    bytes_of_file(file)
}

/// What a key takes while it is made: of each variable its points in four queries and their exponents, of each power of τ a point
/// and an exponent, uncompressed.
#[must_use]
pub fn bytes_of_new_key(shape: &CircuitShape) -> u64 {
    const G1: u64 = 96;
    const G2: u64 = 192;
    const EXPONENT: u64 = 32;
    let (variables, powers) = (shape.variables() as u64, shape.domain().size() as u64);
    variables * (3 * G1 + G2 + 3 * EXPONENT) + powers * (G1 + EXPONENT)
}

fn bytes_of_file(file: &Path) -> Result<u64, Error> {
    let metadata = std::fs::metadata(file);
    Ok(metadata.map_err(|source| Error::Io { action: "read", file: file.to_owned(), source })?.len())
}

#[cfg(test)]
mod tests {
    use proofline_stages::params::setup::{Entropy, generate};
    use proofline_stages::params::{PARAMS_FILE, ProvingKey, resident};
    use proofline_stages::progress::unwatched;

    use super::*;

    #[test]
    fn a_converted_key_takes_what_its_header_says_and_no_key_takes_more_than_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let shape = CircuitShape::from_builtin("sha256:1").unwrap();
        generate(&shape, &Entropy::Seed("foreseen"), &unwatched).unwrap().write(folder.path()).unwrap();
        let bytes = || ProvingKey::read(folder.path(), &unwatched).unwrap().bytes();
        let bound = bytes_of_key(folder.path()).unwrap();
        assert!(bytes() <= bound, "{} of {bound}", bytes());
        resident::convert(folder.path(), &unwatched).unwrap();
        assert_eq!(bytes_of_key(folder.path()).unwrap(), bytes());
        std::fs::remove_file(folder.path().join(PARAMS_FILE)).unwrap();
        assert_eq!(bytes_of_key(folder.path()).unwrap(), bytes(), "without its source");
        let gone = bytes_of_key(&folder.path().join("gone")).unwrap_err();
        assert!(gone.to_string().contains("gone"), "{gone}");
    }
}
