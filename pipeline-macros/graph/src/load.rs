//! The whole way: a graph file, its SKU and the catalogue → diagnostics and a plan.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::checks::{Planned, for_study, unreadable};
use crate::diagnostic::{Diagnostic, Report, Severity};
use crate::kind::Kind;
use crate::model::{Catalogue, Graph, Sku, SkuChoice};
use crate::plan::Plan;
use crate::ron::Node;
use crate::source::{At, Source, Sources, Span};
use crate::{checks, decode, plan, resolve, ron};

/// Where the SKU that a graph names is looked for.
#[derive(Clone, Copy, Debug)]
pub enum SkuFiles<'a> {
    /// The files `NAME.ron` of this folder: `skus/` beside the graph file.
    Folder(&'a Path),
    /// These texts, by name.
    Known(&'a [(&'a str, &'a str)]),
}

/// What came of a graph.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Everything that was read: diagnostics point into it, and a build watches the files of it.
    pub sources: Sources,
    /// Errors and warnings by place: the graph's first, then those of the SKU and the catalogue.
    pub diagnostics: Vec<Diagnostic>,
    /// How many more there would be; of a hostile file only the first hundred are kept.
    pub left_out: usize,
    /// The catalogue, if it could be read.
    pub catalogue: Option<Catalogue>,
    /// The plan; `None` if there is an error.
    pub plan: Option<Plan>,
    /// Why a build refuses the graph though it is lawful: it is for study.
    pub study: Vec<Diagnostic>,
    /// Why the graph file could not be read, if it is there and could not: a diagnostic says so too.
    pub unread: Option<String>,
}

impl Outcome {
    /// The errors.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// The warnings.
    pub fn warnings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Warning)
    }

    /// All that a build shows: errors and warnings, and of a lawful graph why it cannot be built.
    pub fn refusals(&self) -> impl Iterator<Item = &Diagnostic> {
        let study = if self.plan.is_some() { self.study.as_slice() } else { &[] };
        self.diagnostics.iter().chain(study)
    }

    /// The files that were read.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.sources.iter().filter_map(|source| source.path.as_deref())
    }
}

/// Loads the graph file at `path`, its SKU from `skus/` beside it or, if that is not there, beside its folder; diagnostics show the file as `shown`.
///
/// # Errors
/// The graph file is not there, or may not be read. All other faults are diagnostics.
pub fn load_file(path: &Path, shown: &str, catalogue: Source) -> std::io::Result<Outcome> {
    let graph = match Source::read(path, shown) {
        Err(error) if matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::InvalidInput) => {
            return Ok(no_graph(shown, &error));
        }
        read => read?,
    };
    let beside = path.with_file_name("skus");
    let above = path.parent().and_then(Path::parent).map(|folder| folder.join("skus"));
    let skus = above.filter(|above| !beside.is_dir() && above.is_dir()).unwrap_or(beside);
    Ok(load(graph, catalogue, SkuFiles::Folder(&skus)))
}

/// What came of a file that is no text.
fn no_graph(shown: &str, error: &std::io::Error) -> Outcome {
    let mut sources = Sources::default();
    let file = sources.add(Source::inline(shown, ""));
    let mut report = Report::default();
    report.add(unreadable::graph(Span { file, start: 0, end: 0 }, shown, error));
    // What was read and is no text has a fault like any other.
    let unread = (error.kind() == ErrorKind::InvalidInput).then(|| error.to_string());
    Outcome { unread, ..refused(sources, report) }
}

/// What came of a graph that was not looked at to the end.
fn refused(sources: Sources, report: Report) -> Outcome {
    let left_out = report.left_out();
    let diagnostics = report.into_sorted();
    Outcome { sources, diagnostics, left_out, catalogue: None, plan: None, study: Vec::new(), unread: None }
}

