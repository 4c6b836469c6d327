//! PL0107: a weight that its pool can never pay.

use super::{Check, Example, examples};
use crate::diagnostic::{Diagnostic, Report};
use crate::model::Unit;
use crate::resolve::Resolved;

/// The page.
pub const CHECK: Check = Check {
    code: "PL0107",
    name: "weight-above-pool",
    rule: "No stage needs more permits of a pool than the pool has.",
    why: "A firing takes all its permits at once, so one that needs more than there are would wait for ever.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 1, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all"),
        Stage("spmv", on: "all", needs: { "mem_heavy": 2 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv")],
)"#,
    ),
    good: examples::SMALL,
    fix: "Raise the pool to the largest weight, or lower the weight.",
    run: Some(run),
};

fn run(graph: &Resolved<'_>, report: &mut Report) {
    for stage in &graph.stages {
        for (position, weight) in &stage.needs {
            let pool = &graph.file.pools.items[*position];
            let Some(size) = pool.size.filter(|_| pool.unit == Unit::Count) else {
                continue;
            };
            if weight.value <= size.value {
                continue;
            }
            let (name, need, has) = (&pool.name.value, weight.value, size.value);
            let permits = if need == 1 { "permit" } else { "permits" };
            let title = format!("stage `{}` needs {need} {permits} of `{name}`, the pool has {has}", stage.name());
            report.add(
                Diagnostic::error(CHECK.code, weight.span, title)
                    .here(format!("needs {need}"))
                    .and(size.span, format!("the pool has {has}"))
                    .help(format!("raise the pool to {need} or lower the stage's weight")),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::checks::testing::diagnostics;

    #[test]
    fn the_title_has_both_numbers() {
        let found = diagnostics(super::CHECK.bad.text());
        assert_eq!(found[0].title, "stage `spmv` needs 2 permits of `mem_heavy`, the pool has 1");
        assert_eq!(found[0].help, ["raise the pool to 2 or lower the stage's weight"]);
    }
}
