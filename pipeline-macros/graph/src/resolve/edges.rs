//! The two ends and the port of every edge.

use super::{Resolved, Stage};
use crate::checks::{ambiguous_port, dealloc, edge_type, unknown_name};
use crate::diagnostic::Report;
use crate::model::{self, Port};
use crate::source::At;
use crate::words::nearest;

/// An edge.
#[derive(Clone, Copy, Debug)]
pub struct Edge<'a> {
    /// What the file says.
    pub stated: &'a model::Edge,
    /// The stage that puts tokens in.
    pub from: usize,
    /// The stage that takes them out.
    pub to: usize,
    /// The port of `to`.
    pub port: usize,
}

/// Resolves the edges of `graph`; says whether all are known.
pub fn resolve(graph: &mut Resolved<'_>, report: &mut Report) -> bool {
    let file = graph.file;
    let mut all = file.edges.whole;
    for stated in &file.edges.items {
        let from = end(graph, &stated.from, report);
        let to = end(graph, &stated.to, report);
        let ends = from.zip(to);
        let port = ends.and_then(|(from, to)| port(file, stated, &graph.stages[from], &graph.stages[to], report));
        match ends.zip(port) {
            Some(((from, to), port)) => graph.edges.push(Edge { stated, from, to, port }),
            None => {
                all = false;
                match to {
                    Some(to) => graph.stages[to].inputs_known = false,
                    None if graph.catalogue.of_stage(&stated.to.value).next().is_none() => graph.adrift.push(stated),
                    None => {}
                }
                if let Some((from, to)) = ends
                    && is_turned(file, stated, &graph.stages[from], &graph.stages[to])
                {
                    graph.stages[from].inputs_known = false;
                }
            }
        }
    }
    if !all && !file.edges.whole {
        graph.stages.iter_mut().for_each(|stage| stage.inputs_known = false);
    }
    all
}

/// Whether an edge fits the other way round only, and is not there that way too.
fn is_turned(file: &model::Graph, stated: &model::Edge, from: &Stage<'_>, to: &Stage<'_>) -> bool {
    let back = to.implementation().and_then(|taker| taker.output.as_ref());
    let fits = back.is_some_and(|back| from.ports().iter().any(|port| port.token == *back));
    let there = |edge: &model::Edge| edge.from.value == stated.to.value && edge.to.value == stated.from.value;
    fits && stated.port.is_none() && !file.edges.items.iter().any(there)
}

/// Whether a stage of the graph has a name that nothing has, and that was probably meant to be `name`.
fn is_misspelt_there(graph: &Resolved<'_>, name: &str) -> bool {
    let mut unknown = graph.stages.iter().filter(|stage| graph.catalogue.of_stage(stage.name()).next().is_none());
    unknown.any(|stage| nearest(stage.name(), graph.catalogue.stages()) == Some(name))
}

fn end(graph: &Resolved<'_>, name: &At<String>, report: &mut Report) -> Option<usize> {
    let found = graph.stages.iter().position(|stage| stage.name() == name.value);
    if found.is_none() && graph.file.stages.whole && !is_misspelt_there(graph, &name.value) {
        report.add_error(|| {
            if graph.catalogue.of_stage(&name.value).next().is_some() {
                unknown_name::stage_not_in_graph(name.span, &name.value)
            } else {
                unknown_name::report("stage", name.span, &name.value, graph.stages.iter().map(Stage::name))
            }
        });
    }
    found
}

/// The port that an edge leads to: the named one, else the one that takes the token.
fn port(
    file: &model::Graph,
    stated: &model::Edge,
    from: &Stage<'_>,
    to: &Stage<'_>,
    report: &mut Report,
) -> Option<usize> {
    let (giver, taker) = (from.implementation()?, to.implementation()?);
    let Some(output) = &giver.output else {
        report.add(dealloc::has_an_edge(stated.from.span, from.name()));
        return None;
    };
    if taker.is_dealloc() {
        report.add(dealloc::has_an_edge(stated.to.span, to.name()));
        return None;
    }
    let ports = taker.edge_ports();
    if let Some(name) = &stated.port {
        let Some(position) = ports.iter().position(|port| port.name == name.value) else {
            let names = ports.iter().map(|port| port.name.as_str());
            report.add(unknown_name::port(name.span, to.name(), &name.value, names));
            return None;
        };
        if ports[position].token != *output {
            report.add(edge_type::report(stated, output, &ports[position..=position]));
            return None;
        }
        return Some(position);
    }
    let fitting: Vec<usize> = (0..ports.len()).filter(|position| ports[*position].token == *output).collect();
    match fitting.as_slice() {
        [only] => Some(*only),
        [] if is_turned(file, stated, from, to) => {
            report.add(edge_type::turned(stated, output, ports));
            None
        }
        [] => {
            report.add(edge_type::report(stated, output, ports));
            None
        }
        several => {
            let several: Vec<&Port> = several.iter().map(|position| &ports[*position]).collect();
            report.add(ambiguous_port::report(stated, output, &several));
            None
        }
    }
}