/// Loads a graph.
#[must_use]
pub fn load(graph: Source, catalogue: Source, skus: SkuFiles<'_>) -> Outcome {
    let mut sources = Sources::default();
    let mut report = Report::default();
    let (shown, path) = (graph.shown.clone(), graph.path.clone());
    let graph = sources.add(graph);
    let tree = ron::read(graph, &sources, &mut report);
    report = of_this_kind(&tree, Kind::Graph, report);
    if report.has_lost_the_thread() {
        // What the rest of the file seems to lack may be due to the fault that was reported. The catalogue is kept: with
        // its types a build can stand in for the graph, so that nothing else is reported where it is used.
        let known = self::catalogue(catalogue.clone());
        sources.add(catalogue);
        return Outcome { catalogue: known, ..refused(sources, report) };
    }
    let file = decode::graph(&tree, &mut report);
    let sku = file.as_ref().and_then(|file| load_sku(file, skus, &shown, &mut sources, &mut report));
    let own = file.as_ref().and_then(|file| file.catalogue.as_ref());
    let catalogue = match own {
        Some(own) => load_catalogue(own, skus, &shown, path.as_deref(), &mut report),
        None => Some(catalogue),
    };
    let Some(catalogue) = catalogue else {
        return refused(sources, report);
    };
    let catalogue = sources.add(catalogue);
    let tree = ron::read(catalogue, &sources, &mut report);
    let catalogue = decode::catalogue(&tree, &mut report);
    let (mut plan, mut study) = (None, Vec::new());
    if let (Some(file), Some(catalogue)) = (&file, &catalogue) {
        let graph = resolve::resolve(file, catalogue, sku.as_ref(), &mut report);
        checks::run(&graph, &mut report);
        if graph.whole && !report.shape_is_open() {
            let made = plan::plan(&graph, &shown, plan::digest(&sources));
            let planned = Planned { graph: &graph, plan: &made };
            checks::judge(&planned, &mut report);
            study = for_study::reasons(&planned);
            if !report.has_errors() {
                checks::lint(&graph, &mut report);
            }
            plan = Some(made).filter(|_| !report.has_errors());
        }
    }
    let left_out = report.left_out();
    Outcome { sources, left_out, diagnostics: report.into_sorted(), catalogue, plan, study, unread: None }
}

/// Reads a catalogue alone, without a graph to check; `None` if it has a fault.
#[must_use]
pub fn catalogue(source: Source) -> Option<Catalogue> {
    let (mut sources, mut report) = (Sources::default(), Report::default());
    let file = sources.add(source);
    let tree = ron::read(file, &sources, &mut report);
    decode::catalogue(&tree, &mut report).filter(|_| !report.has_errors())
}

/// What came of a SKU.
#[derive(Clone, Debug)]
pub struct SkuOutcome {
    /// What was read: diagnostics point into it.
    pub sources: Sources,
    /// Its faults.
    pub diagnostics: Vec<Diagnostic>,
    /// The machine; `None` if there is a fault.
    pub sku: Option<Sku>,
}

/// What the reader said of a file; nothing of one of another kind, whose faults are not looked for here.
fn of_this_kind(tree: &Node, wanted: Kind, report: Report) -> Report {
    if Kind::of(tree).is_none_or(|kind| kind == wanted) { report } else { Report::default() }
}

/// Reads a SKU alone. `name` is what it is called.
#[must_use]
pub fn sku(name: &str, source: Source) -> SkuOutcome {
    let (mut sources, mut report) = (Sources::default(), Report::default());
    let file = sources.add(source);
    let tree = ron::read(file, &sources, &mut report);
    report = of_this_kind(&tree, Kind::Sku, report);
    let sku = decode::sku(name, &tree, &mut report).filter(|_| !report.has_errors());
    SkuOutcome { sources, diagnostics: report.into_sorted(), sku }
}

