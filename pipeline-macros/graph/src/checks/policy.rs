//! PL0406 and PL0601: what the policy of a graph does not do.

use super::{Check, Example, examples};
use crate::diagnostic::{Diagnostic, Report};
use crate::model::Unit;
use crate::plan::{Plan, StagePlan};
use crate::resolve::Resolved;
use crate::source::Span;
use crate::words::{POLICIES, Policy, listed};

/// The page of PL0406.
pub const STARVATION: Check = Check {
    code: "PL0406",
    name: "starvation",
    rule: "A stage that needs permits of several pools has a policy that declares age order.",
    why: "All permits of a firing are taken at once, so it starts only when every pool has some for it at the same time. Without age \
          order, firings that need one pool alone can take turns so that this time never comes. Age order keeps the \
          pools for the oldest firing that lacks something.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 1, "link": 1, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all", needs: { "link": 1 }),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1, "link": 1 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv")],
    policy: "random_legal(7)",
)"#,
    ),
    good: examples::SMALL,
    fix: "Choose a policy with age order, or let the stage need one pool.",
    run: Some(run),
};

/// The page of PL0601.
pub const UNDERSTOOD: Check = Check {
    code: "PL0601",
    name: "policy-does-not-understand",
    rule: "A graph uses no kinds of pools, no tags and no priorities that its policy does not declare to understand.",
    why: "A policy that does not know a thing does not keep it: jobs of high priority would wait in line with all others. A \
          graph that is to tell jobs of different priority apart says `priorities: true`.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 1, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all"),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv")],
    policy: "oldest_first",
    priorities: true,
)"#,
    ),
    good: examples::SMALL,
    fix: "Choose a policy that understands it; the error names those that do.",
    run: None,
};

/// The word of a policy with its argument.
#[must_use]
pub fn word(policy: &str) -> &str {
    policy.split('(').next().unwrap_or_default().trim()
}

/// What rustc says if the runtime has no policy of that word.
#[must_use]
pub fn not_in_the_runtime(plan: &Plan) -> Diagnostic {
    let title = format!("the runtime has no policy `{}`, or none that declares what it does", word(&plan.policy));
    Diagnostic::error(UNDERSTOOD.code, plan.policy_at, title).help("add it to `FACTS` of the runtime's `policy::facts`")
}

/// What rustc says if the policy of the runtime declares no age order, and a stage needs several pools.
#[must_use]
pub fn of_the_runtime_starves(plan: &Plan, stage: &StagePlan, pools: &[&str]) -> Diagnostic {
    let others = POLICIES.iter().filter(|policy| policy.age_order).map(|policy| policy.word);
    let others = others.filter(|other| *other != word(&plan.policy));
    let (name, policy, pools) = (&stage.name, word(&plan.policy), listed(pools.iter().copied()));
    let title = format!("stage `{name}` needs {pools} at once, and policy `{policy}` of the runtime may starve it");
    Diagnostic::error(STARVATION.code, stage.name_at, title)
        .here("all at once")
        .and(plan.policy_at, "the runtime's declares no age order")
        .help(format!("choose another policy with age order: {}", listed(others)))
}

/// What rustc says if the policy of the runtime does not declare to understand something that the graph uses.
#[must_use]
pub fn of_the_runtime_lacks(plan: &Plan, what: &str) -> Diagnostic {
    let title = format!("policy `{}` of the runtime does not declare to understand {what}", word(&plan.policy));
    Diagnostic::error(UNDERSTOOD.code, plan.policy_at, title)
        .help("choose another policy; what each declares is in the runtime's `policy::facts`")
}

fn run(graph: &Resolved<'_>, report: &mut Report) {
    let stated = graph.file.policy.as_ref();
    let word = stated.map_or(POLICIES[0].word, |policy| word(&policy.value));
    // An unknown policy has been reported.
    if let Some(policy) = POLICIES.iter().find(|policy| policy.word == word) {
        judge(graph, policy, stated.map_or(graph.file.span, |policy| policy.span), report);
    }
}

