use pipeline_macros::stage;
use pipeline_runtime::export::{MemPermit as Right, StageError};
use proofline_ui_tests::{Numbers, Squares, Sum};

#[stage(square, backend = host)]
fn square(_job: &Sum, numbers: &Numbers, _right: &Right) -> Result<Squares, StageError> {
    Ok(Squares(numbers.0.clone()))
}

fn main() {}
