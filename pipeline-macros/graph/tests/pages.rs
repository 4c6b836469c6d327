//! `docs/errors.md` is what the checks say. `PROOFLINE_BLESS=1 cargo test -p pipeline-graph` writes it anew.

#![allow(missing_docs)]

mod common;

#[test]
fn the_pages_are_current() {
    common::blessed("docs/errors.md", &pipeline_graph::explain::document());
}
