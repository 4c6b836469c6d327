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
    /// The folder to write to: `proof-N.bin` or `proof-N.json`, and `public-N.json` (with --filecoin `statement-N.json`);
    /// without it nothing is written
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How proofs are written [default: json with --zkey, else bin]
    #[arg(long, value_enum, requires = "out")]
    format: Option<ProofFormat>,
    /// Removes the proofs of an earlier run from that folder, once there is a new one
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

/// Whether a run gives files this name: `proof-7.bin`, `proof-7.json`, `public-7.json`, `statement-7.json`.
fn is_ours(name: &str) -> bool {
    let number = match name.strip_prefix("proof-") {
        Some(rest) => rest.strip_suffix(".bin").or_else(|| rest.strip_suffix(".json")),
        None => {
            let rest = name.strip_prefix("public-").or_else(|| name.strip_prefix("statement-"));
            rest.and_then(|rest| rest.strip_suffix(".json"))
        }
    };
    number.is_some_and(|number| number.parse::<u32>().is_ok_and(|parsed| parsed.to_string() == number))
}

impl Output {
    pub fn folder(&self) -> Option<&Path> {
        self.out.as_deref()
    }

    /// Whether proofs of Filecoin's can be written so.
    pub fn expect_network_format(&self) -> Result<(), Fault> {
        match self.format {
            Some(ProofFormat::Json) => Err(Fault::Usage(
                "--format json: a proof of Filecoin's is written as the chain wants it, in 192 bytes for each partition: \
                 leave the option out"
                    .into(),
            )),
            Some(ProofFormat::Bin) | None => Ok(()),
        }
    }

    /// Refuses a file that would take the place of a proof or a statement of this run, whose folder is there.
    pub fn expect_apart(&self, (name, file): files::Named<'_>) -> Result<(), Fault> {
        let Some(folder) = &self.out else { return Ok(()) };
        let whole = |folder: &Path| std::fs::canonicalize(folder).ok();
        if whole(files::folder_of(file)) == whole(folder)
            && is_ours(&file.file_name().unwrap_or_default().to_string_lossy())
        {
            return Err(Fault::Usage(format!(
                "{name} would be written over {}, which has a name that this run gives its proofs: choose another",
                file.display()
            )));
        }
        Ok(())
    }

    /// Makes the folder, if one is wanted, and keeps other runs out of it. Refuses one that holds proofs of an earlier run, unless
    /// they may be removed: old and new ones look alike. What this run reads stays.
    pub fn take<'a>(&self, read: impl Iterator<Item = &'a Path>) -> Result<Taken, Fault> {
        let lock = self.out.as_deref().map(files::FolderLock::take).transpose()?;
        let old = self.out.as_deref().map(|folder| self.old(folder, read)).transpose()?;
        Ok(Taken { old: old.unwrap_or_default(), _lock: lock })
    }

    /// The proofs of an earlier run, which may be removed.
    fn old<'a>(&self, folder: &Path, read: impl Iterator<Item = &'a Path>) -> Result<Vec<PathBuf>, Fault> {
        let fail = |action, file: &Path| {
            let file = file.to_owned();
            move |source| Error::Io { action, file, source }
        };
        let mut old = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(fail("read", folder))? {
            let file = entry.map_err(fail("read", folder))?.path();
            if is_ours(&file.file_name().unwrap_or_default().to_string_lossy()) {
                old.push(file);
            }
        }
        let read: Vec<_> = read.filter_map(|file| std::fs::canonicalize(file).ok()).collect();
        let is_read = |file: &&PathBuf| std::fs::canonicalize(file).is_ok_and(|place| read.contains(&place));
        if let Some(file) = old.iter().find(is_read) {
            return Err(Fault::Usage(format!(
                "this run reads {}, which has a name that runs give their proofs in --out: choose another folder for --out",
                file.display()
            )));
        }
        if let Some(file) = old.first().filter(|_| !self.force) {
            return Err(Fault::Usage(format!(
                "{} is of an earlier run: choose another folder for --out, or remove the proofs in it with --force",
                file.display()
            )));
        }
        // Nothing is removed where something cannot be.
        if let Some(folder) = old.iter().find(|file| file.is_dir()) {
            let source = std::io::ErrorKind::IsADirectory.into();
            return Err(Error::Io { action: "remove", file: folder.clone(), source }.into());
        }
        Ok(old)
    }

    /// Writes a proof of Filecoin's, its partitions one behind the other, and its statement.
    pub fn write_with_statement(&self, number: u32, proof: &[u8], statement: &str) -> Result<(), Error> {
        let Some(folder) = &self.out else { return Ok(()) };
        files::write(&folder.join(format!("proof-{number}.bin")), proof)?;
        files::write(&folder.join(format!("statement-{number}.json")), statement.as_bytes())
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

/// The folder for proofs, as long as this lives.
pub struct Taken {
    old: Vec<PathBuf>,
    _lock: Option<files::FolderLock>,
}

impl Taken {
    /// Removes the proofs of an earlier run.
    pub fn clear(&mut self) -> Result<(), Error> {
        self.old.drain(..).try_for_each(|file| {
            std::fs::remove_file(&file).map_err(|source| Error::Io { action: "remove", file, source })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::is_ours;

    #[test]
    fn only_numbered_files_are_of_a_run() {
        for name in ["proof-0.bin", "proof-17.json", "public-4294967295.json", "statement-3.json"] {
            assert!(is_ours(name), "{name}");
        }
        for name in [
            "proof-of-identity.json",
            "public-notes.json",
            "proof-00.json",
            "proof-.bin",
            "proof-1.txt",
            "public-1.bin",
        ] {
            assert!(!is_ours(name), "{name}");
        }
    }
}
