//! Commitments, identities and the two encodings of vanilla proofs.

use std::io::Cursor;
use std::path::Path;

use bincode::Options;
use filecoin_hashers::Domain;
use serde::de::DeserializeOwned;

use super::paths::is_element;
use crate::error::Error;

/// A commitment, an identity, a ticket, a seed or randomness.
pub type Bytes32 = [u8; 32];

/// 32 bytes from 64 hexadecimal digits. `what` is their name in errors.
///
/// # Errors
/// They are not 64 hexadecimal digits.
pub fn parse_hex(what: &str, text: &str) -> Result<Bytes32, Error> {
    let bad = |fault: String| Error::BadText(format!("{what}: {fault}"));
    let digits = text.strip_prefix("0x").unwrap_or(text);
    if let Some((at, wrong)) = digits.char_indices().find(|(_, digit)| !digit.is_ascii_hexdigit()) {
        return Err(bad(format!("`{wrong}` at position {at} is no hexadecimal digit")));
    }
    if digits.len() != 64 {
        return Err(bad(format!("{} hexadecimal digits, and 64 are needed (32 bytes)", digits.len())));
    }
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks(2)) {
        let value = |digit: u8| (digit as char).to_digit(16).unwrap_or_default() as u8;
        *byte = value(pair[0]) << 4 | value(pair[1]);
    }
    Ok(bytes)
}

/// 64 hexadecimal digits.
#[must_use]
pub fn to_hex(bytes: &Bytes32) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The identity of a miner as proofs have it: the number of its actor in LEB128, then zeros. `t01000`, `f01000` and `1000` are
/// the same.
///
/// # Errors
/// It is no number of an actor.
pub fn prover_id(miner: &str) -> Result<Bytes32, Error> {
    let digits = miner.strip_prefix("f0").or_else(|| miner.strip_prefix("t0")).unwrap_or(miner);
    let number: u64 = digits.parse().map_err(|_| {
        let fault = "the miner must be an actor's number or its address of the kind 0, as `f01000`";
        Error::BadText(format!("`{miner}`: {fault}"))
    })?;
    let mut bytes = [0; 32];
    let mut left = number;
    for byte in &mut bytes {
        *byte = (left & 0x7f) as u8;
        left >>= 7;
        if left == 0 {
            break;
        }
        *byte |= 0x80;
    }
    Ok(bytes)
}

/// A commitment as an element of the field.
pub(super) fn element<D: Domain>(what: &str, bytes: &Bytes32) -> Result<D, Error> {
    if *bytes == [0; 32] {
        return Err(Error::BadText(format!("{what} is zero, which no sector's is")));
    }
    // Their own reading does not look at the size.
    let read = is_element(bytes).then(|| D::try_from_bytes(bytes).ok()).flatten();
    read.ok_or_else(|| {
        let fault = "is not below the field's prime r: as an element of the field its last byte is at most 0x73";
        Error::BadText(format!("{what} {} {fault}", to_hex(bytes)))
    })
}

/// A value in bincode, all of the file.
pub(super) fn from_bincode<T: DeserializeOwned>(file: &Path, bytes: &[u8], what: &str) -> Result<T, Error> {
    let malformed = |offset: u64, fault: String| Error::Malformed { file: file.to_owned(), offset, fault };
    let mut cursor = Cursor::new(bytes);
    // As the network's crates write it; the limit keeps lengths within the file.
    let options = bincode::DefaultOptions::new().with_fixint_encoding().with_limit(bytes.len() as u64);
    let read = options.allow_trailing_bytes().deserialize_from(&mut cursor);
    let at = cursor.position();
    let value = read.map_err(|fault| malformed(at, format!("this is no {what}: {}", said(&fault))))?;
    match bytes.len() as u64 - at {
        0 => Ok(value),
        left => Err(malformed(at, format!("{left} bytes follow the end of the {what}; the file is of another kind"))),
    }
}

fn said(fault: &bincode::ErrorKind) -> String {
    match fault {
        bincode::ErrorKind::SizeLimit => "it ends too early, or a length in it is wrong".to_owned(),
        bincode::ErrorKind::Io(_) => "it ends too early".to_owned(),
        other => other.to_string(),
    }
}

/// A value in JSON.
pub(super) fn from_json<T: DeserializeOwned>(file: &Path, json: &[u8], what: &str) -> Result<T, Error> {
    serde_json::from_slice(json).map_err(|fault| {
        let before: usize =
            json.split_inclusive(|byte| *byte == b'\n').take(fault.line().max(1) - 1).map(<[u8]>::len).sum();
        let offset = (before + fault.column()).min(json.len()) as u64;
        let cause = if fault.is_eof() { "the file was cut off: " } else { "" };
        Error::Malformed { file: file.to_owned(), offset, fault: format!("this is no {what}: {cause}{fault}") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn miners_are_numbers_in_leb128() {
        for name in ["f01000", "t01000", "1000"] {
            let id = prover_id(name).unwrap();
            assert_eq!((id[0], id[1], &id[2..]), (0xe8, 0x07, &[0; 30][..]), "{name}");
        }
        assert_eq!(prover_id("0").unwrap(), [0; 32]);
        assert_eq!(prover_id(&u64::MAX.to_string()).unwrap()[..10], [255, 255, 255, 255, 255, 255, 255, 255, 255, 1]);
        for name in ["", "f1abc", "f0", "-1", "18446744073709551616"] {
            assert!(prover_id(name).is_err(), "{name}");
        }
    }

    #[test]
    fn hexadecimal_texts_are_read_back() {
        let bytes: Bytes32 = std::array::from_fn(|at| (at * 37) as u8);
        assert_eq!(parse_hex("seed", &to_hex(&bytes)).unwrap(), bytes);
        assert_eq!(parse_hex("seed", &format!("0x{}", to_hex(&bytes))).unwrap(), bytes);
        let refused = |text: &str| parse_hex("seed", text).unwrap_err().to_string();
        assert!(refused("12").contains("seed: 2 hexadecimal digits"));
        assert!(refused("1g").contains("`g` at position 1"));
    }
}
