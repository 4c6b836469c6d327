//! Every check has a fault that a test compiles or judges, with its error, and a page.

#![allow(missing_docs)]

use std::path::Path;

use pipeline_graph::checks::{ALL, Example};

fn texts(folder: &Path, extension: &str) -> String {
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be listed").path())
        .filter(|path| path.extension().is_some_and(|own| own == extension))
        .collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).expect("it is text")).collect()
}

#[test]
fn every_check_has_a_fault_with_its_error_and_a_page() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.join("../..");
    let faults = texts(&root.join("graphs/fail"), "ron") + &texts(&root.join("graphs/fail/machines"), "ron");
    let compiled = texts(&here.join("tests/stage"), "stderr") + &texts(&here.join("tests/graph"), "stderr");
    let pages = std::fs::read_to_string(root.join("docs/errors.md")).expect("it is there");
    let mut missing = Vec::new();
    for check in ALL {
        let has_fault = match check.bad {
            Example::Graph(_) | Example::Sku(_) => faults.contains(&format!("// {} ", check.code)),
            Example::Rust(_) => compiled.contains(&format!("[{}]", check.code)),
        };
        let has_page = pages.contains(&format!("\n## {} {}\n", check.code, check.name));
        if !has_fault || !has_page {
            missing.push(check.code);
        }
    }
    assert_eq!(missing, [""; 0]);
    let cases = |folder: &str| texts(&here.join(folder), "stderr").matches("error").count();
    assert!(cases("tests/stage") + cases("tests/graph") >= 20);
}
