//! PL0004: a value of the wrong kind, or outside its range.

use std::ops::RangeInclusive;

use super::{Check, Example, examples};
use crate::diagnostic::Diagnostic;
use crate::ron::Value;
use crate::source::Span;
use crate::words::{nearest, one_of};

/// The page.
pub const CHECK: Check = Check {
    code: "PL0004",
    name: "wrong-value",
    rule: "Every value is of the kind that its field takes, and inside its range.",
    why: "Names and amounts with a unit are strings (`\"all\"`, `\"6 GiB\"`), counts are whole numbers from 1, choices are \
          words (`Pack`).",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 1, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Packed) },
    stages: [
        Stage("synthesize", on: "all", workers: 0),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv")],
)"#,
    ),
    good: examples::SMALL,
    fix: "Write a value of the kind that the error names.",
    run: None,
};

/// Something else than was wanted; `name` is the field or the key that the value belongs to.
pub fn wanted(span: Span, name: Option<&str>, wanted: &str, found: &Value) -> Diagnostic {
    let title = of(span, name, format!("expected {wanted}, found {}", found.kind()));
    let takes_a_string = wanted.contains("a string") || wanted.contains("a backend's name");
    match found {
        Value::Word(word) if takes_a_string => title.help(format!("write it in quotes: \"{word}\"")),
        Value::Text(text)
            if wanted.contains(&format!("`{text}`")) || (wanted.contains("number") && text.parse::<u64>().is_ok()) =>
        {
            title.help(format!("write it without quotes: {text}"))
        }
        _ => title,
    }
}

/// A file of another kind where a graph should be.
pub fn not_a_graph(span: Span, kind: &str) -> Diagnostic {
    Diagnostic::error(CHECK.code, span, format!("this is {kind}, not a graph"))
        .help("give the file that begins with `Graph(`; it names its SKU and its catalogue")
}

fn of(span: Span, name: Option<&str>, message: String) -> Diagnostic {
    let title = name.map_or_else(|| message.clone(), |name| format!("`{name}`: {message}"));
    Diagnostic::error(CHECK.code, span, title)
}

/// A word that is none of those that make sense.
pub fn other_word(span: Span, name: Option<&str>, word: &str, known: &[&str]) -> Diagnostic {
    let found = of(span, name, format!("expected {}, found `{word}`", one_of(known.iter().copied())));
    match nearest(word, known.iter().copied()) {
        Some(meant) => found.help(format!("did you mean `{meant}`?")),
        None => found,
    }
}

/// An empty string.
pub fn empty(span: Span, name: Option<&str>) -> Diagnostic {
    of(span, name, "this string is empty".to_owned())
}

/// A number that is too small or too large.
pub fn out_of_range(span: Span, name: Option<&str>, found: u64, range: &RangeInclusive<u64>) -> Diagnostic {
    let (first, last) = (range.start(), range.end());
    of(span, name, format!("{found} is outside {first} to {last}"))
}

/// A list or a map of more items than make sense.
pub fn too_many(span: Span, name: Option<&str>, found: usize, limit: usize) -> Diagnostic {
    of(span, name, format!("{found} items are more than {limit}"))
}

/// A policy with an argument that it does not take.
pub fn not_its_argument(span: Span, found: &str, shown: &str) -> Diagnostic {
    Diagnostic::error(CHECK.code, span, format!("`policy`: \"{found}\" is not written as `{shown}`"))
        .help("SECONDS is a positive number, SEED a whole one")
}

/// A choice of CCDs that is none.
pub fn not_ccds(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error(CHECK.code, span, format!("\"{found}\" does not name CCDs"))
        .help("write `\"*\"` for all, or each once, counted from 0: `\"0-9\"`, `\"0,2,4-7\"`")
}

#[cfg(test)]
mod tests {
    use crate::checks::examples;
    use crate::checks::testing::{titles, with};

    #[test]
    fn kinds_are_named() {
        let of = |old, new| titles(&with(examples::SMALL, old, new));
        assert_eq!(
            of("sku: any", "sku: 7"),
            ["`sku`: expected `any`, or a SKU's name as a string, found the number 7"]
        );
        assert_eq!(
            of("\"mem_heavy\": 1", "\"mem_heavy\": 1.5"),
            ["`mem_heavy`: expected a whole number, found the number 1.5"]
        );
        assert_eq!(of("on: \"all\"", "on: all"), ["`on`: expected a string, found `all`"]);
        assert_eq!(of("\"*\"", "\"9-2\""), ["\"9-2\" does not name CCDs"]);
        assert_eq!(of("edges: [Edge(", "edges: [Egde("), ["expected `Edge`, found `Egde`"]);
        assert_eq!(of("\"mem_heavy\": 1", "\"mem_heavy\": 0"), ["`mem_heavy`: 0 is outside 1 to 65536"]);
    }
}
