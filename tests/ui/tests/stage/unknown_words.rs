use pipeline_macros::stage;
use pipeline_runtime::export::StageError;
use proofline_ui_tests::{Numbers, Squares, Sum};

#[stage(square, backend = hosts, mem_havy, mem_heavy, mem_heavy)]
fn square(_job: &Sum, numbers: &Numbers, _permit: &pipeline_runtime::export::MemPermit) -> Result<Squares, StageError> {
    Ok(Squares(numbers.0.clone()))
}

fn main() {
    // The type is there all the same.
    let _ = Square;
}
