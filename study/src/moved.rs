//! A graph in another folder: what it names must be found from there.

use std::path::{Component, Path, PathBuf};

use pipeline_graph::diagnostic::Report;
use pipeline_graph::load::stays_beside;
use pipeline_graph::model::SkuChoice;
use pipeline_graph::source::{Source, Sources};
use pipeline_graph::{decode, ron};

use crate::read::{MOST_BYTES, skus_of, text_of};
use crate::{Study, StudyError};

/// A graph as it is written to another place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moved {
    /// Its text, with the catalogue's path from there.
    pub text: String,
    /// Copies of what it names and would not find there: SKU, catalogue.
    pub files: Vec<(PathBuf, String)>,
}

/// The text of the graph file `from`, to be written to the file `to`. A catalogue is named by its path from there where
/// graph files may name it so, and else goes along; a SKU that is not found from there goes along.
///
/// # Errors
/// What the graph names cannot be read, or another file of that name is there already.
pub fn move_graph(text: &str, from: &Path, to: &Path) -> Result<Moved, StudyError> {
    let (from_file, to_file) = (whole(from), whole(to));
    let mut moved = Moved { text: text.to_owned(), files: Vec::new() };
    let mut sources = Sources::default();
    let id = sources.add(Source::inline("graph", text));
    let mut report = Report::default();
    let tree = ron::read(id, &sources, &mut report);
    let Some(graph) = decode::graph(&tree, &mut report) else { return Ok(moved) };
    if let Some(SkuChoice::Named(name)) = graph.sku.as_ref().map(|choice| &choice.value) {
        let (old, new) = (skus_of(&from_file), skus_of(&to_file));
        let file = format!("{name}.ron");
        moved.take_along(&old.join(&file), new.join(&file), to)?;
    }
    if let Some(catalogue) = &graph.catalogue {
        let old = whole(&from_file.with_file_name(&catalogue.value));
        let path = match from_folder(&to_file, &old).filter(|path| stays_beside(path)) {
            Some(path) => path,
            None => {
                let name = old.file_name().unwrap_or_default().to_string_lossy().into_owned();
                moved.take_along(&old, to_file.with_file_name("catalogues").join(&name), to)?;
                format!("catalogues/{name}")
            }
        };
        let span = catalogue.span;
        moved.text.replace_range(span.start as usize..span.end as usize, &format!("\"{path}\""));
    }
    Ok(moved)
}

impl Moved {
    /// Takes a file along, unless it is there.
    fn take_along(&mut self, old: &Path, new: PathBuf, to: &Path) -> Result<(), StudyError> {
        if whole(old) == whole(&new) {
            return Ok(());
        }
        let text = text_of(old, MOST_BYTES)?;
        if new.exists() {
            return if text_of(&new, MOST_BYTES)? == text {
                Ok(())
            } else {
                let why = format!(
                    "it names {}, and another {} is there; choose another folder, or make the two the same",
                    old.display(),
                    new.display()
                );
                Err(StudyError::NotFromThere { file: to.to_owned(), why })
            };
        }
        self.files.push((new, text));
        Ok(())
    }
}

/// The path of a file from the folder of another, at most one step back; `None` where it takes more.
fn from_folder(from: &Path, file: &Path) -> Option<String> {
    let folder = from.parent()?;
    let words = |rest: &Path| Some(rest.to_str()?.to_owned());
    match file.strip_prefix(folder) {
        Ok(rest) => words(rest),
        Err(_) => Some(format!("../{}", words(file.strip_prefix(folder.parent()?).ok()?)?)),
    }
}

/// A path from the root, links and steps back resolved as far as there is something.
fn whole(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut plain = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
        plain = plain.canonicalize().unwrap_or(plain);
    }
    plain
}

impl Study {
    /// The text of the graph's file.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn text(&self) -> Result<String, StudyError> {
        text_of(&self.file, MOST_BYTES)
    }
}
