//! PL0401 and PL0402: rates that do not balance, and periods that stall.

use super::{Check, Example, Planned, examples};
use crate::diagnostic::{Diagnostic, Report};
use crate::plan::Role;
use crate::plan::period::{self, Fraction, MOST_FIRINGS, NoPeriod, Stall, Unbalanced};

/// The page of PL0401.
pub const BALANCE: Check = Check {
    code: "PL0401",
    name: "rates",
    rule: "Over every edge as many tokens go out as come in, for whole numbers of firings of all stages.",
    why: "`batch: n` on an edge lets the stage behind it take n tokens for one firing, so it fires once for n firings of the \
          stage before it. Where two ways from one stage to another make it fire at different rates, tokens pile up on \
          the one while the other runs dry. `proofline plan` shows how often each stage fires in one period. All firings \
          of a period are played, so there may be 1048576 of them at most: batches one behind the other multiply.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 2, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all"),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }),
        Stage("prep_msm", on: "all", needs: { "mem_heavy": 1 }),
        Stage("gpu_ntt_msm", on: "all", needs: { "mem_heavy": 2 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [
        Edge("synthesize", "spmv"),
        Edge("synthesize", "prep_msm"),
        Edge("spmv", "gpu_ntt_msm", batch: 2, capacity: 4),
        Edge("prep_msm", "gpu_ntt_msm", capacity: 4),
    ],
)"#,
    ),
    good: examples::FORK_AND_JOIN,
    fix: "Give the edges on both ways the same product of batches.",
    run: None,
};

/// The page of PL0402.
pub const STALL: Check = Check {
    code: "PL0402",
    name: "stall",
    rule: "One period of the graph runs to its end with the capacities that the edges have.",
    why: "A period fires every stage as often as the rates say. It is played through: if at some point no stage has both its \
          tokens and room for what it makes, it would stand still for ever. The error shows the tokens on every edge \
          at that point, and the smallest capacities with which the period ends.",
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
    edges: [Edge("synthesize", "spmv", batch: 4, capacity: 3)],
)"#,
    ),
    good: examples::SMALL,
    fix: "Raise the capacities to those that the error names.",
    run: None,
};

/// Judges rates and capacities.
pub fn judge(graph: &Planned<'_>, report: &mut Report) {
    let plan = graph.plan;
    match period::repetitions(plan) {
        Err(NoPeriod::Unbalanced(unbalanced)) => report.add(balance(graph, unbalanced)),
        Err(NoPeriod::TooLong(fires)) => report.add(too_long(graph, fires.as_deref())),
        Ok(fires) => {
            if let Err(stall) = period::play(plan, &fires) {
                report.add(stalled(graph, &stall));
            }
        }
    }
}

fn balance(graph: &Planned<'_>, found: Unbalanced) -> Diagnostic {
    let plan = graph.plan;
    let name = |stage: usize| plan.stages[stage].name.as_str();
    let to = name(plan.edges[found.edge].to);
    let (one, other) = (name(plan.edges[found.edge].from), name(plan.edges[found.first].from));
    let title = format!(
        "the ways to stage `{to}` do not balance: {} firing for each of the source over `{one}`, {} over `{other}`",
        found.over, found.known
    );
    let at = |edge: usize| {
        let stated = graph.stated_edge(edge);
        stated.batch.map_or(stated.to.span, |batch| batch.span)
    };
    let firings = |rate: Fraction| match rate.to_string().as_str() {
        "1" => "1 firing".to_owned(),
        rate => format!("{rate} firings"),
    };
    let way = |edge: usize| way_to(graph, edge);
    Diagnostic::error(BALANCE.code, at(found.edge), title)
        .here(firings(found.over))
        .and(at(found.first), firings(found.known))
        .note(format!("one way is {}, the other {}", way(found.edge), way(found.first)))
        .help("give the edges of both ways the same product of `batch`")
}

/// The batches of edges that a help text names.
const NAMED: usize = 3;

