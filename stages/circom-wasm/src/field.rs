//! Elements of BLS12-381's scalar field as they stand in files: canonical, four 64-bit limbs, the least first.

/// An element: an integer below [`MODULUS`], limb 0 the least significant.
pub type Element = [u64; 4];

/// r, the order of BLS12-381's groups.
pub const MODULUS: Element =
    [0xffff_ffff_0000_0001, 0x53bd_a402_fffe_5bfe, 0x3339_d808_09a1_d805, 0x73ed_a753_299d_7d48];

/// The order of BN254's groups, which is circom's default prime.
const BN254: Element = [0x43e1_f593_f000_0001, 0x2833_e848_79b9_7091, 0xb850_45b6_8181_585d, 0x3064_4e72_e131_a029];

/// r in decimal, for messages.
pub const MODULUS_TEXT: &str = "52435875175126190479447740508185965837690552500527637822603658699938581184513";

/// Why a text is not an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotAnElement {
    /// It is not an integer.
    NotAnInteger,
    /// Its magnitude is r or more.
    TooLarge,
}

/// Whether the integer is below r.
#[must_use]
pub fn is_canonical(value: &Element) -> bool {
    value.iter().rev().cmp(MODULUS.iter().rev()).is_lt()
}

/// Reads an integer: decimal with an optional sign, or `0x`, `0o`, `0b` without one. Negative values are taken mod r.
///
/// # Errors
///
/// What is not an integer, and what is r or more, or -r or less.
pub fn parse(text: &str) -> Result<Element, NotAnElement> {
    let (negative, digits) = match text.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        all => (false, all),
    };
    let signed = digits.len() != text.len();
    let (radix, digits) = match digits {
        [b'0', b'x' | b'X', rest @ ..] if !signed => (16, rest),
        [b'0', b'o' | b'O', rest @ ..] if !signed => (8, rest),
        [b'0', b'b' | b'B', rest @ ..] if !signed => (2, rest),
        all => (10, all),
    };
    if digits.is_empty() || !digits.iter().all(|digit| char::from(*digit).is_digit(radix)) {
        return Err(NotAnElement::NotAnInteger);
    }
    let mut value = [0; 4];
    for digit in digits {
        let digit = char::from(*digit).to_digit(radix).unwrap_or_default();
        // Stops at the first digit too many, so that a text of any length costs no more than a short one.
        value = times_plus(value, radix, digit).filter(is_canonical).ok_or(NotAnElement::TooLarge)?;
    }
    Ok(if negative { negated(value) } else { value })
}

/// `value · factor + term`, or nothing if it has more than 256 bits.
fn times_plus(value: Element, factor: u32, term: u32) -> Option<Element> {
    let mut out = [0; 4];
    let mut carry = u64::from(term);
    for (limb, out) in value.into_iter().zip(&mut out) {
        let wide = u128::from(limb) * u128::from(factor) + u128::from(carry);
        *out = wide as u64;
        carry = (wide >> 64) as u64;
    }
    (carry == 0).then_some(out)
}

/// `-value` mod r, of a canonical value.
fn negated(value: Element) -> Element {
    if value == [0; 4] {
        return value;
    }
    let mut out = [0; 4];
    let mut borrow = false;
    for (i, out) in out.iter_mut().enumerate() {
        let (difference, first) = MODULUS[i].overflowing_sub(value[i]);
        let (difference, second) = difference.overflowing_sub(u64::from(borrow));
        *out = difference;
        borrow = first | second;
    }
    out
}

/// The value in decimal.
#[must_use]
pub fn to_decimal(value: &Element) -> String {
    const CHUNK: u64 = 10_000_000_000_000_000_000;
    let mut rest = *value;
    let mut chunks = Vec::new();
    while rest != [0; 4] {
        let mut remainder = 0;
        for limb in rest.iter_mut().rev() {
            let wide = u128::from(remainder) << 64 | u128::from(*limb);
            *limb = (wide / u128::from(CHUNK)) as u64;
            remainder = (wide % u128::from(CHUNK)) as u64;
        }
        chunks.push(remainder);
    }
    let Some(first) = chunks.pop() else { return "0".to_owned() };
    chunks.iter().rev().fold(first.to_string(), |text, chunk| format!("{text}{chunk:019}"))
}

