//! Scalars as people and snarkjs write them.

use blstrs::Scalar;

/// The digits of r.
const MOST_DIGITS: usize = 77;
/// The largest power of ten in a limb.
const TEN_TO_19: u128 = 10_000_000_000_000_000_000;

/// Reads a decimal number below r.
pub(super) fn parse(digits: &str) -> Option<Scalar> {
    if digits.is_empty() || digits.len() > MOST_DIGITS {
        return None;
    }
    // 10^77 is below 2^256, so the limbs do not overflow.
    let mut limbs = [0u64; 4];
    for digit in digits.bytes() {
        if !digit.is_ascii_digit() {
            return None;
        }
        let mut carry = u128::from(digit - b'0');
        for limb in &mut limbs {
            let wide = u128::from(*limb) * 10 + carry;
            *limb = wide as u64;
            carry = wide >> 64;
        }
    }
    Scalar::from_u64s_le(&limbs).into()
}

/// Writes a scalar as a decimal number.
pub(super) fn show(scalar: &Scalar) -> String {
    let bytes = scalar.to_bytes_be();
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
        for text in ["", "-1", "0x10", "1 ", R, &"9".repeat(77), &"1".repeat(78)] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
