use pipeline_runtime::export::Graph;
use proofline_ui_tests::{Sum, Total};

// A token that is counted by an `Rc` may not leave its thread. Alone it is a token, and the stages stages; the edge is
// what cannot be.
mod here {
    pub mod host {
        use std::rc::Rc;

        use pipeline_macros::stage;
        use pipeline_runtime::export::{MemPermit, StageError, Token};
        pub use proofline_ui_tests::host::{Count, Cube, Dealloc};
        use proofline_ui_tests::{Cubes, Numbers, Sum, Total};

        pub struct Squares(Rc<Vec<u64>>);

        impl Token for Squares {
            const NAME: &'static str = "Squares";
            type Shape = ();
            fn with_shape(_: &()) -> Self {
                Self(Rc::default())
            }
            fn shape(&self) {}
            fn bytes(&self) -> u64 {
                0
            }
        }

        #[stage(square, backend = host, mem_heavy)]
        pub fn square(_job: &Sum, numbers: &Numbers, _permit: &MemPermit) -> Result<Squares, StageError> {
            Ok(Squares(Rc::new(numbers.0.clone())))
        }

        #[stage(add, backend = host)]
        pub fn add(_job: &Sum, squares: &Squares, cubes: &Cubes) -> Result<Total, StageError> {
            Ok(Total(vec![squares.0.iter().chain(&cubes.0).sum()]))
        }
    }
}

pipeline_macros::pipeline!("edge_not_send.ron", catalogue = "../../catalogue.ron", stages = crate::here);

// The type is there all the same, so callers report nothing.
fn plan_of<G: Graph<Job = Sum, Output = Total>>() -> pipeline_runtime::export::Plan {
    G::plan()
}

fn main() {
    plan_of::<Pipeline>();
}
