//! stub until pipeline-graph lands
use super::exit::Fault;
use clap::Args;
/// Checks graph files.
#[derive(Args)]
pub struct Check {
    files: Vec<std::path::PathBuf>,
}
impl Check {
    pub fn run(&self) -> Result<(), Fault> {
        println!("{:?}", self.files);
        Ok(())
    }
}