/// The catalogue that a graph names, by its path from the graph file.
fn load_catalogue(
    own: &At<String>,
    skus: SkuFiles<'_>,
    graph: &str,
    path: Option<&Path>,
    report: &mut Report,
) -> Option<Source> {
    if !stays_beside(&own.value) {
        report.add(unreadable::catalogue_elsewhere(own.span, &own.value));
        return None;
    }
    let shown = joined(Path::new(graph), &own.value).display().to_string();
    if let SkuFiles::Known(known) = skus {
        let text = known.iter().find(|(name, _)| *name == own.value).map(|(_, text)| Source::inline(&shown, *text));
        if text.is_none() {
            report.add(unreadable::catalogue(own.span, &shown, "there is no such text"));
        }
        return text;
    }
    let path = path.map_or_else(|| PathBuf::from(&shown), |path| path.with_file_name(&own.value));
    match Source::read(&path, &shown) {
        Ok(source) => Some(source),
        Err(error) => {
            report.add(unreadable::catalogue(own.span, &shown, &error.to_string()));
            None
        }
    }
}

/// Whether a file of that name lies in the folder where it is looked for, and is no hidden one.
#[must_use]
pub fn is_plain_name(name: &str) -> bool {
    let belongs = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    !name.is_empty() && !name.starts_with('.') && name.bytes().all(belongs)
}

/// Whether a path from the graph file leads into the folder tree of the graphs: beside the graph or, for the graphs of a
/// folder of their own, one step back.
#[must_use]
pub fn stays_beside(path: &str) -> bool {
    let path = path.strip_prefix("../").unwrap_or(path);
    path.split('/').all(is_plain_name)
}

/// The path that `name` is from the file `from`, without the steps back that it need not take.
fn joined(from: &Path, name: &str) -> PathBuf {
    let mut path = from.parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(name).components() {
        if part != std::path::Component::ParentDir || !path.pop() {
            path.push(part);
        }
    }
    path
}

fn load_sku(file: &Graph, skus: SkuFiles<'_>, graph: &str, sources: &mut Sources, report: &mut Report) -> Option<Sku> {
    let choice = file.sku.as_ref()?;
    let SkuChoice::Named(name) = &choice.value else {
        return None;
    };
    if !is_plain_name(name) {
        report.add(unreadable::not_a_sku_name(choice.span, name));
        return None;
    }
    // As the graph's path is shown, so is the SKU's.
    let beside = Path::new(graph).with_file_name("skus");
    let folder = match skus {
        SkuFiles::Folder(folder) if !folder.ends_with(&beside) => Path::new(graph).parent().and_then(Path::parent),
        _ => None,
    };
    let folder = folder.map_or(beside, |folder| folder.join("skus"));
    let shown = folder.join(format!("{name}.ron")).display().to_string();
    let source = match skus {
        SkuFiles::Known(known) => {
            known.iter().find(|(known, _)| known == name).map(|(_, text)| Source::inline(&shown, *text))
        }
        SkuFiles::Folder(folder) => match Source::read(&folder.join(format!("{name}.ron")), &shown) {
            Ok(source) => Some(source),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => {
                report.add(unreadable::sku(choice.span, &shown, &error));
                return None;
            }
        },
    };
    let Some(source) = source else {
        report.add(unreadable::no_sku(choice.span, name, &shown, &skus.names()));
        return None;
    };
    let sku = sources.add(source);
    let tree = ron::read(sku, sources, report);
    decode::sku(name, &tree, report)
}

impl SkuFiles<'_> {
    /// The names of the SKUs that there are.
    #[must_use]
    pub fn names(self) -> Vec<String> {
        let mut names: Vec<String> = match self {
            SkuFiles::Known(known) => known.iter().map(|(name, _)| (*name).to_owned()).collect(),
            SkuFiles::Folder(folder) => {
                let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
                let paths = entries.map(|entry| entry.path());
                let files = paths.filter(|path: &PathBuf| path.extension().is_some_and(|extension| extension == "ron"));
                files.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect()
            }
        };
        names.sort();
        names
    }
}
