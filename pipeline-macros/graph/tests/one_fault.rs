//! One slip of the pen is one diagnostic, with the words to write.

#![allow(missing_docs)]

mod common;

use common::{catalogue, read, root};
use pipeline_graph::{Diagnostic, SkuFiles, Source, load};

fn found(text: String) -> Vec<Diagnostic> {
    let skus = root().join("graphs/skus");
    load(Source::inline("graphs/x.ron", text), catalogue(), SkuFiles::Folder(&skus)).diagnostics
}

/// The one diagnostic of `graphs/laptop.ron` with `old` replaced.
fn only(old: &str, new: &str) -> Diagnostic {
    let text = read("graphs/laptop.ron");
    assert!(text.contains(old), "{old}");
    let found = found(text.replacen(old, new, 1));
    assert_eq!(found.len(), 1, "{old} -> {new}: {:?}", found.iter().map(|found| &found.title).collect::<Vec<_>>());
    found.into_iter().next().expect("there is one")
}

#[test]
fn a_bracket_is_one_fault() {
    let text = read("graphs/laptop.ron");
    let mut tried = 0;
    let mut wrong = Vec::new();
    for (at, bracket) in text.match_indices(['[', ']', '{', '}', '(', ')']) {
        tried += 1;
        let without = format!("{}{}", &text[..at], &text[at + 1..]);
        let twice = format!("{}{bracket}{}", &text[..at], &text[at..]);
        for (what, broken) in [("without", without), ("twice", twice)] {
            let found = found(broken);
            if found.len() != 1 {
                let titles: Vec<&str> = found.iter().map(|found| found.title.as_str()).collect();
                wrong.push(format!("{what} `{bracket}` at {at}: {titles:?}"));
            }
        }
    }
    assert!(tried > 60, "{tried}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    for (old, new, title) in [
        ("needs: { \"mem_heavy\"", "needs: \"mem_heavy\"", "`{` is missing before the string \"mem_heavy\""),
        ("load: (jobs", "load: jobs", "`(` is missing before `jobs`"),
        ("Stage(\"spmv\"", "Stage\"spmv\"", "`(` is missing before the string \"spmv\""),
        ("stages: [", "stages: ", "`[` is missing before this list"),
        ("Graph(", "Graph", "`(` is missing before `version`"),
    ] {
        assert_eq!(only(old, new).title, title);
    }
    let found = only("    stages: [", "    # all of them\n    stages: [");
    assert_eq!(found.help, ["comments begin with `//`"]);
}

#[test]
fn a_wrong_pool_is_one_fault() {
    let found = only("\"mem_heavy\": 1, \"dealloc\"", "\"mem_heavy\": \"2\", \"dealloc\"");
    assert_eq!(found.code, "PL0009");
    assert!(found.help[0].contains("write 2 without quotes"), "{found:?}");
    let found = only("\"mem_heavy\": 1, \"dealloc\"", "\"dealloc\"");
    assert!(found.labels.len() > 2, "{found:?}");
    assert!(found.help.contains(&"add it to `pools`".to_owned()), "{found:?}");
}

#[test]
fn a_misspelt_stage_is_one_fault() {
    let found = only("Stage(\"b_g2_msm\"", "Stage(\"b_g2_mms\"");
    assert_eq!(found.help, ["did you mean `b_g2_msm`?"]);
    let found = only("Edge(\"synthesize\", \"spmv\"", "Edge(\"spmv\", \"synthesize\"");
    assert_eq!(found.help, ["turn it round: `Edge(\"synthesize\", \"spmv\")`"]);
}

#[test]
fn quotes_are_explained() {
    assert_eq!(only("on: \"all\"", "on: all").help, ["write it in quotes: \"all\""]);
    assert_eq!(only("needs: { \"mem_heavy\": ", "needs: { mem_heavy: ").help, ["write it in quotes: \"mem_heavy\""]);
    assert_eq!(only("policy: \"oldest_first\"", "policy: oldest_first").help, ["write it in quotes: \"oldest_first\""]);
    assert_eq!(only("share: Pack", "share: \"Pack\"").help, ["write it without quotes: Pack"]);
    assert_eq!(only("version: 1", "version: \"1\"").help, ["write it without quotes: 1"]);
}

#[test]
fn a_file_of_another_kind_is_called_what_it_is() {
    let found = found(read("graphs/skus/laptop.ron"));
    assert_eq!(found.iter().map(|found| found.title.as_str()).collect::<Vec<_>>(), ["this is a SKU, not a graph"]);
}

#[test]
fn densities_that_are_not_stated_are_the_worst() {
    let stated = read("graphs/laptop.ron");
    let (sizes, left_out) = ("a_density: 1000000, b_density: 1000000", "");
    assert!(stated.contains(sizes));
    let peak = |text: String| {
        let skus = root().join("graphs/skus");
        let made = load(Source::inline("graphs/x.ron", text), catalogue(), SkuFiles::Folder(&skus));
        made.catalogue.zip(made.plan).map(|(_, plan)| format!("{:?}", plan.sizes))
    };
    let worst = peak(stated.replacen(sizes, "a_density: 1001000, b_density: 1001000", 1));
    assert!(worst.is_some());
    assert_eq!(peak(stated.replacen(&format!(", {sizes}"), left_out, 1)), worst);
}
