//! Public inputs as a text: snarkjs' `public.json`, or one number a line.

use blstrs::Scalar;

use super::decimal;
use crate::error::Error;

/// Reads public inputs: a JSON array of numbers in decimal, quoted or not, or plain decimal numbers, one a line.
/// The constant ONE is not among them.
///
/// # Errors
/// Something in it is no decimal number below the field's prime; its position is named, counted from 0.
pub fn parse_public_inputs(text: &str) -> Result<Vec<Scalar>, Error> {
    let text = text.trim();
    let items: Vec<&str> = match text.strip_prefix('[') {
        Some(rest) => {
            let inner = rest.strip_suffix(']').ok_or_else(|| {
                Error::BadText(
                    "the public inputs begin with `[` and do not end with `]`: the JSON is cut off".to_owned(),
                )
            })?;
            if inner.trim().is_empty() { Vec::new() } else { inner.split(',').map(unquoted).collect() }
        }
        None => text.lines().map(str::trim).filter(|line| !line.is_empty()).collect(),
    };
    let read = items.iter().enumerate().map(|(index, item)| {
        decimal::parse(item).ok_or_else(|| {
            Error::BadText(format!(
                "public input {index} (counted from 0) is `{}`: give a decimal number below the field's prime r",
                item.chars().take(90).collect::<String>().escape_debug()
            ))
        })
    });
    read.collect()
}

/// Writes public inputs as snarkjs' `public.json`.
#[must_use]
pub fn write_public_inputs(public: &[Scalar]) -> String {
    let items: Vec<String> = public.iter().map(|scalar| format!(" \"{}\"", decimal::show(scalar))).collect();
    match items.as_slice() {
        [] => "[]\n".to_owned(),
        items => format!("[\n{}\n]\n", items.join(",\n")),
    }
}

/// An item of a JSON array without its quotes.
fn unquoted(item: &str) -> &str {
    let item = item.trim();
    item.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(item)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        let numbers = [1u64, 2, 3].map(Scalar::from);
        for text in [
            "[\"1\",\"2\",\"3\"]",
            "[1, 2, 3]",
            "1\n2\n\n3\n",
            " [ \"1\" , 2,\n3 ] ",
            "[\n \"1\",\n \"2\",\n \"3\"\n]\n",
        ] {
            assert_eq!(parse_public_inputs(text).unwrap(), numbers, "{text:?}");
        }
        for text in ["", "[]", "[ ]\n"] {
            assert_eq!(parse_public_inputs(text).unwrap(), [], "{text:?}");
        }
    }

    #[test]
    fn what_was_written_is_read() {
        for public in [vec![], vec![Scalar::from(7)], vec![Scalar::from(7), -Scalar::from(7)]] {
            assert_eq!(parse_public_inputs(&write_public_inputs(&public)).unwrap(), public);
        }
    }

    #[test]
    fn the_faulty_one_is_named() {
        for (text, position) in [("[1,x]", "1"), ("1\n2\n0x3", "2"), ("[1,,2]", "1"), ("[\"1]", "0")] {
            let error = parse_public_inputs(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("public input {position} ")), "{text:?}: {error}");
        }
        assert!(parse_public_inputs("[1,2").is_err());
    }
}
