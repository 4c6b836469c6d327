//! Golden plans in `graphs/plans/`, and which graph is legal on which machine.
//!
//! `PROOFLINE_BLESS=1 cargo test -p pipeline-graph` writes both anew.

#![allow(missing_docs)]

mod common;

use std::fmt::Write;

use common::{blessed, catalogue, graphs, load_path, read, root};
use pipeline_graph::{Severity, load_file, render};

fn stem(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path).trim_end_matches(".ron")
}

#[test]
fn plans_are_what_they_were() {
    for path in graphs("graphs") {
        let plan = load_path(&path).plan.unwrap_or_else(|| panic!("{path} is lawful"));
        blessed(&format!("graphs/plans/{}.txt", stem(&path)), &render::plan(&plan));
    }
}

/// The same graph for another machine: its `sku:` line replaced.
fn on(path: &str, sku: &str) -> String {
    let text = read(path);
    let line =
        text.lines().find(|line| line.trim_start().starts_with("sku: ")).unwrap_or_else(|| panic!("{path} has no SKU"));
    text.replacen(line, &format!("    sku: \"{sku}\","), 1)
}

#[test]
fn every_graph_is_judged_on_every_machine() {
    let mut table = String::from("# Which graph is legal on which machine. A graph's own machine is marked with *.\n");
    let folder = tempfile::tempdir().expect("a folder can be made");
    for place in ["skus", "catalogues"] {
        std::fs::create_dir(folder.path().join(place)).expect("it can be made");
        for file in graphs(&format!("graphs/{place}")) {
            std::fs::copy(root().join(&file), folder.path().join(file.trim_start_matches("graphs/")))
                .expect("it can be copied");
        }
    }
    for path in graphs("graphs") {
        let own = load_path(&path).plan.and_then(|plan| plan.sku).map(|sku| sku.name);
        for sku in graphs("graphs/skus") {
            let sku = stem(&sku);
            let file = folder.path().join("graph.ron");
            std::fs::write(&file, on(&path, sku)).expect("it can be written");
            let outcome = load_file(&file, &path, catalogue()).expect("it can be read");
            let of = |severity| {
                let codes =
                    outcome.diagnostics.iter().filter(move |found| found.severity == severity).map(|found| found.code);
                codes.collect::<Vec<_>>().join(" ")
            };
            let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
            let verdict = match (errors.as_str(), warnings.as_str()) {
                ("", "") => "legal".to_owned(),
                ("", warnings) => format!("legal, warnings {warnings}"),
                (errors, _) => format!("illegal {errors}"),
            };
            let mark = if own.as_deref() == Some(sku) { "*" } else { " " };
            let _ = writeln!(table, "{:<20} {mark}{sku:<25} {verdict}", stem(&path));
            if own.as_deref() == Some(sku) {
                assert_eq!(verdict, "legal", "{path} on its own machine");
            }
        }
    }
    blessed("graphs/plans/legality.txt", &table);
}
