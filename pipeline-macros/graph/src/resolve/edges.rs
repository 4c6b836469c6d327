//! The two ends and the port of every edge.

use super::{Resolved, Stage};
use crate::checks::{ambiguous_port, dealloc, edge_type, unknown_name};
use crate::diagnostic::Report;
use crate::model::{self, Port};
use crate::source::At;

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
        let port = ends.and_then(|(from, to)| port(stated, &graph.stages[from], &graph.stages[to], report));
        match ends.zip(port) {
            Some(((from, to), port)) => graph.edges.push(Edge { stated, from, to, port }),
            None => {
                all = false;
                if let Some(to) = to {
                    graph.stages[to].inputs_known = false;
                }
            }
        }
    }
    if !all && !file.edges.whole {
        graph.stages.iter_mut().for_each(|stage| stage.inputs_known = false);
    }
    all
}

fn end(graph: &Resolved<'_>, name: &At<String>, report: &mut Report) -> Option<usize> {
    let found = graph.stages.iter().position(|stage| stage.name() == name.value);
    if found.is_none() && graph.file.stages.whole {
        let elsewhere = graph.catalogue.of_stage(&name.value).next().is_some();
        report.add(if elsewhere {
            unknown_name::stage_not_in_graph(name.span, &name.value)
        } else {
            unknown_name::report("stage", name.span, &name.value, graph.stages.iter().map(Stage::name))
        });
    }
    found
}

/// The port that an edge leads to: the named one, else the one that takes the token.
fn port(stated: &model::Edge, from: &Stage<'_>, to: &Stage<'_>, report: &mut Report) -> Option<usize> {
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
