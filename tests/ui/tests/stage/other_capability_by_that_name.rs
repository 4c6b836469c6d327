use pipeline_macros::stage;
use pipeline_runtime::export::{CcdPool as MemPermit, StageError};
use proofline_ui_tests::{Numbers, Squares, Sum};

#[stage(square, backend = host, mem_heavy)]
fn square(_job: &Sum, numbers: &Numbers, _permit: &MemPermit) -> Result<Squares, StageError> {
    Ok(Squares(numbers.0.clone()))
}

fn main() {}
