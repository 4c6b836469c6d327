#![no_main]
//! SKU files, under a graph that uses everything of one.

use libfuzzer_sys::fuzz_target;
use pipeline_graph::{SkuFiles, Source, Style, load, render};

const CATALOGUE: &str = include_str!("../../stages/catalogue.ron");
const GRAPH: &str = include_str!("../../graphs/laptop.ron");

fuzz_target!(|text: &str| {
    let catalogue = Source::inline("catalogue.ron", CATALOGUE);
    let skus = [("laptop", text)];
    let outcome = load(Source::inline("x.ron", GRAPH), catalogue, SkuFiles::Known(&skus));
    for found in &outcome.diagnostics {
        let _ = render::diagnostic(found, &outcome.sources, Style::Plain);
    }
});
