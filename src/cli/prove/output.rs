//! Where proofs go.

use std::path::{Path, PathBuf};

use blstrs::Scalar;
use clap::Args;
use proofline::verify::{ProofPoints, snarkjs, write_public_inputs};
use proofline::{Error, Proof};

use crate::cli::exit::Fault;
use crate::cli::files;

#[derive(Args)]
pub struct Output {
    /// The folder to write to: `proof-N.bin` or `proof-N.json`, and `public-N.json`; without it nothing is written
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How proofs are written [default: json with --zkey, else bin]
    #[arg(long, value_enum, requires = "out")]
    format: Option<ProofFormat>,
    /// Removes the proofs of an earlier run from that folder first
    #[arg(long, requires = "out")]
    force: bool,
}

/// What a proof looks like on disk.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ProofFormat {
    /// 192 bytes: A, B, C compressed, as bellperson writes them
    Bin,
    /// snarkjs' proof.json
    Json,
}

impl Output {
    pub fn folder(&self) -> Option<&Path> {
        self.out.as_deref()
    }

    /// Makes the folder, if one is wanted, and keeps other runs out of it. Refuses one that holds proofs of an earlier run,
    /// or removes them: old and new ones look alike.
    pub fn take(&self) -> Result<Option<files::FolderLock>, Fault> {
        let lock = self.out.as_deref().map(files::FolderLock::take).transpose()?;
        if let Some(folder) = &self.out {
            self.clear(folder)?;
        }
        Ok(lock)
    }

    fn clear(&self, folder: &Path) -> Result<(), Fault> {
        let fail = |action, file: &Path| {
            let file = file.to_owned();
            move |source| Error::Io { action, file, source }
        };
        for entry in std::fs::read_dir(folder).map_err(fail("read", folder))? {
            let file = entry.map_err(fail("read", folder))?.path();
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let old = (name.starts_with("proof-") && (name.ends_with(".bin") || name.ends_with(".json")))
                || (name.starts_with("public-") && name.ends_with(".json"));
            if old && !self.force {
                return Err(Fault::Usage(format!(
                    "{} is of an earlier run: choose another folder for --out, or remove the proofs in it with --force",
                    file.display()
                )));
            }
            if old {
                std::fs::remove_file(&file).map_err(fail("remove", &file))?;
            }
        }
        Ok(())
    }

    /// Writes a proof and its statement.
    pub fn write(&self, usual: ProofFormat, number: u32, proof: &Proof, public: &[Scalar]) -> Result<(), Error> {
        let Some(folder) = &self.out else { return Ok(()) };
        match self.format.unwrap_or(usual) {
            ProofFormat::Bin => files::write(&folder.join(format!("proof-{number}.bin")), &proof.bytes)?,
            ProofFormat::Json => {
                let text = snarkjs::write_proof(&ProofPoints::parse(&proof.bytes)?);
                files::write(&folder.join(format!("proof-{number}.json")), text.as_bytes())?;
            }
        }
        files::write(&folder.join(format!("public-{number}.json")), write_public_inputs(public).as_bytes())
    }
}
