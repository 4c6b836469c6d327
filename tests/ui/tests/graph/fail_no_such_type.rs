use pipeline_runtime::export::Graph;
use proofline_ui_tests::{Sum, Total};

mod here {
    pub mod host {
        pub use proofline_ui_tests::host::{Add, Count, Cube, Dealloc};
    }
}

pipeline_macros::pipeline!("no_such_type.ron", catalogue = "../../catalogue.ron", stages = crate::here);

// The type is there all the same, so callers report nothing.
fn plan_of<G: Graph<Job = Sum, Output = Total>>() -> pipeline_runtime::export::Plan {
    G::plan()
}

fn main() {
    plan_of::<Pipeline>();
}
