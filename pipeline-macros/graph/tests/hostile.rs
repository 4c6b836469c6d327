//! Files that nobody writes are refused in few words, and soon.

#![allow(missing_docs)]

mod common;

use std::path::{Path, PathBuf};

use common::{catalogue, read};
use pipeline_graph::diagnostic::KEPT;
use pipeline_graph::{Outcome, SkuFiles, Source, Style, load, load_file, render};

/// No more text than this is written about any file.
const TEXT_BYTES: usize = 400_000;

fn judged(text: &str) -> Outcome {
    let outcome = load(Source::inline("x.ron", text), catalogue(), SkuFiles::Known(&[]));
    let shown = text.chars().take(40).collect::<String>();
    assert!(outcome.diagnostics.len() <= KEPT, "{shown}");
    let drawn = outcome.diagnostics.iter().map(|found| render::diagnostic(found, &outcome.sources, Style::Plain).len());
    let drawn: usize = drawn.sum();
    assert!(drawn > 0 && drawn < TEXT_BYTES, "{shown}: {drawn} bytes of text");
    assert!(outcome.plan.is_none(), "{shown}");
    outcome
}

#[test]
fn a_run_of_stray_letters_is_one_fault() {
    for stray in [";", "=", "\0", "'", "%", "\u{201c}"] {
        let outcome = judged(&stray.repeat(100_001));
        assert!(outcome.diagnostics.len() <= 2, "{stray:?}: {}", outcome.diagnostics.len());
    }
    for stray in ["r#", "\\\"", "\"\\\"", "\\u{", "; ", "=%", ")", "((", "a:", ",", "#\n", "''", "\"\n", "'a' ", "/"] {
        judged(&stray.repeat(100_001));
        judged(&format!("Graph(version: 1, stages: [{}])", stray.repeat(100_001)));
    }
}

#[test]
fn what_is_repeated_is_counted() {
    let stages = "Stage(\"spmv\"),".repeat(3_000);
    let outcome = judged(&format!("Graph(version: 1, sku: any, stages: [{stages}], edges: [])"));
    let titles: Vec<&str> = outcome.diagnostics.iter().map(|found| found.title.as_str()).collect();
    assert!(titles.contains(&"stage `spmv` is given 3000 times"), "{titles:?}");
    assert!(titles.len() < 6, "{titles:?}");
    let stages = "Stage(\"spmv\"),".repeat(70_000);
    let outcome = judged(&format!("Graph(version: 1, sku: any, stages: [{stages}], edges: [])"));
    assert!(outcome.diagnostics.iter().any(|found| found.title == "`stages`: 70000 items are more than 4096"));
    // A thousand faults of one kind: a hundred are shown, and the rest is counted.
    let edges: String = (0..1_000).map(|edge| format!("Edge(\"a{edge}\", \"b{edge}\"),\n")).collect();
    let outcome = judged(&format!("Graph(version: 1, sku: any, stages: [Stage(\"spmv\")], edges: [{edges}])"));
    assert_eq!(outcome.diagnostics.len(), KEPT);
    let last = &outcome.diagnostics[KEPT - 1].notes;
    assert!(last.last().is_some_and(|note| note.starts_with("and ") && note.ends_with("not shown")), "{last:?}");
    assert!(outcome.left_out >= 1_900, "{}", outcome.left_out);
}

#[test]
fn long_lines_and_words_are_cut() {
    let long = "x".repeat(1_000_000);
    for text in [
        format!("Graph(version: 1, sku: any, stages: [Stage(\"{long}\")], edges: [])"),
        format!("Graph(version: 1, sku: any, {long}: 1, stages: [], edges: [])"),
        format!("Graph(/*{long}*/version: 2, sku: any, stages: [], edges: [])"),
    ] {
        for found in &judged(&text).diagnostics {
            let drawn = found.title.len() + found.labels.len();
            assert!(drawn < 1_000, "{drawn}");
        }
    }
}

/// A folder of this test alone, which is removed with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("pipeline-graph-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the folder is made");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Nothing depends on it being gone.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn what_is_no_text_file_is_a_fault() {
    let folder = Folder::new("kinds");
    let of = |path: &Path| {
        let outcome = load_file(path, "x.ron", catalogue()).expect("it is there");
        let [found] = outcome.diagnostics.as_slice() else { panic!("{:?}", outcome.diagnostics) };
        assert_eq!(found.code, "PL0006");
        assert!(!render::diagnostic(found, &outcome.sources, Style::Plain).is_empty());
        found.title.clone()
    };
    assert_eq!(of(&folder.0), "cannot read x.ron: it is a folder, not a regular file");
    assert_eq!(of(Path::new("/dev/zero")), "cannot read x.ron: it is a pipe, a device or a socket, not a regular file");
    let binary = folder.0.join("binary.ron");
    std::fs::write(&binary, b"Graph\xff").expect("it is written");
    assert_eq!(of(&binary), "cannot read x.ron: it is not UTF-8: byte 5 is wrong");
    std::fs::File::create(&binary).and_then(|file| file.set_len((16 << 20) + 1)).expect("it is made longer");
    assert_eq!(of(&binary), "cannot read x.ron: it has more than 16 MiB");
    assert!(load_file(&folder.0.join("none.ron"), "x.ron", catalogue()).is_err());
}

#[test]
fn names_do_not_lead_out_of_the_folders() {
    let host = read("graphs/laptop.ron");
    let named = |sku: &str| host.replacen("sku: \"laptop\"", &format!("sku: \"{sku}\""), 1);
    for wrong in ["../x", "/etc/passwd", ".hidden", "a b", "", "a/b", "a\\0"] {
        let outcome = judged(&named(wrong));
        assert_eq!(outcome.diagnostics[0].title, format!("\"{}\" is no name of a SKU", wrong.replace("\\0", "\0")));
    }
    for wrong in ["/etc/passwd", "../../x.ron", "a/../../../x.ron", "./.x", "../..", "a//b"] {
        let text = named("laptop").replacen("version: 1,", &format!("version: 1, catalogue: \"{wrong}\","), 1);
        let outcome = load(Source::inline("x.ron", text), catalogue(), SkuFiles::Folder(Path::new("skus")));
        let titles: Vec<&str> = outcome.diagnostics.iter().map(|found| found.title.as_str()).collect();
        let expected = format!("the catalogue \"{wrong}\" is not in the folder of the graphs");
        assert!(titles.contains(&expected.as_str()), "{titles:?}");
    }
}
