//! PL0404: tokens that nothing holds back.

use super::{Check, Example, Planned};
use crate::diagnostic::{Diagnostic, Report};
use crate::plan::{Linear, Plan, StagePlan};
use crate::words::amount;

/// The page.
pub const CHECK: Check = Check {
    code: "PL0404",
    name: "pile-up",
    rule: "Every token that holds memory is bounded: by a place or a permit that is kept until after the send.",
    why: "A firing takes the places of its output before it starts, so what it makes always has room, and a stage that is \
          faster than the ones behind it waits. With `release: BeforeSend` worker and permits are free before the token has \
          its place: the next firing starts while the token waits, and memory fills with tokens that nobody has asked \
          for. How many depends on what is submitted, which `load: (jobs: …, partitions: …)` states. It is allowed where \
          something else bounds the tokens: places that an earlier fork reserved, or `holds` in a pool of bytes that counts all \
          of each token.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: "small",
    sizes: { "porep_32g": (aux: 130169893, inputs: 328, domain: 134217728) },
    load: (jobs: 3, partitions: 10),
    pools: { "mem_heavy": 1, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all", release: BeforeSend),
        Stage("spmv", backend: "cuda", device: 0, needs: { "mem_heavy": 1 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv", capacity: 1)],
)"#,
    ),
    good: Example::Graph(
        r#"Graph(
    version: 1,
    sku: "small",
    sizes: { "porep_32g": (aux: 130169893, inputs: 328, domain: 134217728) },
    load: (jobs: 3, partitions: 10),
    pools: { "mem_heavy": 1, "dealloc": 1, "ram": "40 GiB" },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all", holds: { "ram": "Witness" }, release: BeforeSend),
        Stage("spmv", backend: "cuda", device: 0, needs: { "mem_heavy": 1 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv", capacity: 1)],
)"#,
    ),
    fix: "Remove `release: BeforeSend`, or give the stage `holds` in a pool of bytes.",
    run: None,
};

/// Judges the stages that release before they send.
///
/// The stages that were reported.
pub fn judge(graph: &Planned<'_>, report: &mut Report) -> Vec<usize> {
    let plan = graph.plan;
    let mut reported = Vec::new();
    for (position, stage) in plan.stages.iter().enumerate().filter(|(_, stage)| stage.opt_outs.before_send) {
        let Some((token, bytes)) = &stage.output else { continue };
        let has_memory = *bytes != Linear::default();
        let Some(at) = graph.stated(position).before_send.filter(|_| has_memory && !is_bounded(plan, position)) else {
            continue;
        };
        report.add(describe(graph, position, token, bytes, at));
        reported.push(position);
    }
    reported
}

/// Whether something else bounds the tokens of a stage: bytes that they hold, or places that an earlier stage reserved.
fn is_bounded(plan: &Plan, stage: usize) -> bool {
    let own = &plan.stages[stage];
    let earlier = |edge: &usize| plan.edges[*edge].reserved_by < stage && keeps(plan, plan.edges[*edge].reserved_by);
    holds_all(plan, own) || (!own.outputs.is_empty() && own.outputs.iter().all(earlier)) || is_inside(plan, stage)
}

/// Whether the pools of bytes count all of a stage's token: what they leave out, nothing bounds.
fn holds_all(plan: &Plan, stage: &StagePlan) -> bool {
    let Some((_, bytes)) = &stage.output else { return true };
    let held = stage.holds.iter().fold(Linear::default(), |sum, (_, held)| sum.plus(held, 1));
    if plan.sizes.is_empty() {
        return held.fixed >= bytes.fixed && held.per.iter().zip(&bytes.per).all(|(held, bytes)| held >= bytes);
    }
    plan.sizes.iter().all(|(_, counts)| held.of(counts) >= bytes.of(counts))
}

fn keeps(plan: &Plan, stage: usize) -> bool {
    plan.stages[stage].opt_outs.reserves()
}

/// Whether a join behind the stage has places that a fork before it reserved: no more keys than those are let in.
fn is_inside(plan: &Plan, stage: usize) -> bool {
    let mut behind = vec![false; plan.stages.len()];
    behind[stage] = true;
    for position in stage..plan.stages.len() {
        if behind[position] {
            plan.stages[position].outputs.iter().for_each(|edge| behind[plan.edges[*edge].to] = true);
        }
    }
    (0..plan.edges.len())
        .any(|edge| plan.reserver(edge).is_some_and(|fork| fork < stage) && behind[plan.edges[edge].to])
}

fn describe(graph: &Planned<'_>, stage: usize, token: &str, bytes: &Linear, at: crate::source::Span) -> Diagnostic {
    let plan = graph.plan;
    let name = &plan.stages[stage].name;
    let largest = plan.sizes.iter().map(|(circuit, counts)| (bytes.of(counts), circuit, counts)).max();
    let load = plan.load.map(|load| (load, u64::from(load.jobs) * u64::from(load.partitions)));
    let room = largest.zip(plan.sku.as_ref()).map(|((each, _, counts), sku)| {
        let resident: u64 = plan.resident.iter().map(|(_, bytes)| bytes.of(counts)).fold(0, u64::saturating_add);
        let free = sku.ram.value.saturating_sub(resident);
        (free / each.max(1), resident, sku.ram.value, each)
    });
    let title = match (&load, &room) {
        (Some((_, all)), Some((fit, ..))) if fit < all => format!(
            "`{token}` piles up behind `{name}`: {all} partitions could be alive at once, memory is full at {fit}"
        ),
        (Some((_, all)), _) => format!("`{token}` piles up behind `{name}`: {all} partitions could be alive at once"),
        (None, Some((fit, ..))) => {
            format!("`{token}` piles up behind `{name}`: nothing bounds it, memory is full at {fit} partitions")
        }
        (None, None) => format!("`{token}` piles up behind `{name}`: nothing bounds it"),
    };
    let mut found =
        Diagnostic::error(CHECK.code, at, title).here("worker and permits are free before the token has a place");
    for edge in &plan.stages[stage].outputs {
        let stated = graph.stated_edge(*edge);
        let span = stated.capacity.map_or(stated.to.span, |capacity| capacity.span);
        let places = plan.edges[*edge].capacity;
        let words = if places == 1 { "1 place".to_owned() } else { format!("{places} places") };
        found = found.and(span, format!("{words} here; the others wait outside"));
    }
    found = found.note(match &load {
        Some((load, all)) => format!(
            "{} jobs × {} partitions = {all} partitions: each is made as soon as a worker of `{name}` is free, and none waits \
             for the one before it to be taken",
            load.jobs, load.partitions
        ),
        None => format!(
            "each partition is made as soon as a worker of `{name}` is free, and none waits for the one before it to be taken; \
             `load: (jobs: …, partitions: …)` would say how many there are"
        ),
    });
    if let Some((fit, resident, ram, each)) = room {
        found = found.note(format!(
            "({} of RAM - {} resident) / {} for each `{token}` = {fit} partitions; number {} finds no memory",
            amount(ram),
            amount(resident),
            amount(each),
            fit + 1
        ));
    }
    let held = plan.stages[stage].holds.iter().fold(Linear::default(), |sum, (_, held)| sum.plus(held, 1));
    if let Some((each, _, counts)) = largest.filter(|(_, _, counts)| held.of(counts) > 0) {
        let held = amount(held.of(counts));
        found = found.note(format!("`holds` counts {held} of each, and `{token}` has {}", amount(each)));
    }
    let fits = largest.map_or_else(|| format!("\"{token}\""), |_| format!("\"{token}\""));
    found
        .help("remove `release: BeforeSend`: permits are then kept until the token has its place")
        .help(format!("or bound the tokens themselves: a pool \"ram\" of bytes, and `holds: {{ \"ram\": {fits} }}`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::examples;
    use crate::checks::testing::{diagnostics, titles, with};

    #[test]
    fn the_number_comes_with_its_derivation() {
        let found = diagnostics(CHECK.bad.text());
        assert_eq!(
            found[0].title,
            "`Witness` piles up behind `synthesize`: 30 partitions could be alive at once, memory is full at 16"
        );
        assert!(found[0].notes[0].starts_with("3 jobs × 10 partitions = 30 partitions"), "{:?}", found[0].notes);
        assert!(found[0].notes[1].starts_with("(64 GiB of RAM - 0 B resident) / 3.88 GiB"), "{:?}", found[0].notes);
    }

    #[test]
    fn holding_less_than_the_token_is_no_bound() {
        let text = CHECK.good.text().replace("\"ram\": \"Witness\"", "\"ram\": \"1 B\"");
        let found = diagnostics(&text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].code, CHECK.code);
        assert_eq!(found[0].notes[2], "`holds` counts 1 B of each, and `Witness` has 3.88 GiB");
    }

    #[test]
    fn without_a_load_nothing_bounds_it() {
        let text = with(
            examples::SMALL,
            "Stage(\"synthesize\", on: \"all\")",
            "Stage(\"synthesize\", on: \"all\", release: BeforeSend)",
        );
        assert_eq!(titles(&text), ["`Witness` piles up behind `synthesize`: nothing bounds it"]);
    }

    #[test]
    fn places_that_the_fork_reserved_are_a_bound() {
        let text = with(
            examples::FORK_AND_JOIN,
            "Stage(\"spmv\", on: \"all\", needs: { \"mem_heavy\": 1 })",
            "Stage(\"spmv\", on: \"all\", needs: { \"mem_heavy\": 1 }, release: BeforeSend)",
        );
        let found = titles(&text);
        assert!(!found.iter().any(|title| title.contains("piles up")), "{found:?}");
    }
}
