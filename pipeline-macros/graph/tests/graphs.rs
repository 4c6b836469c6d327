//! The graphs of the repository: those of `graphs/` are lawful, those of `graphs/fail/` have the faults that their
//! first lines state, and no others.

#![allow(missing_docs)]

mod common;

use std::collections::BTreeSet;

use common::{catalogue, faulty, found, graphs, load_path, read};
use pipeline_graph::checks::{ALL, Example};
use pipeline_graph::{Severity, load};

#[test]
fn lawful_graphs_compile_without_a_warning() {
    for path in graphs("graphs") {
        let outcome = load_path(&path);
        assert!(outcome.diagnostics.is_empty(), "{path}: {:?}", found(&outcome));
        assert!(outcome.plan.is_some(), "{path}");
    }
}

#[test]
fn faulty_graphs_have_the_faults_that_they_state() {
    for path in faulty() {
        let text = read(&path);
        let stated: Vec<String> =
            text.lines().map_while(|line| line.strip_prefix("// PL")).map(|line| format!("PL{line}")).collect();
        assert!(!stated.is_empty(), "{path} states no fault");
        let outcome = load_path(&path);
        let codes: BTreeSet<&str> = stated.iter().map(|line| line.split(' ').next().unwrap_or_default()).collect();
        // A catalogue of its own is a reason not to be built, beside the fault.
        let found: Vec<String> = found(&outcome)
            .into_iter()
            .filter(|line| codes.contains("PL0213") || !line.starts_with("PL0213"))
            .collect();
        assert_eq!(found, stated, "{path}");
        let refused = outcome.diagnostics.iter().any(|found| found.severity == Severity::Error);
        assert_eq!(outcome.plan.is_none(), refused, "{path}");
    }
}

#[test]
fn every_check_of_graphs_has_a_faulty_graph() {
    let mut shown = BTreeSet::new();
    for path in faulty() {
        let text = read(&path);
        shown.extend(text.lines().filter_map(|line| Some(line.strip_prefix("// PL")?.get(..4)?.to_owned())));
    }
    let checks = ALL.iter().filter(|check| !matches!(check.bad, Example::Rust(_)));
    let missing: Vec<&str> = checks.map(|check| check.code).filter(|code| !shown.contains(&code[2..])).collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn the_planned_catalogue_holds_the_programs_own() {
    let implementations = |path: &str| {
        let text = read(path);
        let source = pipeline_graph::Source::inline(path, text);
        let known = pipeline_graph::load::catalogue(source).expect("it is read");
        let tokens: Vec<String> =
            known.tokens.iter().map(|one| format!("{} {:?}", one.name.value, one.bytes)).collect();
        let all = known.implementations.into_iter().map(|one| {
            let (stage, backend) = (one.stage.value, one.backend.value);
            (stage, backend, one.tags, one.ports, one.output, one.workspace)
        });
        (tokens, all.collect::<Vec<_>>())
    };
    let (own_tokens, own) = implementations("stages/catalogue.ron");
    let (tokens, planned) = implementations("graphs/catalogues/planned.ron");
    assert_eq!(tokens, own_tokens);
    for one in own {
        assert!(planned.contains(&one), "{} on {} is not as the program has it", one.0, one.1);
    }
}

#[test]
fn a_catalogue_that_is_named_is_read_from_the_graphs_folder() {
    let outcome = load_path("graphs/tr7995wx-rtx5070ti.ron");
    let shown: Vec<&str> = outcome.sources.iter().map(|source| source.shown.as_str()).collect();
    let expected =
        ["graphs/tr7995wx-rtx5070ti.ron", "graphs/skus/tr-pro-7995wx-rtx5070ti.ron", "graphs/catalogues/planned.ron"];
    assert_eq!(shown, expected);
    assert_eq!(outcome.study.len(), 1, "it is lawful, and cannot be built");
}

#[test]
fn every_fault_of_a_file_is_found_at_once() {
    // Memory, placement and permits at once: none of them hides the others.
    let text = read("graphs/fail/memory-above-sku.ron");
    let text =
        text.replace("workers: 2)", "workers: 2, threads: 8)").replace("\"mem_heavy\": 1 })", "\"mem_heavy\": 3 })");
    let graph = pipeline_graph::Source::inline("graphs/fail/x.ron", text);
    let outcome = load(graph, catalogue(), pipeline_graph::SkuFiles::Folder(&common::root().join("graphs/skus")));
    let codes: BTreeSet<&str> = outcome.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(codes, BTreeSet::from(["PL0107", "PL0301", "PL0503"]));
}
