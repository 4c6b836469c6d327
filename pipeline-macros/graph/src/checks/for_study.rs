//! PL0213: a lawful graph that cannot be built.

use super::{Check, Example, Planned, examples};
use crate::diagnostic::Diagnostic;

/// The page.
pub const CHECK: Check = Check {
    code: "PL0213",
    name: "for-study",
    rule: "A graph that is built takes its implementations from the program, and its stages keep the discipline of the executor.",
    why: "A graph may name a `catalogue` of its own, of a system that is studied or of implementations that are planned, \
          and its stages may wait as those of older systems do (`acquire`, `send`, `release`) or take several tokens for one \
          firing (`batch`). Such a graph can be checked, drawn and planned. The executor of this release does none of \
          that, so a build refuses it rather than run something else than the file says.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 1, "scale": 1, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all"),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }, send: Blocking),
        Stage("scale", on: "all", needs: { "scale": 1 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv"), Edge("spmv", "scale")],
)"#,
    ),
    good: examples::SMALL,
    fix: "Remove the opt-out, or keep the graph for `proofline check` and `proofline plan --graph`.",
    run: None,
};

/// Why a build refuses a lawful graph; nothing if it does not.
#[must_use]
pub fn reasons(graph: &Planned<'_>) -> Vec<Diagnostic> {
    let (file, plan) = (graph.graph.file, graph.plan);
    let catalogue = file.catalogue.iter().map(|catalogue| {
        let title =
            format!("this graph is judged by `{}`, whose implementations are not in this program", catalogue.value);
        Diagnostic::error(CHECK.code, catalogue.span, title).help(
            "it is for `check`, `plan --graph` and `sim`; without `catalogue` it is judged by the program's own, which must have \
             every stage and backend that the graph names",
        )
    });
    let stages = (0..plan.stages.len()).flat_map(|stage| {
        let stated = graph.stated(stage);
        let ways = [
            (stated.in_order.as_ref().map(|order| order.span), "takes its permits one after the other (`acquire`)"),
            (stated.blocking, "waits when it sends (`send`)"),
            (stated.before_send, "releases before it sends (`release`)"),
        ];
        let name = plan.stages[stage].name.clone();
        ways.into_iter().filter_map(move |(span, what)| {
            let title = format!("stage `{name}` {what}, which is understood, but not executed");
            let found = Diagnostic::error(CHECK.code, span?, title);
            Some(found.help("remove it: a firing then takes all that it needs at once, and keeps it until it has sent"))
        })
    });
    let batches = (0..plan.edges.len()).filter_map(|edge| {
        let batch = graph.stated_edge(edge).batch.filter(|batch| batch.value > 1)?;
        let to = &plan.stages[plan.edges[edge].to].name;
        let title =
            format!("stage `{to}` takes {} tokens for a firing, which is understood, but not executed", batch.value);
        Some(Diagnostic::error(CHECK.code, batch.span, title).help("remove `batch`"))
    });
    catalogue.chain(stages).chain(batches).collect()
}

#[cfg(test)]
mod tests {
    use crate::checks::testing::outcome;

    #[test]
    fn it_is_lawful_and_not_built() {
        let outcome = outcome(super::CHECK.bad.text());
        assert!(outcome.diagnostics.is_empty() && outcome.plan.is_some());
        let titles: Vec<&str> = outcome.study.iter().map(|found| found.title.as_str()).collect();
        assert_eq!(titles, ["stage `spmv` waits when it sends (`send`), which is understood, but not executed"]);
    }

    #[test]
    fn each_reason_has_its_sentence_and_what_to_do() {
        let of = |old: &str, new: &str| {
            let text = super::CHECK.bad.text().replace(", send: Blocking", "");
            assert!(text.contains(old), "{old}");
            let found = outcome(&text.replace(old, new)).study;
            found.into_iter().map(|found| (found.code, found.title, found.help)).collect::<Vec<_>>()
        };
        let remove = "remove it: a firing then takes all that it needs at once, and keeps it until it has sent";
        let needs = "Stage(\"spmv\", on: \"all\", needs: { \"mem_heavy\": 1 }";
        for (opt_out, what) in [
            ("acquire: InOrder([\"mem_heavy\"])", "takes its permits one after the other (`acquire`)"),
            ("send: Blocking", "waits when it sends (`send`)"),
        ] {
            let title = format!("stage `spmv` {what}, which is understood, but not executed");
            assert_eq!(of(needs, &format!("{needs}, {opt_out}")), [("PL0213", title, vec![remove.to_owned()])]);
        }
        let title = "stage `scale` takes 2 tokens for a firing, which is understood, but not executed".to_owned();
        let edge = "Edge(\"spmv\", \"scale\"";
        let batch = of(edge, &format!("{edge}, capacity: 4, batch: 2"));
        assert_eq!(batch, [("PL0213", title, vec!["remove `batch`".to_owned()])]);
    }
}
