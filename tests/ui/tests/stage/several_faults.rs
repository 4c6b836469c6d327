use pipeline_macros::stage;
use pipeline_runtime::export::{CcdPool, Slot};
use proofline_ui_tests::{Cubes, Numbers, Squares};

#[stage(square, backend = host, gpu)]
fn square(numbers: Numbers, out: Slot<'_, Cubes>, cores: &CcdPool) -> Result<Squares, String> {
    let _ = (out, cores);
    Ok(Squares(numbers.0))
}

fn main() {
    use pipeline_runtime::stage::Stage;
    let _ = Square::NAME;
}