/// The eight 32-bit words of a value, the least first: how a calculator passes it.
#[must_use]
pub fn to_words(value: &Element) -> [u32; 8] {
    std::array::from_fn(|i| (value[i / 2] >> (32 * (i % 2))) as u32)
}

/// The value of eight 32-bit words, the least first.
#[must_use]
pub fn from_words(words: &[u32; 8]) -> Element {
    std::array::from_fn(|i| u64::from(words[2 * i]) | u64::from(words[2 * i + 1]) << 32)
}

/// What to say about a circuit over this prime, or nothing if it is r.
#[must_use]
pub fn wrong_field(prime: &Element) -> Option<String> {
    const ADVICE: &str = "compile it again with `circom --prime bls12381`, and give the `.r1cs` and the key of that \
                          compilation too";
    if *prime == MODULUS {
        None
    } else if *prime == BN254 {
        Some(format!(
            "it calculates over BN254 (circom's default prime, also called bn128), and proofs here are over BLS12-381: {ADVICE}"
        ))
    } else {
        Some(format!("it calculates modulo {}, and proofs here are over BLS12-381: {ADVICE}", to_decimal(prime)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_all_radixes_are_read() {
        assert_eq!(parse("0"), Ok([0; 4]));
        assert_eq!(parse("007"), Ok([7, 0, 0, 0]));
        assert_eq!(parse("+12"), Ok([12, 0, 0, 0]));
        assert_eq!(parse("0xFf"), Ok([255, 0, 0, 0]));
        assert_eq!(parse("0b101"), Ok([5, 0, 0, 0]));
        assert_eq!(parse("0o17"), Ok([15, 0, 0, 0]));
        assert_eq!(parse("18446744073709551616"), Ok([0, 1, 0, 0]));
        assert_eq!(parse("9007199254740993"), Ok([9_007_199_254_740_993, 0, 0, 0]));
    }

    #[test]
    fn the_range_ends_at_r_on_both_sides() {
        let last = [MODULUS[0] - 1, MODULUS[1], MODULUS[2], MODULUS[3]];
        assert_eq!(parse("-1"), Ok(last));
        assert_eq!(parse(&to_decimal(&last)), Ok(last));
        assert_eq!(parse(&format!("-{}", to_decimal(&last))), Ok([1, 0, 0, 0]));
        assert_eq!(parse(MODULUS_TEXT), Err(NotAnElement::TooLarge));
        assert_eq!(parse(&format!("-{MODULUS_TEXT}")), Err(NotAnElement::TooLarge));
        assert_eq!(parse("-0"), Ok([0; 4]));
        assert_eq!(to_decimal(&MODULUS), MODULUS_TEXT);
        assert_eq!(parse(&"9".repeat(1_000_000)), Err(NotAnElement::TooLarge));
        assert_eq!(parse(&format!("0x{}1", "0".repeat(1000))), Ok([1, 0, 0, 0]));
        assert_eq!(parse(&format!("0x1{}", "0".repeat(64))), Err(NotAnElement::TooLarge));
    }

    #[test]
    fn what_is_no_integer_is_refused() {
        for text in ["", "-", "+", "0x", "-0x1", "1.0", "1e3", " 1", "1 ", "--1", "0xg", "0b2", "١", "1_000", "NaN"] {
            assert_eq!(parse(text), Err(NotAnElement::NotAnInteger), "{text:?}");
        }
    }

    #[test]
    fn decimal_text_keeps_the_zeros_inside() {
        assert_eq!(to_decimal(&[0; 4]), "0");
        assert_eq!(to_decimal(&[10_000_000_000_000_000_001, 0, 0, 0]), "10000000000000000001");
        assert_eq!(to_decimal(&[0, 1, 0, 0]), "18446744073709551616");
    }

    #[test]
    fn words_and_limbs_are_the_same_value() {
        let value = [0x0000_0002_0000_0001, 0x0000_0004_0000_0003, 0x0000_0006_0000_0005, 0x0000_0008_0000_0007];
        assert_eq!(to_words(&value), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(from_words(&[1, 2, 3, 4, 5, 6, 7, 8]), value);
    }

    #[test]
    fn the_wrong_field_is_named() {
        assert_eq!(wrong_field(&MODULUS), None);
        assert!(wrong_field(&BN254).is_some_and(|text| text.contains("BN254") && text.contains("--prime bls12381")));
        assert!(wrong_field(&[7, 0, 0, 0]).is_some_and(|text| text.contains("modulo 7,")));
    }
}
