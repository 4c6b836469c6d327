//! Policies of users, one file each: what a policy author writes, and tests, without a line in the runtime.

mod compiled;
mod keeps_one_for_urgent_jobs;
mod quiet_ccd_first;
mod youngest_first;

use std::path::Path;

use proofline::runtime::plan::Plan;
use proofline::runtime::sim::Costs;
use proofline::study::Study;

/// The graph for a Threadripper of 12 CCDs and 96 cores, which need not be there.
fn threadripper() -> Plan {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("graphs/tr7995wx-rtx5070ti.ron");
    Study::with_costs(&file, Costs::default()).expect("the graph is lawful").plan()
}

#[test]
fn the_readme_shows_the_policy_test_that_is_compiled_here() {
    let readme = include_str!("../../README.md");
    let shown = include_str!("youngest_first.rs");
    assert!(readme.contains(&format!("```rust\n{shown}```")), "README.md and tests/policies/youngest_first.rs differ");
    assert!(shown.lines().count() <= 15, "the readme promises a short one");
}
