//! How tests look at diagnostics.

use super::examples;
use crate::diagnostic::Diagnostic;
use crate::load::{self, Outcome, SkuFiles, load};
use crate::source::Source;

/// Loads a graph with the catalogue and the SKUs of the examples.
pub fn outcome(graph: &str) -> Outcome {
    load(Source::inline("graph.ron", graph), examples::catalogue(), SkuFiles::Known(&examples::SKUS))
}

/// The diagnostics of a graph.
pub fn diagnostics(graph: &str) -> Vec<Diagnostic> {
    outcome(graph).diagnostics
}

/// The diagnostics of a SKU file.
pub fn diagnostics_of_sku(text: &str) -> Vec<Diagnostic> {
    load::sku("machine", Source::inline("machine.ron", text)).diagnostics
}

/// Their codes.
pub fn codes(graph: &str) -> Vec<&'static str> {
    diagnostics(graph).iter().map(|diagnostic| diagnostic.code).collect()
}

/// The codes that a build shows: those of a lawful graph that cannot be built are among them.
pub fn codes_of_a_build(graph: &str) -> Vec<&'static str> {
    outcome(graph).refusals().map(|diagnostic| diagnostic.code).collect()
}

/// Their first lines.
pub fn titles(graph: &str) -> Vec<String> {
    diagnostics(graph).into_iter().map(|diagnostic| diagnostic.title).collect()
}

/// The text of an example with a piece of it replaced.
///
/// # Panics
/// The piece is not there.
pub fn with(example: super::Example, old: &str, new: &str) -> String {
    let text = example.text();
    assert!(text.contains(old), "`{old}` is not in the example");
    text.replacen(old, new, 1)
}
