//! Graphs far larger than anybody writes are judged too.

#![allow(missing_docs)]

use std::fmt::Write;

use pipeline_graph::{Outcome, SkuFiles, Source, load};

/// A source, rows of two stages that both read both stages of the row before, and a sink that reads the last row and four
/// from the beginning: twice as many edges as stages.
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
    // Stages and their tokens.
    let mut before = vec![("source".to_owned(), "S".to_owned())];
    for row in 0..rows {
        let (left, right) = (format!("l{row}"), format!("r{row}"));
        let (out_left, out_right) = (format!("L{row}"), format!("R{row}"));
        let inputs: Vec<&str> = before.iter().map(|(_, token)| token.as_str()).collect();
        add(&left, &inputs, &out_left);
        add(&right, &inputs, &out_right);
        for (from, _) in &before {
            let _ = writeln!(edges, "Edge(\"{from}\", \"{left}\"), Edge(\"{from}\", \"{right}\"),");
        }
        before = vec![(left, out_left), (right, out_right)];
    }
    add("sink", &[&before[0].1, &before[1].1, "S", "L0", "R0", "L1"], "Out");
    for from in [&before[0].0, &before[1].0, "source", "l0", "r0", "l1"] {
        let _ = writeln!(edges, "Edge(\"{from}\", \"sink\"),");
    }
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
    assert_eq!(outcome.errors().count(), 0, "{:?}", outcome.diagnostics.first());
    assert_eq!(outcome.plan.map(|plan| (plan.stages.len(), plan.edges.len())), Some((2001, 4000)));
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
