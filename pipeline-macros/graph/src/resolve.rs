//! Names → what they stand for. Names that nothing has are reported; what depends on them stays open, so that no check
//! reports what follows from them.

mod edges;

use std::collections::{HashMap, HashSet};

use crate::checks::{bytes, unknown_name, values};
use crate::diagnostic::Report;
use crate::model::{self, Catalogue, Expression, Graph, Implementation, Linear, Listed, Sku, Term};
use crate::source::{At, Span};
use crate::words::{BACKENDS, BadArgument, DEFAULT_BACKEND, POLICIES, policy_parts};

pub use edges::Edge;

/// A graph whose names are resolved.
#[derive(Debug)]
pub struct Resolved<'a> {
    /// The file.
    pub file: &'a Graph,
    /// The catalogue.
    pub catalogue: &'a Catalogue,
    /// The machine; `None` for `sku: any`, and where its file could not be read.
    pub sku: Option<&'a Sku>,
    /// The stages, in the order of the file.
    pub stages: Vec<Stage<'a>>,
    /// What the process keeps: names and bytes.
    pub resident: Vec<(&'a str, Linear)>,
    /// The edges whose two ends and port are known.
    pub edges: Vec<Edge<'a>>,
    /// Whether all stages and all edges are known; else a check must not conclude that something is missing.
    pub whole: bool,
    /// Edges that lead to a stage that nothing has: misspelt, most likely.
    pub adrift: Vec<&'a model::Edge>,
}

/// A stage.
#[derive(Debug)]
pub struct Stage<'a> {
    /// What the file says.
    pub stated: &'a model::Stage,
    /// The implementations of its backends, in the order of preference; empty if one is unknown.
    pub branches: Vec<&'a Implementation>,
    /// Its group.
    pub group: Option<usize>,
    /// The pools and weights of a firing.
    pub needs: Vec<(usize, At<u64>)>,
    /// The pools and bytes of an output token.
    pub holds: Vec<(usize, Linear, At<()>)>,
    /// The pools and bytes of a worker.
    pub workspace: Vec<(usize, Linear, At<()>)>,
    /// The pools in the order in which it takes them, if it takes them one after the other.
    pub in_order: Option<Vec<usize>>,
    /// Whether every name in it is known.
    pub known: bool,
    /// Whether every edge that leads here is known.
    pub inputs_known: bool,
}

impl<'a> Stage<'a> {
    /// The name.
    #[must_use]
    pub fn name(&self) -> &'a str {
        &self.stated.name.value
    }

    /// The implementation by which ports and output are judged; all branches agree in them.
    #[must_use]
    pub fn implementation(&self) -> Option<&'a Implementation> {
        self.branches.first().copied()
    }

    /// Whether it takes dead slots.
    #[must_use]
    pub fn is_dealloc(&self) -> bool {
        self.implementation().is_some_and(Implementation::is_dealloc)
    }

    /// The ports that edges lead to.
    #[must_use]
    pub fn ports(&self) -> &'a [model::Port] {
        self.implementation().map_or(&[], Implementation::edge_ports)
    }
}

impl Resolved<'_> {
    /// The edges that leave a stage.
    pub fn leaving(&self, stage: usize) -> impl Iterator<Item = &Edge<'_>> {
        self.edges.iter().filter(move |edge| edge.from == stage)
    }
}

fn resolve_policy(policy: &At<String>, file: &Graph, report: &mut Report) {
    let parts = policy_parts(&policy.value);
    let word = parts.map_or_else(|word| word, |(word, _)| word);
    let Some(known) = POLICIES.iter().find(|known| known.word == word) else {
        report.add(unknown_name::report("policy", policy.span, word, POLICIES.map(|policy| policy.word)));
        return;
    };
    // Of a list that lost stages it is not known what positions there are.
    let stages = if file.stages.whole { file.stages.items.len() } else { usize::MAX };
    let fault = match parts {
        Ok((_, argument)) => known.fault_of(argument, stages),
        Err(_) => Some(BadArgument::Form),
    };
    if let Some(fault) = fault {
        report.add(values::not_its_argument(policy.span, &policy.value, known, &fault));
    }
}

/// Resolves the names of a file.
pub fn resolve<'a>(
    file: &'a Graph,
    catalogue: &'a Catalogue,
    sku: Option<&'a Sku>,
    report: &mut Report,
) -> Resolved<'a> {
    if let Some(policy) = &file.policy {
        resolve_policy(policy, file, report);
    }
    let mut missing = Missing::default();
    let stages = file.stages.items.iter();
    let mut stages: Vec<Stage<'a>> =
        stages.map(|stage| resolve_stage(stage, file, catalogue, &mut missing, report)).collect();
    missing.report(file, report);
    let doubled = doubled(&mut stages);
    let resident = file.resident.items.iter();
    let resident =
        resident.filter_map(|(name, formula)| Some((name.value.as_str(), linear(formula, catalogue, report)?)));
    let resident = resident.collect();
    let mut graph =
        Resolved { file, catalogue, sku, stages, resident, edges: Vec::new(), whole: false, adrift: Vec::new() };
    let all_edges = edges::resolve(&mut graph, report);
    let all_stages = file.stages.whole && graph.stages.iter().all(|stage| !stage.branches.is_empty());
    graph.whole = all_edges && all_stages && !doubled;
    graph
}

