//! The graphs of the repository: those of `graphs/` are lawful, those of `graphs/fail/` have the faults that their
//! first lines state, and no others.

#![allow(missing_docs)]

use std::path::{Path, PathBuf};

use pipeline_graph::{Outcome, SkuFiles, Source, load, load_file};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn graphs(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("it can be listed").path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "ron")).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{folder} is empty");
    paths
}

fn load_path(path: &Path) -> Outcome {
    let catalogue = root().join("stages/catalogue.ron");
    let catalogue = Source::read(&catalogue, "stages/catalogue.ron").expect("the catalogue is there");
    load_file(path, &path.display().to_string(), catalogue).expect("the graph is there")
}

fn found(outcome: &Outcome) -> Vec<String> {
    outcome.diagnostics.iter().map(|found| format!("{} {}", found.code, found.title)).collect()
}

#[test]
fn lawful_graphs_compile_without_a_warning() {
    for path in graphs("graphs") {
        let outcome = load_path(&path);
        assert_eq!(found(&outcome), [""; 0], "{}", path.display());
        assert!(outcome.plan.is_some(), "{}", path.display());
    }
}

#[test]
fn every_sku_can_be_read() {
    let host = std::fs::read_to_string(root().join("graphs/host.ron")).expect("it is there");
    let folder = root().join("graphs/skus");
    for path in graphs("graphs/skus") {
        let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
        let graph = Source::inline("graphs/host.ron", host.replace("sku: any", &format!("sku: \"{name}\"")));
        let catalogue =
            Source::read(&root().join("stages/catalogue.ron"), "stages/catalogue.ron").expect("it is there");
        let outcome = load(graph, catalogue, SkuFiles::Folder(&folder));
        assert_eq!(found(&outcome), [""; 0], "{name}");
        assert_eq!(outcome.plan.and_then(|plan| plan.sku).map(|sku| sku.name), Some(name));
    }
}

#[test]
fn faulty_graphs_have_the_faults_that_they_state() {
    for path in graphs("graphs/fail") {
        let text = std::fs::read_to_string(&path).expect("it is there");
        let stated: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("// PL")).collect();
        let stated: Vec<String> = stated.into_iter().map(|line| format!("PL{line}")).collect();
        assert!(!stated.is_empty(), "{} states no fault", path.display());
        let outcome = load_path(&path);
        assert_eq!(found(&outcome), stated, "{}", path.display());
        assert!(outcome.plan.is_none(), "{}", path.display());
    }
}
