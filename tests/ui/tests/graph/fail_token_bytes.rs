use pipeline_runtime::export::Graph;
use proofline_ui_tests::{Sum, Total};

pipeline_macros::pipeline!("token_bytes.ron", catalogue = "catalogues/bytes.ron", stages = ::proofline_ui_tests);

// The type is there all the same, so callers report nothing.
fn plan_of<G: Graph<Job = Sum, Output = Total>>() -> pipeline_runtime::export::Plan {
    G::plan()
}

fn main() {
    plan_of::<Pipeline>();
}
