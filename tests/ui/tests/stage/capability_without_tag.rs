use pipeline_macros::stage;
use pipeline_runtime::export::{CcdPool, MemPermit, StageError};
use proofline_ui_tests::{Numbers, Squares, Sum};

#[stage(square, backend = host)]
fn square(_job: &Sum, numbers: &Numbers, _permit: &MemPermit, cores: &CcdPool) -> Result<Squares, StageError> {
    Ok(cores.install(|| Squares(numbers.0.clone())))
}

fn main() {}
