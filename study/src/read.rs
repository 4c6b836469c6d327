//! Reads graphs, machines and cost models.

use std::io::Read;
use std::path::{Path, PathBuf};

use pipeline_graph::kind::{Kind, kind_of};
use pipeline_graph::load::is_plain_name;
use pipeline_graph::plan::Plan as GraphPlan;
use pipeline_graph::{Outcome, Source, Style, load_file, render};
use pipeline_runtime::plan::Sku;
use pipeline_runtime::sim::Costs;

use crate::numbers::{Fault, Step};
use crate::{CATALOGUE, StudyError, fields, place, sku_of};

/// Reads a SKU by its name, from the folder `skus` beside the graph or beside its folder.
///
/// # Errors
/// There is none, or it has faults.
pub fn read_sku(graph: &Path, name: &str) -> Result<Sku, StudyError> {
    let folder = skus_of(graph);
    let file = folder.join(format!("{name}.ron"));
    if !is_plain_name(name) || !file.exists() {
        let known = pipeline_graph::SkuFiles::Folder(&folder).names();
        return Err(StudyError::NoSku { name: name.to_owned(), folder, known });
    }
    let shown = file.display().to_string();
    let source = Source::read(&file, &shown).map_err(|why| match why.kind() {
        std::io::ErrorKind::InvalidData => StudyError::Graph(format!("error: {shown}: {why}")),
        _ => StudyError::Unreadable { file: file.clone(), why },
    })?;
    let outcome = pipeline_graph::load::sku(name, source);
    let text = |found| render::diagnostic(found, &outcome.sources, Style::Plain);
    let faults = outcome.diagnostics.iter().map(text).collect::<Vec<_>>();
    outcome.sku.as_ref().map(sku_of).ok_or_else(|| StudyError::Graph(faults.join("\n\n")))
}

/// The folder of the SKUs: beside the graph, or beside its folder.
pub(crate) fn skus_of(graph: &Path) -> PathBuf {
    let graph = &std::path::absolute(graph).unwrap_or_else(|_| graph.to_owned());
    let beside = graph.with_file_name("skus");
    let above = graph.parent().and_then(Path::parent).map(|folder| folder.join("skus"));
    above.filter(|above| !beside.is_dir() && above.is_dir()).unwrap_or(beside)
}

/// The text of a file of at most `most` bytes. A pipe or a device, which would be waited for or never ends, is refused.
pub(crate) fn text_of(file: &Path, most: u64) -> Result<String, StudyError> {
    let unreadable = |why| StudyError::Unreadable { file: file.to_owned(), why };
    let no_text = |why: String| StudyError::NoText { file: file.to_owned(), why };
    // Asked before it is opened: to open a pipe waits for whoever writes into it.
    let kind = std::fs::metadata(file).map_err(unreadable)?;
    if !kind.is_file() {
        let found = if kind.is_dir() { "a folder" } else { "a pipe, a device or a socket" };
        return Err(unreadable(std::io::Error::other(format!("it is {found}, not a regular file"))));
    }
    let too_long =
        |bytes: u64| format!("it has {bytes} bytes, more than the {most} that are read: is it the right file?");
    if kind.len() > most {
        return Err(no_text(too_long(kind.len())));
    }
    let mut bytes = Vec::new();
    // The length is not believed: it may change, and some files do not know theirs.
    let read = std::fs::File::open(file).and_then(|open| open.take(most + 1).read_to_end(&mut bytes));
    read.map_err(unreadable)?;
    if bytes.len() as u64 > most {
        return Err(no_text(too_long(bytes.len() as u64)));
    }
    String::from_utf8(bytes)
        .map_err(|error| no_text(format!("it is no text: byte {} is not UTF-8", error.utf8_error().valid_up_to())))
}

/// No cost model, and nothing that is fitted, is larger.
pub(crate) const MOST_BYTES: u64 = 16 << 20;

/// Reads a file of costs.
///
/// # Errors
/// It cannot be read or understood.
pub fn read_costs(file: &Path) -> Result<Costs, StudyError> {
    let text = text_of(file, MOST_BYTES)?;
    let costs: Costs =
        options().from_str(&text).map_err(|error| match kind_of(&text).filter(|kind| *kind != Kind::Costs) {
            Some(kind) => other_kind(file, kind, "a cost model, as `proofline calibrate` writes it,"),
            None => place::unreadable(file, &text, &error),
        })?;
    if let Some(twice) = place::twice(file, &text) {
        return Err(twice);
    }
    let version = || {
        let why = format!("version {} of the format is not known; this program reads version 1", costs.version);
        Fault::because(vec![Step::Field("version")], "version", why)
    };
    let fault = (costs.version != 1).then(version).or_else(|| fields::fault_of(&costs));
    fault.map_or(Ok(costs), |fault| Err(place::fault_in(file, &text, &fault)))
}

/// A cost model as the text of a file; `made_by` is its first line.
///
/// # Errors
/// A number in it is none.
pub fn costs_text(costs: &Costs, made_by: &str) -> Result<String, ron::Error> {
    let pretty = ron::ser::PrettyConfig::new()
        .struct_names(false)
        .indentor("    ")
        .extensions(ron::extensions::Extensions::IMPLICIT_SOME);
    Ok(format!("// Made by `{made_by}`.\n{}\n", ron::ser::to_string_pretty(costs, pretty)?))
}

/// A file of another kind than the one that is wanted.
pub(crate) fn other_kind(file: &Path, found: Kind, wanted: &str) -> StudyError {
    let why = format!("it is {}: {wanted} is wanted here", found.words());
    StudyError::NoText { file: file.to_owned(), why }
}

pub(crate) fn options() -> ron::Options {
    ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME)
}

/// The plan of a graph file, and the names of the stages that its catalogue has.
pub(crate) fn read_graph(file: &Path) -> Result<(GraphPlan, Vec<String>), StudyError> {
    let shown = file.display().to_string();
    let catalogue = Source::inline("stages/catalogue.ron", CATALOGUE);
    // A bare name has no folder beside whose own folder the SKUs could be.
    let place = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let outcome =
        load_file(&place, &shown, catalogue).map_err(|why| StudyError::Unreadable { file: file.to_owned(), why })?;
    if let Some(why) = outcome.unread {
        return Err(StudyError::Unreadable { file: file.to_owned(), why: std::io::Error::other(why) });
    }
    let catalogue = outcome.catalogue.iter().flat_map(|catalogue| &catalogue.implementations);
    let mut stages: Vec<String> = catalogue.map(|one| one.stage.value.clone()).collect();
    stages.sort();
    stages.dedup();
    Ok((plan_of(outcome)?, stages))
}

pub(crate) fn plan_of(outcome: Outcome) -> Result<GraphPlan, StudyError> {
    let faults = if outcome.plan.is_none() { faults_of(&outcome) } else { String::new() };
    outcome.plan.ok_or(StudyError::Graph(faults))
}

fn faults_of(outcome: &Outcome) -> String {
    let texts = outcome.errors().map(|found| render::diagnostic(found, &outcome.sources, Style::Plain));
    texts.collect::<Vec<_>>().join("\n\n")
}
