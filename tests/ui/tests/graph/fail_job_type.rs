use pipeline_runtime::export::Graph;
use proofline_ui_tests::{Sum, Total};

mod here {
    pub mod host {
        use pipeline_macros::stage;
        use pipeline_runtime::export::StageError;
        pub use proofline_ui_tests::host::{Add, Count, Cube, Dealloc};
        use proofline_ui_tests::{Numbers, Squares};

        pub struct Other;

        impl pipeline_runtime::export::Job for Other {
            fn partitions(&self) -> u32 {
                1
            }
            fn sizes(&self) -> pipeline_runtime::export::Sizes {
                pipeline_runtime::export::Sizes::default()
            }
        }

        #[stage(square, backend = host, mem_heavy)]
        pub fn square(
            _job: &Other,
            numbers: &Numbers,
            _permit: &pipeline_runtime::export::MemPermit,
        ) -> Result<Squares, StageError> {
            Ok(Squares(numbers.0.clone()))
        }
    }
}

pipeline_macros::pipeline!("job_type.ron", catalogue = "../../catalogue.ron", stages = crate::here);

// The type is there all the same, so callers report nothing.
fn plan_of<G: Graph<Job = Sum, Output = Total>>() -> pipeline_runtime::export::Plan {
    G::plan()
}

fn main() {
    plan_of::<Pipeline>();
}
