//! PL0101: a mem-heavy stage that no pool bounds.

use super::{Check, Example, examples};
use crate::diagnostic::{Diagnostic, Report};
use crate::model::Unit;
use crate::resolve::Resolved;

/// The page.
pub const CHECK: Check = Check {
    code: "PL0101",
    name: "mem-heavy-without-pool",
    rule: "A stage whose implementation is tagged `mem_heavy` needs permits of a counted pool.",
    why: "Such a stage streams more memory than the caches hold. A few of them use all the bandwidth of a machine, and more of \
          them make each other slower; the pool says how many may run at once.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 1, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all"),
        Stage("spmv", on: "all"),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv")],
)"#,
    ),
    good: examples::SMALL,
    fix: "Give the stage `needs: { \"mem_heavy\": 1 }`, and the graph a pool of that name.",
    run: Some(run),
};

fn run(graph: &Resolved<'_>, report: &mut Report) {
    for stage in graph.stages.iter().filter(|stage| stage.known) {
        let Some(branch) = stage.branches.iter().find(|branch| branch.tags.has("mem_heavy")) else {
            continue;
        };
        // Permits of a pool of bytes are a fault of their own.
        if !stage.needs.is_empty() {
            continue;
        }
        let name = stage.name();
        let title = format!("stage `{name}` on `{}` is mem-heavy, and no pool bounds it", branch.backend.value);
        let pool = graph.file.pools.items.iter().find(|pool| pool.unit == Unit::Count && pool.name.value != "dealloc");
        let found = Diagnostic::error(CHECK.code, stage.stated.name.span, title);
        report.add(match pool {
            Some(pool) => found
                .and(pool.name.span, "a pool that there is")
                .help(format!("add `needs: {{ \"{}\": 1 }}` to the stage", pool.name.value)),
            None => {
                found.help("add a pool `\"mem_heavy\": 2` to `pools`, and `needs: { \"mem_heavy\": 1 }` to the stage")
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::checks::examples;
    use crate::checks::testing::{codes, titles, with};

    #[test]
    fn a_pool_of_bytes_is_no_bound() {
        let bytes = with(examples::SMALL, "\"mem_heavy\": 1,", "\"ram\": \"1 GiB\",");
        let bytes = bytes.replace("needs: { \"mem_heavy\": 1 }", "holds: { \"ram\": \"Evaluated\" }");
        assert_eq!(titles(&bytes), ["stage `spmv` on `host` is mem-heavy, and no pool bounds it"]);
    }

    #[test]
    fn an_unknown_pool_is_reported_alone() {
        assert_eq!(codes(&with(examples::SMALL, "{ \"mem_heavy\": 1 })", "{ \"heavy\": 1 })")), ["PL0007"]);
    }
}