fn too_long(graph: &Planned<'_>, fires: Option<&[u64]>) -> Diagnostic {
    let plan = graph.plan;
    let mut batches: Vec<usize> = (0..plan.edges.len()).filter(|edge| plan.edges[*edge].batch > 1).collect();
    batches.sort_by_key(|edge| std::cmp::Reverse(plan.edges[*edge].batch));
    let at = |edge: usize| {
        let stated = graph.stated_edge(edge);
        stated.batch.map_or(stated.to.span, |batch| batch.span)
    };
    let live = || plan.stages.iter().enumerate().filter(|(_, stage)| stage.role != Role::Dealloc);
    let count = fires.map(|fires| live().map(|(number, _)| u128::from(fires[number])).sum::<u128>());
    let count = count.map_or_else(|| "more than 2^64".to_owned(), |count| count.to_string());
    let title = format!("one period has {count} firings, at most {MOST_FIRINGS} can be judged");
    let first = batches.first().map_or(graph.file_span(), |edge| at(*edge));
    let mut found = Diagnostic::error(BALANCE.code, first, title);
    if let Some(edge) = batches.first() {
        found = found.here(format!("{} at a time", plan.edges[*edge].batch));
    }
    for edge in batches.iter().take(NAMED).skip(1) {
        found = found.and(at(*edge), format!("{} at a time", plan.edges[*edge].batch));
    }
    if let Some(fires) = fires {
        let each = live().map(|(number, stage)| format!("`{}` {}", stage.name, fires[number]));
        found = found.note(format!("firings in one period: {}", each.collect::<Vec<_>>().join(", ")));
    }
    let named = batches.iter().take(NAMED).map(|edge| {
        let edge = &plan.edges[*edge];
        format!("`{}` -> `{}` ({})", plan.stages[edge.from].name, plan.stages[edge.to].name, edge.batch)
    });
    found.help(format!("lower the batch of {}", named.collect::<Vec<_>>().join(" or ")))
}

/// The way from the source over the first inputs to the end of an edge, with the batches on it.
fn way_to(graph: &Planned<'_>, edge: usize) -> String {
    let plan = graph.plan;
    let mut words = vec![plan.stages[plan.edges[edge].to].name.clone()];
    let mut next = Some(edge);
    while let Some(edge) = next {
        let batch = plan.edges[edge].batch;
        if batch > 1 {
            words.push(format!("({batch} at a time)"));
        }
        let from = plan.edges[edge].from;
        words.push(plan.stages[from].name.clone());
        next = plan.stages[from].inputs.first().copied();
    }
    words.reverse();
    words.join(" -> ").replace(" -> (", " (")
}

