//! PL0007: a name that nothing has.

use super::{Check, Example, examples};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::words::{listed, nearest};

/// The page.
pub const CHECK: Check = Check {
    code: "PL0007",
    name: "unknown-name",
    rule: "Every stage, port, pool, group, backend, tag and policy that a file names exists.",
    why: "Stages, ports, backends and tags come from the catalogue of implementations, pools and groups from the graph \
          itself, policies from the runtime.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 1, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "al"),
        Stage("spmv", on: "all", needs: { "memheavy": 1 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesise", "spmv")],
    policy: "oldest",
)"#,
    ),
    good: examples::SMALL,
    fix: "Use the name that the error suggests, or declare what you named.",
    run: None,
};

/// There is no `kind` of that name; `known` are those that there are.
pub fn report<'a>(kind: &str, span: Span, name: &str, known: impl IntoIterator<Item = &'a str>) -> Diagnostic {
    let known: Vec<&str> = known.into_iter().collect();
    let found = Diagnostic::error(CHECK.code, span, format!("there is no {kind} `{name}`"));
    match nearest(name, known.iter().copied()) {
        Some(meant) => found.help(format!("did you mean `{meant}`?")),
        None if known.is_empty() => found.help(format!("no {kind} is declared")),
        None => found.help(format!("there are {}", listed(known))),
    }
}

/// No entry has a name that one stage or several give; `known` are the names that there are.
pub fn of_entries(kind: &str, first: Span, others: &[Span], name: &str, known: &[&str]) -> Diagnostic {
    let found = report(kind, first, name, known.iter().copied());
    let found = others.iter().fold(found, |found, span| found.and(*span, "and here"));
    let guess = nearest(name, known.iter().copied());
    // One slip is a slip; the same name in several places was meant, and its entry is missing.
    let mut found = if others.is_empty() { found } else { found.help(format!("add it to `{kind}s`")) };
    if !others.is_empty() && guess.is_none() {
        found.help.rotate_right(1);
    }
    found
}

/// A stage has no port of that name.
pub fn port<'a>(span: Span, stage: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Diagnostic {
    Diagnostic { title: format!("stage `{stage}` has no port `{name}`"), ..report("port", span, name, known) }
}

/// A stage that exists, but not in this graph.
pub fn stage_not_in_graph(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(CHECK.code, span, format!("this graph has no stage `{name}`"))
        .help(format!("add `Stage(\"{name}\", …)` to `stages`"))
}

/// A stage that exists, but not on this backend.
pub fn no_implementation<'a>(
    span: Span,
    stage: &str,
    backend: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Diagnostic {
    Diagnostic::error(CHECK.code, span, format!("stage `{stage}` has no implementation on `{backend}`"))
        .help(format!("there are implementations on {}", listed(known)))
}

#[cfg(test)]
mod tests {
    use crate::checks::testing::diagnostics;

    #[test]
    fn all_of_them_in_one_pass_and_nothing_follows() {
        let found = diagnostics(super::CHECK.bad.text());
        let titles: Vec<&str> = found.iter().map(|found| found.title.as_str()).collect();
        assert_eq!(
            titles,
            [
                "there is no group `al`",
                "there is no pool `memheavy`",
                "there is no stage `synthesise`",
                "there is no policy `oldest`",
            ]
        );
        assert_eq!(found[2].help, ["did you mean `synthesize`?"]);
    }
}