/// Opens the inputs of stages whose name another has already: edges lead to the first.
fn doubled(stages: &mut [Stage<'_>]) -> bool {
    let mut seen = HashSet::new();
    let mut doubled = false;
    for stage in stages {
        if !seen.insert(stage.name()) {
            // What its second entry lacks is said by the first.
            (stage.inputs_known, stage.known) = (false, false);
            doubled = true;
        }
    }
    doubled
}

/// Names of pools and groups that no entry has, with the places that name them: one fault each, however many stages.
#[derive(Default)]
struct Missing<'a> {
    pools: Vec<&'a At<String>>,
    groups: Vec<&'a At<String>>,
}

impl Missing<'_> {
    fn report(&self, file: &Graph, report: &mut Report) {
        let pools = file.pools.items.iter().map(|pool| pool.name.value.as_str());
        let groups = file.groups.items.iter().map(|group| group.name.value.as_str());
        if file.pools.whole {
            report_missing("pool", &self.pools, &pools.collect::<Vec<_>>(), report);
        }
        if file.groups.whole {
            report_missing("group", &self.groups, &groups.collect::<Vec<_>>(), report);
        }
    }
}

fn report_missing(kind: &str, missing: &[&At<String>], known: &[&str], report: &mut Report) {
    let mut places: Vec<(&str, Span, Vec<Span>)> = Vec::new();
    let mut order: HashMap<&str, usize> = HashMap::new();
    for name in missing {
        let position = *order.entry(&name.value).or_insert(places.len());
        match places.get_mut(position) {
            Some((.., others)) => others.push(name.span),
            None => places.push((&name.value, name.span, Vec::new())),
        }
    }
    for (name, first, others) in places {
        report.add_error(|| unknown_name::of_entries(kind, first, &others, name, known));
    }
}

fn resolve_stage<'a>(
    stated: &'a model::Stage,
    file: &'a Graph,
    catalogue: &'a Catalogue,
    missing: &mut Missing<'a>,
    report: &mut Report,
) -> Stage<'a> {
    let mut known = stated.whole;
    let branches = branches(stated, catalogue, report);
    known &= !branches.is_empty();
    let group = stated.on.as_ref().and_then(|on| {
        let groups = &file.groups;
        let found = groups.items.iter().position(|group| group.name.value == on.value);
        if found.is_none() {
            known = false;
            missing.groups.push(on);
        }
        found
    });
    let mut pool = |name: &'a At<String>| {
        let found = file.pools.items.iter().position(|pool| pool.name.value == name.value);
        if found.is_none() {
            known = false;
            missing.pools.push(name);
        }
        found
    };
    let needs = &stated.needs.items;
    let needs = needs.iter().filter_map(|(name, weight)| Some((pool(name)?, *weight))).collect();
    let mut formulas = |list: &'a Listed<(At<String>, At<Expression>)>, report: &mut Report| {
        let resolved = list.items.iter().filter_map(|(name, formula)| {
            let (pool, bytes) = (pool(name), linear(formula, catalogue, report));
            Some((pool?, bytes?, At { value: (), span: formula.span }))
        });
        resolved.collect::<Vec<_>>()
    };
    let (holds, workspace) = (formulas(&stated.holds, report), formulas(&stated.workspace, report));
    let in_order =
        stated.in_order.as_ref().map(|order| order.value.items.iter().filter_map(&mut pool).collect::<Vec<_>>());
    known &= holds.len() == stated.holds.items.len() && workspace.len() == stated.workspace.items.len();
    Stage { stated, branches, group, needs, holds, workspace, in_order, known, inputs_known: true }
}

fn branches<'a>(stated: &model::Stage, catalogue: &'a Catalogue, report: &mut Report) -> Vec<&'a Implementation> {
    let name = &stated.name;
    if catalogue.of_stage(&name.value).next().is_none() {
        report.add(unknown_name::report("stage", name.span, &name.value, catalogue.stages()));
        return Vec::new();
    }
    let default = [At { value: DEFAULT_BACKEND.to_owned(), span: name.span }];
    let backends = stated.backend.as_ref().map_or(&default[..], model::Backend::names);
    let found = backends.iter().map(|backend| {
        if !BACKENDS.contains(&backend.value.as_str()) {
            report.add(unknown_name::report("backend", backend.span, &backend.value, BACKENDS));
            return None;
        }
        let found = catalogue.find(&name.value, &backend.value);
        if found.is_none() {
            let known = catalogue.of_stage(&name.value).map(|one| one.backend.value.as_str());
            report.add(unknown_name::no_implementation(backend.span, &name.value, &backend.value, known));
        }
        found
    });
    // Of all branches, so that each unknown one is reported.
    let found: Vec<Option<&Implementation>> = found.collect();
    found.into_iter().collect::<Option<Vec<_>>>().unwrap_or_default()
}

fn linear(formula: &At<Expression>, catalogue: &Catalogue, report: &mut Report) -> Option<Linear> {
    let mut sum = Linear::default();
    for term in &formula.value.0 {
        match term {
            Term::Bytes(bytes) => sum.fixed = sum.fixed.saturating_add(*bytes),
            Term::Size(factor, size) => sum.per[*size] = sum.per[*size].saturating_add(*factor),
            Term::Token(factor, word) => {
                let tokens = || catalogue.tokens.iter();
                let Some(token) = tokens().find(|token| token.name.value == *word) else {
                    let names: Vec<&str> = tokens().map(|token| token.name.value.as_str()).collect();
                    report.add(bytes::unknown_word(formula.span, word, &names));
                    return None;
                };
                sum = sum.plus(&token.bytes, *factor);
            }
        }
    }
    Some(sum)
}
