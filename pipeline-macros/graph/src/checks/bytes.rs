//! PL0009: a number of bytes that cannot be read.

use super::{Check, Example};
use crate::diagnostic::Diagnostic;
use crate::model::SIZES;
use crate::source::Span;
use crate::words::{listed, nearest};

/// The page.
pub const CHECK: Check = Check {
    code: "PL0009",
    name: "bytes",
    rule: "Bytes are an amount with its unit, or a sum of terms over the sizes of the circuit and the tokens.",
    why: "Amounts: `\"6 GiB\"`, `\"1.5 MiB\"`, `\"80 GB\"`. Formulas, in `holds` and `workspace`: `\"Witness\"` (one token of that \
          kind), `\"32 * aux + 1 MiB\"`, `\"2 * Witness\"`. The sizes are constraints, aux, inputs, domain, a_density and \
          b_density. Bandwidths have `/s` behind them.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 1, "dealloc": 1, "ram": "16 gigs" },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all", holds: { "ram": "2 * Witnes" }),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv")],
)"#,
    ),
    good: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 1, "dealloc": 1, "ram": "16 GiB" },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all", holds: { "ram": "2 * Witness" }),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv")],
)"#,
    ),
    fix: "Write the amount with a unit that exists, or a formula of terms that exist.",
    run: None,
};

const UNITS: &str = "the units are B, KiB, MiB, GiB, TiB, kB, MB, GB and TB";

/// Not an amount.
pub fn not_an_amount(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error(CHECK.code, span, format!("\"{found}\" is no number of bytes"))
        .help(format!("write \"16 GiB\"; {UNITS}"))
}

/// What bytes are of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// A pool, which may count permits instead.
    Pool,
    /// A machine's memory.
    Memory,
    /// A machine's cache.
    Cache,
}

impl Wanted {
    /// The unit that is meant where none is written.
    fn unit(self) -> &'static str {
        if self == Self::Cache { "MiB" } else { "GiB" }
    }
}

/// An amount without its unit: a count in quotes, or bytes whose unit was forgotten.
pub fn no_unit(span: Span, found: &str, wanted: Wanted) -> Diagnostic {
    let permits = if wanted == Wanted::Pool {
        format!("to count permits, write {found} without quotes; for bytes, ")
    } else {
        String::new()
    };
    Diagnostic::error(CHECK.code, span, format!("\"{found}\" is a number of bytes without a unit"))
        .help(format!("{permits}write \"{found} {}\"; {UNITS}", wanted.unit()))
}

/// A number where bytes with their unit should be.
pub fn no_quotes(span: Span, name: Option<&str>, found: &str, unit: &str) -> Diagnostic {
    let name = name.map_or_else(String::new, |name| format!("`{name}`: "));
    Diagnostic::error(CHECK.code, span, format!("{name}{found} is a number without a unit"))
        .help(format!("write \"{found} {unit}\"; {UNITS}"))
}

/// The same, in the unit that is likely meant.
pub fn no_quotes_of(span: Span, name: Option<&str>, found: &str, wanted: Wanted) -> Diagnostic {
    no_quotes(span, name, found, wanted.unit())
}

/// Not a bandwidth.
pub fn not_a_bandwidth(span: Span, found: &str) -> Diagnostic {
    let meant = if found.trim().parse::<f64>().is_ok_and(|number| number > 0.0 && number.is_finite()) {
        found.trim()
    } else {
        "80"
    };
    Diagnostic::error(CHECK.code, span, format!("\"{found}\" is no bandwidth"))
        .help(format!("write \"{meant} GB/s\"; {UNITS}"))
}

/// A term of a formula that is none.
pub fn not_a_term(span: Span, term: &str) -> Diagnostic {
    Diagnostic::error(CHECK.code, span, format!("`{term}` is no term of a formula of bytes"))
        .help(format!("a formula is a sum of terms like `6 GiB`, `32 * aux` or `2 * Witness`; {UNITS}"))
}

/// A word of a formula that is neither a size nor a token.
pub fn unknown_word(span: Span, word: &str, tokens: &[&str]) -> Diagnostic {
    let found = Diagnostic::error(CHECK.code, span, format!("`{word}` is neither a size nor a token"));
    match nearest(word, SIZES.into_iter().chain(tokens.iter().copied())) {
        Some(meant) => found.help(format!("did you mean `{meant}`?")),
        None if tokens.is_empty() => found.help(format!("the sizes are {}", listed(SIZES))),
        None => {
            found.help(format!("the sizes are {}; the tokens are {}", listed(SIZES), listed(tokens.iter().copied())))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::checks::contradiction;
    use crate::checks::testing::{diagnostics, diagnostics_of_sku, with};

    #[test]
    fn a_machine_s_numbers_count_no_permits() {
        for (old, new, help) in [
            ("\"128 GiB\"", "\"256\"", "write \"256 GiB\"; "),
            ("\"128 GiB\"", "256", "write \"256 GiB\"; "),
            ("\"32 MiB\"", "\"16\"", "write \"16 MiB\"; "),
            ("\"32 MiB\"", "16", "write \"16 MiB\"; "),
            ("\"139.8 GiB\"", "\"141\"", "write \"141 GiB\"; "),
            ("\"204.8 GB/s\"", "\"204.8\"", "write \"204.8 GB/s\"; "),
            ("\"204.8 GB/s\"", "204", "write \"204 GB/s\"; "),
        ] {
            let text = with(contradiction::CHECK.good, old, new);
            let found = diagnostics_of_sku(&text);
            assert!(found.len() == 1 && found[0].help[0].starts_with(help), "{new}: {found:?}");
            let advice = found[0].help[0].split('"').nth(1).expect("an amount in quotes");
            assert_eq!(
                diagnostics_of_sku(&with(contradiction::CHECK.good, old, &format!("\"{advice}\""))),
                [],
                "{new}"
            );
        }
    }

    #[test]
    fn a_pool_may_have_meant_either() {
        let found = diagnostics(&with(super::CHECK.good, "\"16 GiB\"", "\"16\""));
        assert!(found[0].help[0].starts_with("to count permits, write 16 without quotes; for bytes, write \"16 GiB\""));
    }
}