/// Judges a graph by what `policy` declares.
fn judge(graph: &Resolved<'_>, policy: &Policy, at: Span, report: &mut Report) {
    let counted = |pool: usize| graph.file.pools.items[pool].unit == Unit::Count;
    let pool_name = |pool: usize| graph.file.pools.items[pool].name.value.as_str();
    for stage in graph.stages.iter().filter(|_| !policy.age_order) {
        let pools: Vec<usize> = stage.needs.iter().map(|(pool, _)| *pool).filter(|pool| counted(*pool)).collect();
        if pools.len() < 2 {
            continue;
        }
        let names = listed(pools.iter().map(|pool| pool_name(*pool)));
        let title =
            format!("stage `{}` needs {names} at once, and policy `{}` may starve it", stage.name(), policy.word);
        let span = stage.stated.needs.items.last().map_or(stage.stated.name.span, |(_, weight)| weight.span);
        let others = POLICIES.iter().filter(|policy| policy.age_order).map(|policy| policy.word);
        report.add(
            Diagnostic::error(STARVATION.code, span, title)
                .here("all at once")
                .and(at, "declares no age order")
                .help(format!("choose a policy with age order: {}", listed(others))),
        );
    }
    let mut unknown = |what: String, span: Span, knows: &dyn Fn(&Policy) -> bool| {
        let title = format!("policy `{}` does not understand {what}", policy.word);
        let others: Vec<&str> = POLICIES.iter().filter(|policy| knows(policy)).map(|policy| policy.word).collect();
        let found = Diagnostic::error(UNDERSTOOD.code, at, title).and(span, "used here");
        report.add(if others.is_empty() { found } else { found.help(format!("those that do: {}", listed(others))) });
    };
    if let Some(span) = graph.file.priorities.filter(|_| !policy.priorities) {
        unknown("priorities of jobs".to_owned(), span, &|policy| policy.priorities);
    }
    if !policy.bytes {
        for pool in graph.file.pools.items.iter().filter(|pool| pool.unit == Unit::Bytes) {
            unknown(format!("pools of bytes, such as `{}`", pool.name.value), pool.name.span, &|policy| policy.bytes);
        }
    }
    for stage in &graph.stages {
        let tags = stage.branches.iter().flat_map(|branch| branch.tags.words());
        for tag in tags.filter(|tag| !policy.tags.contains(tag)) {
            unknown(format!("stages tagged `{tag}`, such as `{}`", stage.name()), stage.stated.name.span, &|policy| {
                policy.tags.contains(&tag)
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::testing::titles;
    use crate::source::Sources;

    #[test]
    fn several_pools_want_age_order() {
        assert_eq!(
            titles(STARVATION.bad.text()),
            ["stage `spmv` needs `mem_heavy` and `link` at once, and policy `random_legal` may starve it"]
        );
        assert_eq!(titles(&STARVATION.bad.text().replace("random_legal(7)", "oldest_first")), [""; 0]);
    }

    #[test]
    fn priorities_want_a_policy_that_tells_them_apart() {
        assert_eq!(titles(UNDERSTOOD.bad.text()), ["policy `oldest_first` does not understand priorities of jobs"]);
        assert_eq!(titles(&UNDERSTOOD.bad.text().replace("oldest_first", "priority(30)")), [""; 0]);
    }

    #[test]
    fn pools_and_tags_beyond_the_declaration_are_refused() {
        let narrow = Policy { bytes: false, tags: &["mem_heavy", "unmaps"], ..POLICIES[0] };
        let (mut sources, mut report) = (Sources::default(), Report::default());
        let text = examples::SMALL
            .text()
            .replace("\"dealloc\": 1 },\n    groups", "\"dealloc\": 1, \"ram\": \"1 GiB\" },\n    groups");
        let file = sources.add(crate::Source::inline("graph.ron", text));
        let graph =
            crate::decode::graph(&crate::ron::read(file, &sources, &mut report), &mut report).expect("it is read");
        let file = sources.add(examples::catalogue());
        let catalogue =
            crate::decode::catalogue(&crate::ron::read(file, &sources, &mut report), &mut report).expect("it is read");
        let resolved = crate::resolve::resolve(&graph, &catalogue, None, &mut report);
        judge(&resolved, &narrow, graph.span, &mut report);
        let titles: Vec<String> = report.into_sorted().into_iter().map(|found| found.title).collect();
        assert_eq!(
            titles,
            [
                "policy `oldest_first` does not understand pools of bytes, such as `ram`",
                "policy `oldest_first` does not understand stages tagged `ccd_pinned`, such as `synthesize`",
                "policy `oldest_first` does not understand stages tagged `ccd_pinned`, such as `spmv`",
            ]
        );
    }
}
