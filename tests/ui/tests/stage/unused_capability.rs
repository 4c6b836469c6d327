#![deny(unused_variables)]

use pipeline_macros::stage;
use pipeline_runtime::export::{MemPermit, StageError};
use proofline_ui_tests::{Numbers, Squares, Sum};

#[stage(square, backend = host, mem_heavy)]
fn square(_job: &Sum, numbers: &Numbers, permit: &MemPermit) -> Result<Squares, StageError> {
    Ok(Squares(numbers.0.clone()))
}

fn main() {}
