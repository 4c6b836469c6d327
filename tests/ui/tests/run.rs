//! A graph of this package's stages, compiled and looked at.

#![allow(missing_docs)]

use pipeline_runtime::export::{Graph, Role};
use pipeline_runtime::slot::Token;

pipeline_macros::pipeline!("graphs/good.ron", name = Good, catalogue = "catalogue.ron", stages = ::proofline_ui_tests);

#[test]
fn the_plan_is_the_file() {
    let plan = Good::plan();
    let names: Vec<&str> = plan.stages.iter().map(|stage| stage.name.as_str()).collect();
    assert_eq!(names, ["count", "square", "cube", "add", "dealloc"]);
    let roles: Vec<Role> = plan.stages.iter().map(|stage| stage.role).collect();
    assert_eq!(roles, [Role::Source, Role::Inner, Role::Inner, Role::Sink, Role::Dealloc]);
    assert_eq!(plan.graph, "good");
    assert_eq!(plan.sku.map(|sku| sku.name).as_deref(), Some("tiny"));
    let reserved: Vec<usize> = plan.edges.iter().map(|edge| edge.reserved_by).collect();
    assert_eq!(reserved, [0, 0, 0, 0]);
    assert_eq!(<<Good as Graph>::Output as Token>::NAME, "Total");
}