fn stalled(graph: &Planned<'_>, stall: &Stall) -> Diagnostic {
    let plan = graph.plan;
    let name = |edge: usize| {
        let edge = &plan.edges[edge];
        format!("`{}` -> `{}`", plan.stages[edge.from].name, plan.stages[edge.to].name)
    };
    let short: Vec<usize> =
        (0..plan.edges.len()).filter(|edge| stall.enough[*edge] > plan.edges[*edge].capacity).collect();
    let at = |edge: usize| {
        let stated = graph.stated_edge(edge);
        stated.capacity.or(stated.batch).map_or(stated.to.span, |number| number.span)
    };
    let names: Vec<String> = short.iter().map(|edge| name(*edge)).collect();
    let title = format!("one period stalls: too few places on {}", names.join(" and "));
    let first = short.first().copied().unwrap_or_default();
    let mut found = Diagnostic::error(STALL.code, at(first), title).here(format!("has {}", plan.edges[first].capacity));
    for edge in short.iter().skip(1) {
        found = found.and(at(*edge), format!("has {}", plan.edges[*edge].capacity));
    }
    let marking = (0..plan.edges.len()).filter(|edge| stall.marking[*edge] + stall.reserved[*edge] > 0).map(|edge| {
        let (tokens, places) = (stall.marking[edge], plan.edges[edge].capacity);
        let batch = plan.edges[edge].batch;
        let wanted = if batch > 1 { format!(", {batch} are wanted at once") } else { String::new() };
        format!("\n  {}: {tokens} of {places}{wanted}", name(edge))
    });
    let marking: String = marking.collect();
    let enough = short.iter().map(|edge| format!("{} on {}", stall.enough[*edge], name(*edge)));
    found
        .note(format!("tokens on the edges when nothing can go on:{marking}"))
        .help(format!("the smallest capacities that do: {}", enough.collect::<Vec<_>>().join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::testing::{diagnostics, outcome, titles};

    #[test]
    fn two_ways_that_disagree_are_both_told() {
        let found = diagnostics(BALANCE.bad.text());
        assert_eq!(
            found[0].title,
            "the ways to stage `gpu_ntt_msm` do not balance: 1 firing for each of the source over `prep_msm`, 1/2 over `spmv`"
        );
        assert_eq!(
            found[0].notes,
            [
                "one way is synthesize -> prep_msm -> gpu_ntt_msm, the other synthesize -> spmv (2 at a time) -> gpu_ntt_msm"
            ]
        );
    }

    #[test]
    fn equal_batches_balance() {
        let text = BALANCE
            .bad
            .text()
            .replace("Edge(\"prep_msm\", \"gpu_ntt_msm\", ", "Edge(\"prep_msm\", \"gpu_ntt_msm\", batch: 2, ");
        let plan = outcome(&text).plan.expect("both ways take two");
        assert_eq!(plan.stages.iter().map(|stage| stage.fires).collect::<Vec<_>>(), [2, 2, 2, 1, 0]);
    }

    fn chain(batches: [u32; 2], capacities: [u32; 2]) -> String {
        let text = STALL
            .bad
            .text()
            .replace("batch: 4, capacity: 3", &format!("batch: {}, capacity: {}", batches[0], capacities[0]));
        let text = text.replace(
            "        Stage(\"dealloc\"",
            "        Stage(\"scale\", on: \"all\", needs: { \"mem_heavy\": 1 }),\n        Stage(\"dealloc\"",
        );
        let more = format!("), Edge(\"spmv\", \"scale\", batch: {}, capacity: {})],", batches[1], capacities[1]);
        text.replace(")],", &more)
    }

    #[test]
    fn a_period_that_is_too_long_to_play_is_refused_with_its_firings() {
        let found = diagnostics(&chain([65_536, 65_536], [65_536, 65_536]));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].title, "one period has 4295032833 firings, at most 1048576 can be judged");
        assert_eq!(found[0].notes, ["firings in one period: `synthesize` 4294967296, `spmv` 65536, `scale` 1"]);
        assert_eq!(found[0].help, ["lower the batch of `synthesize` -> `spmv` (65536) or `spmv` -> `scale` (65536)"]);
    }

    #[test]
    fn long_periods_and_their_smallest_capacities_are_found_by_halving() {
        assert_eq!(titles(&chain([32_768, 30], [32_768, 30])), [""; 0]);
        let found = diagnostics(&chain([32_768, 30], [1, 7]));
        assert_eq!(
            found[0].help,
            ["the smallest capacities that do: 32768 on `synthesize` -> `spmv`, 30 on `spmv` -> `scale`"]
        );
    }

    #[test]
    fn a_stall_shows_its_marking_and_the_way_out() {
        let found = diagnostics(STALL.bad.text());
        assert_eq!(found[0].title, "one period stalls: too few places on `synthesize` -> `spmv`");
        assert_eq!(
            found[0].notes,
            ["tokens on the edges when nothing can go on:\n  `synthesize` -> `spmv`: 3 of 3, 4 are wanted at once"]
        );
        assert_eq!(found[0].help, ["the smallest capacities that do: 4 on `synthesize` -> `spmv`"]);
        assert_eq!(titles(&STALL.bad.text().replace("capacity: 3", "capacity: 4")), [""; 0]);
    }
}
