//! Numbers of many digits, as people and snarkjs write them.

use blstrs::Scalar;

/// The largest power of ten in a limb.
const TEN_TO_19: u128 = 10_000_000_000_000_000_000;

/// Reads a decimal number below r.
pub(super) fn parse(digits: &str) -> Option<Scalar> {
    Scalar::from_u64s_le(&parse_limbs(digits)?).into()
}

/// Writes a scalar as a decimal number.
pub(super) fn show(scalar: &Scalar) -> String {
    show_bytes(&scalar.to_bytes_be())
}

/// Reads a decimal number that fits into so many limbs, the lowest first.
pub(super) fn parse_limbs<const N: usize>(digits: &str) -> Option<[u64; N]> {
    read_limbs(digits, 10)
}

/// Reads a hexadecimal number, without `0x`, that fits into so many limbs, the lowest first.
pub(super) fn parse_hex_limbs<const N: usize>(digits: &str) -> Option<[u64; N]> {
    read_limbs(digits, 16)
}

fn read_limbs<const N: usize>(digits: &str, base: u32) -> Option<[u64; N]> {
    // A digit carries more than three bits: longer texts do not fit, leading zeros apart, which nobody writes.
    if digits.is_empty() || digits.len() > N * 64 {
        return None;
    }
    let mut limbs = [0u64; N];
    for digit in digits.chars() {
        let mut carry = u128::from(digit.to_digit(base)?);
        for limb in &mut limbs {
            let wide = u128::from(*limb) * u128::from(base) + carry;
            *limb = wide as u64;
            carry = wide >> 64;
        }
        if carry != 0 {
            return None;
        }
    }
    Some(limbs)
}

/// Writes a number, given as big-endian bytes, a multiple of eight, as a decimal number.
pub(super) fn show_bytes(bytes: &[u8]) -> String {
    let mut limbs: Vec<u64> =
        bytes.chunks_exact(8).map(|limb| limb.iter().fold(0, |n, b| n << 8 | u64::from(*b))).collect();
    let mut pieces = Vec::new();
    while limbs.iter().any(|limb| *limb != 0) {
        let mut rest = 0u128;
        for limb in &mut limbs {
            let wide = rest << 64 | u128::from(*limb);
            *limb = (wide / TEN_TO_19) as u64;
            rest = wide % TEN_TO_19;
        }
        pieces.push(rest);
    }
    let Some(first) = pieces.pop() else {
        return "0".to_owned();
    };
    pieces.iter().rev().fold(first.to_string(), |text, piece| format!("{text}{piece:019}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ff::Field;

    const MINUS_ONE: &str = "52435875175126190479447740508185965837690552500527637822603658699938581184512";
    const R: &str = "52435875175126190479447740508185965837690552500527637822603658699938581184513";

    #[test]
    fn numbers_survive_the_way_there_and_back() {
        for text in ["0", "1", "10000000000000000000", "18446744073709551616", MINUS_ONE] {
            assert_eq!(parse(text).map(|scalar| show(&scalar)).as_deref(), Some(text));
        }
        assert_eq!(parse(MINUS_ONE), Some(-Scalar::ONE));
    }

    #[test]
    fn what_is_no_scalar_is_refused() {
        for text in ["", "-1", "0x10", "1 ", R, &"9".repeat(77), &"1".repeat(78), &"9".repeat(300), "١"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn limbs_hold_what_fits() {
        assert_eq!(parse_limbs::<1>("18446744073709551615"), Some([u64::MAX]));
        assert_eq!(parse_limbs::<1>("18446744073709551616"), None);
        assert_eq!(parse_hex_limbs::<2>("1ffffffffffffffff"), Some([u64::MAX, 1]));
        assert_eq!(parse_hex_limbs::<1>("xyz"), None);
        assert_eq!(show_bytes(&[0xff; 16]), u128::MAX.to_string());
    }
}
