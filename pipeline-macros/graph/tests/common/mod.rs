//! What the tests of this folder share: the repository's files.

#![allow(dead_code, missing_docs)]

use std::path::{Path, PathBuf};

use pipeline_graph::{Outcome, Source, load_file};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The `.ron` files of a folder, by name, as paths from the root.
pub fn graphs(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(root().join(folder)).expect("the folder is there");
    let names = entries.map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into_owned());
    let mut paths: Vec<String> =
        names.filter(|name| name.ends_with(".ron")).map(|name| format!("{folder}/{name}")).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{folder} is empty");
    paths
}

/// The faulty graphs; those of `machines` name faulty machines of their own.
pub fn faulty() -> Vec<String> {
    let mut paths = graphs("graphs/fail");
    paths.extend(graphs("graphs/fail/machines"));
    paths
}

pub fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

pub fn catalogue() -> Source {
    Source::read(&root().join("stages/catalogue.ron"), "stages/catalogue.ron").expect("the catalogue is there")
}

pub fn load_path(path: &str) -> Outcome {
    load_file(&root().join(path), path, catalogue()).expect("the graph is there")
}

/// All that a build would show, as the first lines of `graphs/fail/` state it.
pub fn found(outcome: &Outcome) -> Vec<String> {
    outcome.refusals().map(|found| format!("{} {}", found.code, found.title)).collect()
}

/// Compares a file of the repository with what it should be; `PROOFLINE_BLESS=1` writes it instead.
pub fn blessed(path: &str, text: &str) {
    let file = root().join(path);
    if std::env::var_os("PROOFLINE_BLESS").is_some() {
        std::fs::write(&file, text).unwrap_or_else(|error| panic!("{path}: {error}"));
        return;
    }
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(known == text, "{path} is not current; `PROOFLINE_BLESS=1 cargo test -p pipeline-graph` writes:\n{text}");
}
