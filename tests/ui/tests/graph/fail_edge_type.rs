use pipeline_runtime::export::Graph;
use proofline_ui_tests::{Sum, Total};

// The catalogue knows tokens by name; these have the names and are other types.
mod here {
    pub mod host {
        use pipeline_macros::stage;
        use pipeline_runtime::export::StageError;
        pub use proofline_ui_tests::host::{Add, Count, Cube, Dealloc};
        use proofline_ui_tests::{Numbers, Sum};

        pub struct Squares(Vec<u64>);

        impl pipeline_runtime::export::Token for Squares {
            const NAME: &'static str = "Squares";
            type Shape = ();
            fn with_shape(_: &()) -> Self {
                Self(Vec::new())
            }
            fn shape(&self) {}
            fn bytes(&self) -> u64 {
                0
            }
        }

        #[stage(square, backend = host, mem_heavy)]
        pub fn square(
            _job: &Sum,
            numbers: &Numbers,
            _permit: &pipeline_runtime::export::MemPermit,
        ) -> Result<Squares, StageError> {
            Ok(Squares(numbers.0.clone()))
        }
    }
}

pipeline_macros::pipeline!("edge_type.ron", catalogue = "../../catalogue.ron", stages = crate::here);

// The type is there all the same, so callers report nothing.
fn plan_of<G: Graph<Job = Sum, Output = Total>>() -> pipeline_runtime::export::Plan {
    G::plan()
}

fn main() {
    plan_of::<Pipeline>();
}
