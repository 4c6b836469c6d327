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

/// An amount without its unit: a count in quotes, or bytes whose unit was forgotten.
pub fn no_unit(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error(CHECK.code, span, format!("\"{found}\" is a number of bytes without a unit"))
        .help(format!("to count permits, write {found} without quotes; for bytes, write \"{found} GiB\"; {UNITS}"))
}

/// Not a bandwidth.
pub fn not_a_bandwidth(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error(CHECK.code, span, format!("\"{found}\" is no bandwidth"))
        .help(format!("write \"80 GB/s\"; {UNITS}"))
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
