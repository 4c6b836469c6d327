use pipeline_macros::stage;
use pipeline_runtime::export::StageError;
use proofline_ui_tests::{Numbers, Squares, Sum};

#[stage(backend = host, backend = host, speed = high)]
fn square(_job: &Sum, numbers: &Numbers) -> Result<Squares, StageError> {
    Ok(Squares(numbers.0.clone()))
}

fn main() {
    // The type is there all the same.
    let _ = Square;
}
