//! A graph of this package's stages, compiled, looked at and run.

#![allow(missing_docs)]

use pipeline_runtime::exec::{Options, Running};
use pipeline_runtime::export::{Graph, Role};
use pipeline_runtime::slot::Token;
use pipeline_runtime::topology::hwloc::Hwloc;
use proofline_ui_tests::Sum;

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

#[test]
fn tokens_go_where_the_edges_lead() {
    // The machine of the SKU, described: its threads float.
    let machine =
        Hwloc::synthetic("[numa(memory=8589934592)] l3:1(size=16777216) core:2 pu:1").expect("hwloc reads it");
    let options = Options { machine: Some(machine), ..Options::default() };
    let running = Running::start::<Good>(options).expect("it is the SKU");
    let jobs: Vec<_> = (0..20).map(|_| running.submit(Sum).expect("the pipeline is open")).collect();
    for job in jobs {
        let totals: Vec<u64> = job.wait().expect("no stage fails").into_iter().map(|total| total.0[0]).collect();
        // Four numbers, each the number of the partition: their squares and cubes.
        assert_eq!(totals, [0, 8, 48]);
    }
}
