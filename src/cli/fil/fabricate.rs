//! `proofline fil fabricate`.

use proofline::filecoin::{Fabricating, RegisteredProof, prover_id};

use super::{Fabricate, family, there_already};
use crate::cli::exit::Fault;
use crate::cli::files;

impl Fabricate {
    pub fn run(&self) -> Result<(), Fault> {
        let proof = RegisteredProof::newest(family(&self.kind, &self.size)?)?;
        let prover = prover_id(&self.miner)?;
        let making = Fabricating { proof, prover, sectors: self.sectors, seed: &self.seed };
        making.expect_possible()?;
        let _lock = files::FolderLock::take(&self.output)?;
        let first = making.statement_in(&self.output);
        if first.exists() && !self.force {
            return Err(there_already(&first));
        }
        let made = making.write(&self.output)?;
        let vanilla: Vec<String> = made.vanilla.iter().map(|file| file.display().to_string()).collect();
        say!("{}: {}", made.file.display(), vanilla.join(" "));
        Ok(())
    }
}
