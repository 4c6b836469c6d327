use pipeline_macros::stage;
use pipeline_runtime::export::StageError;
use proofline_ui_tests::{Squares, Sum};

#[stage(square, backend = host)]
fn square(_job: &Sum, numbers: &Vec<u64>) -> Result<Squares, StageError> {
    Ok(Squares(numbers.clone()))
}

fn main() {}
