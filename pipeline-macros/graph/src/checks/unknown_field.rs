//! PL0002: a field that its owner does not have.

use super::{Check, Example, examples};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::words::{listed, nearest};

/// The page.
pub const CHECK: Check = Check {
    code: "PL0002",
    name: "unknown-field",
    rule: "Every field is one that its owner has.",
    why: "An unknown field is never ignored: a misspelt `worker: 10` would run with one worker.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 1, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all", worker: 10),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv")],
)"#,
    ),
    good: examples::SMALL,
    fix: "Use the field that the error suggests, or remove it.",
    run: None,
};

/// A field with a name that does not exist.
pub fn report(span: Span, owner: &str, field: &str, known: &[&str]) -> Diagnostic {
    let found = Diagnostic::error(CHECK.code, span, format!("{} no field `{field}`", has(owner)));
    match nearest(field, known.iter().copied()) {
        Some(meant) => found.help(format!("did you mean `{meant}`?")),
        None => found.help(format!("there are {}", listed(known.iter().copied()))),
    }
}

/// More positional arguments than the owner takes.
pub fn extra(span: Span, owner: &str, known: &[&str]) -> Diagnostic {
    Diagnostic::error(CHECK.code, span, format!("{} no place for this value without a field name", has(owner)))
        .help(format!("write `field: value`; there are {}", listed(known.iter().copied())))
}

fn has(owner: &str) -> String {
    if owner.is_empty() { "this tuple has".to_owned() } else { format!("`{owner}` has") }
}

#[cfg(test)]
mod tests {
    use crate::checks::examples;
    use crate::checks::testing::{diagnostics, with};

    #[test]
    fn the_nearest_field_is_offered() {
        let found = diagnostics(&with(examples::SMALL, "sku: any", "sku: any, polices: \"x\""));
        assert_eq!(found[0].title, "`Graph` has no field `polices`");
        assert_eq!(found[0].help, ["did you mean `policy`?"]);
    }
}
