pipeline_macros::pipeline!("../../graphs/good.ron", name = Good, catalogue = "../../catalogue.ron", stages = ::proofline_ui_tests);

fn main() {
    let plan = <Good as pipeline_runtime::export::Graph>::plan();
    assert_eq!(plan.stages.len(), 5);
}
