//! `proofline export-vk`: a verifying key as snarkjs has it.

use std::path::PathBuf;

use clap::Args;
use proofline::VerifyingKey;
use proofline::verify::snarkjs;

use super::exit::Fault;
use super::files;

/// Writes the verifying key of a proving key as snarkjs' `verification_key.json`.
#[derive(Args)]
#[command(after_help = "Example:\n  proofline export-vk circuit.zkey -o verification_key.json")]
pub struct ExportVk {
    /// A `.zkey`, `.params` or `.vk` file, a converted key, or the folder that `setup` wrote
    #[arg(value_name = "FILE|DIR")]
    key: PathBuf,
    /// The file to write; without it the key is printed
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl ExportVk {
    pub fn run(&self) -> Result<(), Fault> {
        let outputs = self.output.iter().map(|file| ("--output", file.as_path()));
        files::expect_apart([("the key", self.key.as_path())], outputs)?;
        let key = VerifyingKey::of_any(&self.key)?;
        let text = snarkjs::write_key(&key);
        match &self.output {
            Some(file) => {
                files::write(file, text.as_bytes())?;
                say!("{}: {} public inputs", file.display(), key.ic.len() - 1);
            }
            None => say!("{}", text.trim_end()),
        }
        Ok(())
    }
}
