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
    read_wtns_if(file, |_| Ok(()))
}

/// [`read_wtns`] of a file whose number of values is judged before they take memory.
pub(crate) fn read_wtns_if(
    file: &Path,
    judge: impl FnOnce(usize) -> Result<(), Error>,
) -> Result<SecretScalars, Error> {
    let sections = SectionFile::open(file, MAGIC, VERSION)?;
    let (header, header_offset) = sections.read_header(HEADER)?;
    let length = sections.section(VALUES, "the values")?.length;
    let count = read_count(Cursor::at(file, &header, header_offset), length)?;
    judge(count)?;
    let place = sections.section_of(VALUES, "the values", SCALAR_BYTES * count as u64)?;
    // One allocation, which is wiped: a growing one would leave copies of a witness behind.
    let values = Zeroizing::new(sections.read_small(place)?);
    read_values(Cursor::at(file, &values, place.offset), count)
}

/// Reads a file's bytes; `file` is its name in errors.
///
/// # Errors
/// As [`read_wtns`].
pub fn parse_wtns(file: &Path, bytes: &[u8]) -> Result<SecretScalars, Error> {
    let container = Container::open(file, bytes, MAGIC, VERSION)?;
    let header = container.section(HEADER, "the header")?;
    let values = container.section(VALUES, "the values")?;
    let count = read_count(header, values.left())?;
    read_values(values, count)
}

/// The number of values that a header states, which so many bytes can hold.
fn read_count(mut header: Cursor<'_>, bytes: u64) -> Result<usize, Error> {
    expect_bls12_381(&mut header)?;
    let at = header.offset();
    let count = header.u32("the number of values")?;
    expect_end(&header, "the header")?;
    header.check_count_in(bytes, at, u64::from(count), SCALAR_BYTES, "the number of values")
}

/// So many values, and nothing behind them.
fn read_values(mut section: Cursor<'_>, count: usize) -> Result<SecretScalars, Error> {
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
