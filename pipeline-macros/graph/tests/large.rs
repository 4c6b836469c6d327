//! Graphs far larger than anybody writes are judged too.

#![allow(missing_docs)]

use std::fmt::Write;

use pipeline_graph::{Outcome, SkuFiles, Source, load};

/// A source, `width` chains of stages side by side, and a join in every row that keeps neighbours together.
pub fn ladder(stages: usize) -> (String, String) {
    let (mut implementations, mut list, mut edges) = (String::new(), String::new(), String::new());
    let rows = (stages - 2) / 2;
    let mut add = |name: &str, inputs: &[&str], output: &str| {
        let ports = inputs.iter().enumerate().map(|(port, token)| format!("(\"p{port}\", \"{token}\")"));
        let ports = ports.collect::<Vec<_>>().join(", ");
        let _ = writeln!(
            implementations,
            "Implementation(stage: \"{name}\", backend: \"host\", tags: [], inputs: [{ports}], output: \"{output}\"),"
        );
        let _ = writeln!(list, "Stage(\"{name}\"),");
    };
    add("source", &[], "S");
    let mut before = ("source".to_owned(), "S".to_owned(), "source".to_owned(), "S".to_owned());
    for row in 0..rows {
        let (left, right) = (format!("l{row}"), format!("r{row}"));
        let (out_left, out_right) = (format!("L{row}"), format!("R{row}"));
        if before.0 == before.2 {
            add(&left, &[&before.1], &out_left);
            let _ = writeln!(edges, "Edge(\"{}\", \"{left}\"),", before.0);
        } else {
            add(&left, &[&before.1, &before.3], &out_left);
            let _ = writeln!(edges, "Edge(\"{}\", \"{left}\"), Edge(\"{}\", \"{left}\"),", before.0, before.2);
        }
        add(&right, &[&before.3], &out_right);
        let _ = writeln!(edges, "Edge(\"{}\", \"{right}\"),", before.2);
        before = (left, out_left, right, out_right);
    }
    add("sink", &[&before.1, &before.3], "Out");
    let _ = writeln!(edges, "Edge(\"{}\", \"sink\"), Edge(\"{}\", \"sink\"),", before.0, before.2);
    let mut tokens = String::from("\"S\": (bytes: \"32 * aux\"), \"Out\": (bytes: \"192\"), ");
    for row in 0..rows {
        let _ = write!(tokens, "\"L{row}\": (bytes: \"32 * aux\"), \"R{row}\": (bytes: \"8 * aux\"), ");
    }
    let dealloc = "Implementation(stage: \"dealloc\", backend: \"host\", tags: [\"unmaps\"], inputs: [(\"dead\", \"Dead\")], output: None),";
    let catalogue = format!("Catalogue(version: 1, tokens: {{ {tokens} }}, stages: [{implementations}{dealloc}])");
    let graph = format!(
        "Graph(version: 1, sku: any, sizes: {{ \"c\": (aux: 1000) }}, pools: {{ \"dealloc\": 1 }}, stages: [{list}Stage(\"dealloc\", \
         needs: {{ \"dealloc\": 1 }})], edges: [{edges}])"
    );
    (graph, catalogue)
}

fn judged(stages: usize) -> Outcome {
    let (graph, catalogue) = ladder(stages);
    load(Source::inline("ladder.ron", graph), Source::inline("catalogue.ron", catalogue), SkuFiles::Known(&[]))
}

#[test]
fn two_thousand_stages_are_judged() {
    let outcome = judged(2000);
    assert!(outcome.diagnostics.is_empty(), "{:?}", outcome.diagnostics.first());
    assert_eq!(outcome.plan.map(|plan| plan.stages.len()), Some(2001));
}

#[test]
fn two_hundred_stages_that_opt_out_are_judged() {
    let (graph, catalogue) = ladder(200);
    let graph = graph
        .replace("Stage(\"l7\")", "Stage(\"l7\", send: Blocking)")
        .replace("Stage(\"r7\")", "Stage(\"r7\", send: Blocking)");
    let outcome =
        load(Source::inline("ladder.ron", graph), Source::inline("catalogue.ron", catalogue), SkuFiles::Known(&[]));
    assert!(outcome.errors().all(|found| found.code == "PL0403"));
}
