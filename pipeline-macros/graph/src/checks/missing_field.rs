//! PL0003: a field that its owner needs.

use super::{Check, Example, examples};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// The page.
pub const CHECK: Check = Check {
    code: "PL0003",
    name: "missing-field",
    rule: "Every field without a default is stated.",
    why: "`Graph` needs `version`, `sku`, `stages` and `edges`; `Stage` its name; `Edge` both stages; `Ccds` the CCDs and \
          `share`, because the right answer differs from one kind of work to another and a default would hide the choice.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 1, "dealloc": 1 },
    groups: { "all": Ccds("*") },
    stages: [
        Stage("synthesize", on: "all"),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv")],
)"#,
    ),
    good: examples::SMALL,
    fix: "Add the field.",
    run: None,
};

/// `owner`, whose name is at `head`, lacks `field`.
pub fn report(head: Span, owner: &str, field: &str) -> Diagnostic {
    let owner = if owner.is_empty() { "this tuple".to_owned() } else { format!("`{owner}`") };
    Diagnostic::error(CHECK.code, head, format!("{owner} lacks the field `{field}`"))
        .help(format!("add {}", sample(field)))
}

/// What one may write.
fn sample(field: &str) -> String {
    match field {
        "version" => "`version: 1`".to_owned(),
        "sku" => "`sku: any`, or the name of a file in `skus/`: `sku: \"laptop\"`".to_owned(),
        "share" => "`share: Spread` (one pool of threads per CCD) or `share: Pack` (one over all)".to_owned(),
        _ => format!("`{field}: …`"),
    }
}

#[cfg(test)]
mod tests {
    use crate::checks::testing::titles;

    #[test]
    fn everything_that_is_missing_is_named() {
        assert_eq!(
            titles("Graph(stages: [Stage()], edges: [Edge(\"a\")])"),
            [
                "`Graph` lacks the field `version`",
                "`Graph` lacks the field `sku`",
                "`Stage` lacks the field `name`",
                "`Edge` lacks the field `to`",
            ]
        );
    }
}
