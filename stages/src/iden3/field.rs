//! Which field a file is over.

use blstrs::Scalar;
use ff::{Field, PrimeField};

use super::{Cursor, SCALAR_BYTES};
use crate::error::Error;

/// The prime of BN254's scalar field, little-endian: what circom uses when it is not told otherwise.
const BN254: [u8; 32] = [
    0x01, 0x00, 0x00, 0xf0, 0x93, 0xf5, 0xe1, 0x43, 0x91, 0x70, 0xb9, 0x79, 0x48, 0xe8, 0x33, 0x28, 0x5d, 0x58, 0x81,
    0x81, 0xb6, 0x45, 0x50, 0xb8, 0x29, 0xa0, 0x31, 0xe1, 0x72, 0x4e, 0x64, 0x30,
];

/// Reads a prime and its width and refuses every field but BLS12-381's scalars.
pub(crate) fn expect_bls12_381(header: &mut Cursor<'_>) -> Result<(), Error> {
    let wrong = |file: &std::path::Path, fault: String| Error::WrongField { file: file.to_owned(), fault };
    let width = header.u32("the width of a field element")?;
    if u64::from(width) != SCALAR_BYTES {
        let fault = format!("its elements have {width} bytes, those of BLS12-381 have {SCALAR_BYTES}");
        return Err(wrong(header.file(), fault));
    }
    let prime = header.bytes32("the field's prime")?;
    if prime == BN254 {
        let fault = "its prime is BN254's, circom's default; compile the circuit with `--prime bls12381` and compute \
                     the witness again";
        return Err(wrong(header.file(), fault.to_owned()));
    }
    // r - 1 is the only value whose successor is zero, so this compares with r without naming its digits.
    let before = (-Scalar::ONE).to_repr();
    let mut r = before;
    r[0] += 1;
    if prime != r {
        let digits: String = prime.iter().rev().map(|b| format!("{b:02x}")).collect();
        let fault = format!("its prime is 0x{digits}, which is not BLS12-381's r; compile with `--prime bls12381`");
        return Err(wrong(header.file(), fault));
    }
    Ok(())
}
