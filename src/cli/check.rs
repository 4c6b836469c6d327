//! stub until pipeline-graph lands
use clap::Args;
use super::exit::Fault;
/// Checks graph files.
#[derive(Args)]
pub struct Check { files: Vec<std::path::PathBuf> }
impl Check { pub fn run(&self) -> Result<(), Fault> { println!("{:?}", self.files); Ok(()) } }
