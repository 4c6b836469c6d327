use pipeline_macros::stage;
use proofline_ui_tests::{Numbers, Squares, Sum};

#[stage(square, backend = host)]
fn square(_job: &Sum, numbers: &Numbers) -> Squares {
    Squares(numbers.0.clone())
}

fn main() {}
