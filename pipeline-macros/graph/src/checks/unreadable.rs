//! PL0006: a file that cannot be read.

use super::{Check, Example, examples};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::words::{listed, nearest};

/// The page.
pub const CHECK: Check = Check {
    code: "PL0006",
    name: "unreadable",
    rule: "The SKU that a graph names is a file `skus/NAME.ron` beside it, and every file is readable UTF-8.",
    why: "A SKU is a machine in numbers; the checks of memory and placement compare the graph with it.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: "smal",
    pools: { "mem_heavy": 1, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all"),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv")],
)"#,
    ),
    good: examples::SMALL,
    fix: "Name a SKU that exists, write its file, or write `sku: any` to take the machine as it is found.",
    run: None,
};

/// The SKU's file is not there.
pub fn no_sku(span: Span, name: &str, looked_for: &str, known: &[String]) -> Diagnostic {
    let found = Diagnostic::error(CHECK.code, span, format!("there is no SKU \"{name}\""))
        .here(format!("looked for {looked_for}"));
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    match nearest(name, known.iter().copied()) {
        Some(meant) => found.help(format!("did you mean \"{meant}\"?")),
        None => found.help(format!("there are {}; or write `sku: any`", listed(known))),
    }
}

/// The graph's file is there and is no text.
pub fn graph(span: Span, shown: &str, error: &std::io::Error) -> Diagnostic {
    Diagnostic::error(CHECK.code, span, format!("cannot read {shown}: {error}"))
        .help("a graph is a text file in UTF-8, a few KiB long")
}

/// A name that would lead out of the folder of the SKUs.
pub fn not_a_sku_name(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(CHECK.code, span, format!("\"{name}\" is no name of a SKU"))
        .help("a name has letters, digits, `_`, `-` and `.`, the last not in front; its file is `skus/NAME.ron`")
}

/// A path that leads out of the folders of the graphs.
pub fn catalogue_elsewhere(span: Span, path: &str) -> Diagnostic {
    Diagnostic::error(CHECK.code, span, format!("the catalogue \"{path}\" is not in the folder of the graphs"))
        .help("write a path from the graph file, at most one step back: `catalogues/own.ron`, `../catalogues/own.ron`")
}

/// The SKU's file is there and cannot be read.
pub fn sku(span: Span, path: &str, error: &std::io::Error) -> Diagnostic {
    Diagnostic::error(CHECK.code, span, format!("cannot read the SKU file {path}: {error}"))
}

/// A catalogue that a graph names and that cannot be read.
pub fn catalogue(span: Span, shown: &str, why: &str) -> Diagnostic {
    Diagnostic::error(CHECK.code, span, format!("cannot read the catalogue {shown}: {why}"))
        .help("`catalogue` is a path from the graph file")
}

#[cfg(test)]
mod tests {
    use crate::checks::examples;
    use crate::checks::testing::{diagnostics, with};

    #[test]
    fn what_exists_is_listed() {
        let found = diagnostics(&with(examples::SMALL, "sku: any", "sku: \"threadripper\""));
        assert_eq!(found[0].title, "there is no SKU \"threadripper\"");
        assert_eq!(found[0].help, ["there are `small` and `two-ccds`; or write `sku: any`"]);
    }
}
