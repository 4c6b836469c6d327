#![no_main]
//! Graph files: judged, and every diagnostic rendered.

use libfuzzer_sys::fuzz_target;
use pipeline_graph::{SkuFiles, Source, Style, load, render};

const CATALOGUE: &str = include_str!("../../stages/catalogue.ron");
const SKU: &str = include_str!("../../graphs/skus/laptop.ron");

fuzz_target!(|text: &str| {
    let catalogue = Source::inline("catalogue.ron", CATALOGUE);
    let skus = [("laptop", SKU)];
    let outcome = load(Source::inline("x.ron", text), catalogue, SkuFiles::Known(&skus));
    for found in &outcome.diagnostics {
        let _ = render::diagnostic(found, &outcome.sources, Style::Plain);
    }
    assert!(outcome.plan.is_none() || outcome.errors().count() == 0);
});
