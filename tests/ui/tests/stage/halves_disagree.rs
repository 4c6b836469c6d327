use pipeline_macros::stage;

#[stage(cube, backend = host, ccd_pinned)]
mod cube {
    use pipeline_runtime::export::StageError;
    use proofline_ui_tests::{Cubes, Numbers, Sum};

    pub fn start(_job: &Sum, numbers: &Numbers) -> Result<Vec<u64>, StageError> {
        Ok(numbers.0.clone())
    }

    pub fn finish(pending: Cubes, _job: &Sum) -> Result<Cubes, StageError> {
        Ok(pending)
    }
}

fn main() {
    let _ = Cube;
}
