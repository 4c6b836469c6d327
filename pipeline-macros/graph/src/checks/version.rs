//! PL0005: a file in another version of the language.

use super::{Check, Example, examples};
use crate::diagnostic::Diagnostic;
use crate::source::At;

/// The page.
pub const CHECK: Check = Check {
    code: "PL0005",
    name: "version",
    rule: "`version` is the version of the language, which is 1.",
    why: "The number changes when a file would mean something else than before. There has been one version so far, so \
          there is nothing to migrate; `graphs/README.md` has a line for each version with what to do.",
    bad: Example::Graph(
        r#"Graph(
    version: 2,
    sku: any,
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
    fix: "Write `version: 1`, or use a release that reads the newer version.",
    run: None,
};

/// Another number.
pub fn other(found: At<u64>, known: u64) -> Diagnostic {
    Diagnostic::error(CHECK.code, found.span, format!("this file is in version {} of the language", found.value))
        .help(format!("this release reads version {known}"))
}
