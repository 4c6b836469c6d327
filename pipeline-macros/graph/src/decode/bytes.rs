//! Byte formulas: `"6 GiB"`, `"32 * inputs + 32 * aux"`, `"2 * Witness + 1 MiB"`.

use super::fields::Decoder;
use crate::checks::bytes::{self as faults, Wanted};
use crate::checks::values;
use crate::model::{Expression, Linear, SIZES, Term};
use crate::ron::{Node, Value};
use crate::source::At;

/// The units, in bytes.
const UNITS: [(&str, u64); 9] = [
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
];

impl Decoder<'_> {
    /// A fixed number of bytes, as a string with its unit.
    fn bytes(&mut self, node: &Node, wanted: Wanted) -> Option<At<u64>> {
        if let Some(number) = node.value.integer() {
            self.report.add(faults::no_quotes_of(node.span, self.name(node), &number.to_string(), wanted));
            return None;
        }
        let text = self.text(node)?;
        let stated = text.value.trim();
        let has_unit = stated.ends_with(|letter: char| letter.is_alphabetic());
        let bytes = amount(stated).filter(|_| has_unit);
        if bytes.is_none() {
            self.report.add(if amount(stated).is_some() {
                faults::no_unit(text.span, stated, wanted)
            } else {
                faults::not_an_amount(text.span, stated)
            });
        }
        bytes.map(|value| At { value, span: text.span })
    }

    /// A fixed number of bytes between two others, as a string with its unit.
    pub fn bytes_within(&mut self, node: &Node, wanted: Wanted, [first, last]: [&str; 2]) -> Option<At<u64>> {
        let bytes = self.bytes(node, wanted)?;
        self.within(node, bytes, "", [first, last])
    }

    /// A number of bytes a second between two others, as a string with its unit.
    pub fn bandwidth(&mut self, node: &Node, [first, last]: [&str; 2]) -> Option<At<u64>> {
        if let Some(number) = node.value.integer() {
            self.report.add(faults::no_quotes(node.span, self.name(node), &number.to_string(), "GB/s"));
            return None;
        }
        let text = self.text(node)?;
        let Some(value) = text.value.trim().strip_suffix("/s").and_then(amount) else {
            self.report.add(faults::not_a_bandwidth(text.span, &text.value));
            return None;
        };
        self.within(node, At { value, span: text.span }, "/s", [first, last])
    }

    fn within(&mut self, node: &Node, found: At<u64>, behind: &str, ends: [&str; 2]) -> Option<At<u64>> {
        let [first, last] = ends.map(|end| amount(end.strip_suffix(behind).unwrap_or(end)));
        let fits = first.is_none_or(|first| first <= found.value) && last.is_none_or(|last| found.value <= last);
        if fits {
            return Some(found);
        }
        let Value::Text(stated) = &node.value else { return None };
        self.report.add(values::amount_out_of_range(found.span, self.name(node), stated, ends));
        None
    }

    /// A formula.
    pub fn expression(&mut self, node: &Node) -> Option<At<Expression>> {
        let text = self.text(node)?;
        match expression(&text.value) {
            Ok(value) => Some(At { value, span: text.span }),
            Err(term) => {
                self.report.add(faults::not_a_term(text.span, term.trim()));
                None
            }
        }
    }

    /// A formula without tokens.
    pub fn linear(&mut self, node: &Node) -> Option<Linear> {
        let expression = self.expression(node)?;
        let mut sum = Linear::default();
        for term in &expression.value.0 {
            match term {
                Term::Bytes(bytes) => sum = sum.plus(&Linear { fixed: *bytes, per: [0; 6] }, 1),
                Term::Size(factor, size) => sum.per[*size] = sum.per[*size].saturating_add(*factor),
                Term::Token(_, word) => {
                    self.report.add(faults::unknown_word(expression.span, word, &[]));
                    return None;
                }
            }
        }
        Some(sum)
    }
}

/// Parses a formula; the error is the term that makes no sense.
fn expression(text: &str) -> Result<Expression, &str> {
    text.split('+').map(|part| term(part).ok_or(part)).collect::<Result<Vec<Term>, &str>>().map(Expression)
}

/// `6 GiB`, `32`, `aux`, `32 * aux`, `2 * Witness`.
fn term(text: &str) -> Option<Term> {
    let mut factor: u64 = 1;
    let mut word = None;
    for part in text.split('*') {
        let part = part.trim();
        if part.starts_with(|letter: char| letter.is_ascii_digit()) {
            factor = factor.checked_mul(amount(part)?)?;
        } else if word.is_none() && is_word(part) {
            word = Some(part);
        } else {
            return None;
        }
    }
    Some(match word {
        None => Term::Bytes(factor),
        Some(word) => match SIZES.iter().position(|size| *size == word) {
            Some(size) => Term::Size(factor, size),
            None => Term::Token(factor, word.to_owned()),
        },
    })
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}

/// `64`, `6 GiB`, `1.5 GiB`: whole bytes, rounded down.
#[must_use]
pub fn amount(text: &str) -> Option<u64> {
    let end = text.find(|letter: char| letter.is_alphabetic() || letter.is_whitespace()).unwrap_or(text.len());
    let (digits, unit) = (text[..end].replace('_', ""), text[end..].trim());
    let unit = if unit.is_empty() { 1 } else { UNITS.iter().find(|(name, _)| *name == unit)?.1 };
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let whole = whole.parse::<u64>().ok()?.checked_mul(unit)?;
    if fraction.is_empty() {
        return Some(whole);
    }
    // Nine digits are more than any unit here can resolve sensibly, and keep the product inside 128 bits.
    if fraction.len() > 9 || unit == 1 {
        return None;
    }
    let scaled = u128::from(fraction.parse::<u64>().ok()?) * u128::from(unit);
    let part = scaled / 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    whole.checked_add(u64::try_from(part).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts() {
        assert_eq!(amount("64"), Some(64));
        assert_eq!(amount("6 GiB"), Some(6 << 30));
        assert_eq!(amount("6GiB"), Some(6 << 30));
        assert_eq!(amount("1.5 GiB"), Some(3 << 29));
        assert_eq!(amount("1_000 kB"), Some(1_000_000));
        for wrong in ["", "GiB", "6 gib", "6 GiB GiB", "1.5", "-1 GiB", "99999999999 TiB", "1.0000000001 GiB"] {
            assert_eq!(amount(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn expressions() {
        assert_eq!(
            expression("32 * inputs + aux*2+Witness + 1 KiB"),
            Ok(Expression(vec![
                Term::Size(32, 2),
                Term::Size(2, 1),
                Term::Token(1, "Witness".to_owned()),
                Term::Bytes(1024)
            ]))
        );
        for (wrong, term) in [("", ""), ("1 +", ""), ("aux * aux", "aux * aux"), ("2 - 1", "2 - 1"), ("(aux)", "(aux)")]
        {
            assert_eq!(expression(wrong), Err(term), "{wrong}");
        }
    }
}
