//! PL0405: an order of pools that is not the order of all pools.

use super::{Check, Example, examples};
use crate::diagnostic::{Diagnostic, Report};
use crate::resolve::Resolved;
use crate::words::listed;

/// The page.
pub const CHECK: Check = Check {
    code: "PL0405",
    name: "acquire-order",
    rule: "`acquire: InOrder([…])` names every pool that the stage needs, and no other.",
    why: "The order says which permits a firing has while it waits for the next. A pool that is missing in it would be taken at a \
          time that nobody stated.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 2, "link": 1, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all"),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1, "link": 1 }, acquire: InOrder(["mem_heavy"])),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv")],
)"#,
    ),
    good: examples::SMALL,
    fix: "Name the pools of `needs`, each once.",
    run: Some(run),
};

fn run(graph: &Resolved<'_>, report: &mut Report) {
    for stage in graph.stages.iter().filter(|stage| stage.known) {
        let (Some(order), Some(stated)) = (&stage.in_order, &stage.stated.in_order) else { continue };
        let name = |pool: &usize| graph.file.pools.items[*pool].name.value.as_str();
        let missing: Vec<&str> =
            stage.needs.iter().map(|(pool, _)| pool).filter(|pool| !order.contains(pool)).map(name).collect();
        if !missing.is_empty() {
            let title = format!("`acquire` of stage `{}` leaves out {}", stage.name(), listed(missing));
            report.add(Diagnostic::error(CHECK.code, stated.span, title).help("name every pool of `needs`"));
        }
        for (pool, at) in order.iter().zip(&stated.value.items) {
            if !stage.needs.iter().any(|(needed, _)| needed == pool) {
                let title =
                    format!("`acquire` of stage `{}` names `{}`, which it does not need", stage.name(), name(pool));
                report.add(Diagnostic::error(CHECK.code, at.span, title).help("remove it, or add it to `needs`"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::checks::testing::titles;

    #[test]
    fn both_directions_are_compared() {
        assert_eq!(titles(super::CHECK.bad.text()), ["`acquire` of stage `spmv` leaves out `link`"]);
        let other = super::CHECK
            .bad
            .text()
            .replace("InOrder([\"mem_heavy\"])", "InOrder([\"mem_heavy\", \"link\", \"dealloc\"])");
        assert_eq!(titles(&other), ["`acquire` of stage `spmv` names `dealloc`, which it does not need"]);
    }
}
