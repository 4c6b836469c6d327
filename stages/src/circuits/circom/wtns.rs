//! circom's `.wtns`: one value for each wire.

use std::path::Path;

use blstrs::Scalar;
use ff::Field;
use zeroize::Zeroizing;

use crate::error::Error;
use crate::iden3::{Container, Cursor, SCALAR_BYTES, SectionFile, expect_bls12_381, expect_end};
use crate::secret::SecretScalars;

const MAGIC: &str = "wtns";
const VERSION: u32 = 2;

const HEADER: u32 = 1;
const VALUES: u32 = 2;

/// Reads a file: the value of each wire, wire 0 (ONE) first.
///
/// # Errors
/// The file cannot be read, is cut off, damaged, over another field, or its wire 0 is not 1.
pub fn read_wtns(file: &Path) -> Result<SecretScalars, Error> {
    let sections = SectionFile::open(file, MAGIC, VERSION)?;
    let (header, header_offset) = sections.read_header(HEADER)?;
    let place = sections.section(VALUES, "the values")?;
    // One allocation, which is wiped: a growing one would leave copies of a witness behind.
    let values = Zeroizing::new(sections.read_small(place)?);
    from_sections(Cursor::at(file, &header, header_offset), Cursor::at(file, &values, place.offset))
}

/// Reads a file's bytes; `file` is its name in errors.
///
/// # Errors
/// As [`read_wtns`].
pub fn parse_wtns(file: &Path, bytes: &[u8]) -> Result<SecretScalars, Error> {
    let container = Container::open(file, bytes, MAGIC, VERSION)?;
    from_sections(container.section(HEADER, "the header")?, container.section(VALUES, "the values")?)
}

fn from_sections(mut header: Cursor<'_>, mut section: Cursor<'_>) -> Result<SecretScalars, Error> {
    expect_bls12_381(&mut header)?;
    let at = header.offset();
    let count = header.u32("the number of values")?;
    expect_end(&header, "the header")?;

    let count = section.check_count(at, u64::from(count), SCALAR_BYTES, "the number of values")?;
    let mut values = SecretScalars::zeros(count);
    let first = section.offset();
    for value in values.iter_mut() {
        *value = section.scalar("a wire's value")?;
    }
    expect_end(&section, "the values")?;
    if values.first() != Some(&Scalar::ONE) {
        return Err(section.malformed(first, "the value of wire 0 must be 1; the file is not a witness".to_owned()));
    }
    Ok(values)
}
