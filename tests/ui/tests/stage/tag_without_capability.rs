use pipeline_macros::stage;
use pipeline_runtime::export::StageError;
use proofline_ui_tests::{Numbers, Squares, Sum};

#[stage(square, backend = host, mem_heavy)]
fn square(job: &Sum, numbers: &Numbers) -> Result<Squares, StageError> {
    let _ = job;
    Ok(Squares(numbers.0.clone()))
}

fn main() {}
