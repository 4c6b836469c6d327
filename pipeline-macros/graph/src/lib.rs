//! The stage-graph language: spanned RON reader, model, checks, plan, emitted tokens, renderers.
//!
//! An ordinary library: the macro `pipeline!` and the command `proofline check` are both thin users of it, so what
//! the one refuses the other refuses in the same words.
//!
//! ```
//! use pipeline_graph::{Source, SkuFiles, Style, load, render};
//!
//! let catalogue = Source::inline("catalogue.ron", "Catalogue(version: 1, tokens: {}, stages: [])");
//! let graph = Source::inline("x.ron", "Graph(version: 1, sku: any, stages: [Stage(\"spmv\")], edges: [])");
//! let outcome = load(graph, catalogue, SkuFiles::Known(&[]));
//! for found in &outcome.diagnostics {
//!     println!("{}", render::diagnostic(found, &outcome.sources, Style::Plain));
//! }
//! assert_eq!(outcome.diagnostics[0].title, "there is no stage `spmv`");
//! assert!(outcome.plan.is_none());
//! ```
//!
//! The way of a file: [`source`] → [`ron`] (a tree with places) → [`decode`] ([`model`]) → [`resolve`] (names) →
//! [`checks`] → [`plan`] → [`emit`] (tokens) or [`render`] (pictures). Diagnostics are collected on the way, never the
//! first one only; a step leaves open what it could not make out, and later steps do not judge what is open.

pub mod checks;
pub mod decode;
pub mod diagnostic;
pub mod emit;
pub mod explain;
pub mod kind;
pub mod load;
pub mod model;
pub mod plan;
pub mod render;
pub mod resolve;
pub mod ron;
pub mod source;
pub mod words;

pub use diagnostic::{Diagnostic, Severity};
pub use explain::explain;
pub use load::{Outcome, SkuFiles, load, load_file};
pub use plan::Plan;
pub use render::Style;
pub use source::Source;
