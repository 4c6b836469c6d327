//! PL0008: a name that is given twice.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::{Check, Example, examples};
use crate::diagnostic::{Diagnostic, Report};
use crate::model::Implementation;
use crate::resolve::Resolved;
use crate::source::{At, Span};

/// The page.
pub const CHECK: Check = Check {
    code: "PL0008",
    name: "duplicate-name",
    rule: "A name is given once: pools, groups, stages, sizes, and the fields of anything.",
    why: "Of two entries with one name, one would be ignored. A stage that should run more firings at once has \
          `workers`, not a second entry.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 1, "dealloc": 1, "mem_heavy": 2 },
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
    fix: "Remove or rename one of the two.",
    run: Some(run),
};

fn run(graph: &Resolved<'_>, report: &mut Report) {
    let file = graph.file;
    names(file.sizes.items.iter().map(|sizes| &sizes.name), "circuit", report);
    names(file.pools.items.iter().map(|pool| &pool.name), "pool", report);
    names(file.groups.items.iter().map(|group| &group.name), "group", report);
    names(file.stages.items.iter().map(|stage| &stage.name), "stage", report);
    for stage in &file.stages.items {
        names(stage.needs.items.iter().map(|(pool, _)| pool), "pool", report);
        names(stage.holds.items.iter().map(|(pool, _)| pool), "pool", report);
        names(stage.workspace.items.iter().map(|(pool, _)| pool), "pool", report);
        names(stage.in_order.iter().flat_map(|order| &order.value.items), "pool", report);
    }
}

/// Reports every name of a list that was there before.
pub fn names<'a>(names: impl IntoIterator<Item = &'a At<String>>, kind: &str, report: &mut Report) {
    let named = names.into_iter().map(|name| (name.value.as_str(), name.span));
    for (name, places) in again(named) {
        report.add(several(&places, &format!("{kind} `{name}`")));
    }
}

/// Where something that is there more than once is.
struct Places {
    first: Span,
    again: Span,
    others: Vec<Span>,
}

/// What is there more than once, in the order of the second entries.
fn again<K: Copy + Eq + std::hash::Hash>(all: impl Iterator<Item = (K, Span)>) -> Vec<(K, Places)> {
    // The first place of each, and where in the list it is if it was there again.
    let mut seen: HashMap<K, (Span, Option<usize>)> = HashMap::new();
    let mut found: Vec<(K, Places)> = Vec::new();
    for (key, span) in all {
        match seen.entry(key) {
            Entry::Vacant(vacant) => {
                vacant.insert((span, None));
            }
            Entry::Occupied(mut occupied) => match occupied.get_mut() {
                (_, Some(position)) => found[*position].1.others.push(span),
                (first, position) => {
                    *position = Some(found.len());
                    found.push((key, Places { first: *first, again: span, others: Vec::new() }));
                }
            },
        }
    }
    found
}

/// Reports every implementation of a stage that has one on that backend already.
pub fn implementations(list: &[Implementation], report: &mut Report) {
    let keys = list.iter().map(|one| ((one.stage.value.as_str(), one.backend.value.as_str()), one.stage.span));
    for ((stage, backend), places) in again(keys) {
        report.add(several(&places, &format!("stage `{stage}` on `{backend}`")));
    }
}

/// A field that is given twice.
pub fn field(span: Span, owner: &str, field: &str, first: Span) -> Diagnostic {
    let owner = if owner.is_empty() { "this tuple".to_owned() } else { format!("`{owner}`") };
    twice(span, first, &format!("field `{field}` of {owner}"))
}

/// One fault for all entries of one name: `first`, `again` and `others`.
fn several(places: &Places, what: &str) -> Diagnostic {
    let found = twice(places.again, places.first, what);
    if places.others.is_empty() {
        return found;
    }
    let title = format!("{what} is given {} times", places.others.len() + 2);
    places.others.iter().fold(Diagnostic { title, ..found }, |found, span| found.and(*span, "and here"))
}

fn twice(span: Span, first: Span, what: &str) -> Diagnostic {
    Diagnostic::error(CHECK.code, span, format!("{what} is given twice")).here("again here").and(first, "first here")
}

#[cfg(test)]
mod tests {
    use crate::checks::examples;
    use crate::checks::testing::{diagnostics, titles, with};

    #[test]
    fn both_places_are_shown() {
        let found = diagnostics(super::CHECK.bad.text());
        assert_eq!(found[0].labels.len(), 2);
        assert!(found[0].labels[1].span.start < found[0].labels[0].span.start);
    }

    #[test]
    fn stages_and_fields_too() {
        let stage = "Stage(\"dealloc\", needs: { \"dealloc\": 1 }),";
        let twice = with(examples::SMALL, stage, &format!("{stage}{stage}"));
        assert_eq!(titles(&twice), ["stage `dealloc` is given twice"]);
        let twice = with(examples::SMALL, "sku: any", "sku: any, sku: any");
        assert_eq!(titles(&twice), ["field `sku` of `Graph` is given twice"]);
    }
}
