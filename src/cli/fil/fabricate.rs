//! `proofline fil fabricate`.

use proofline::Error;
use proofline::filecoin::{Fabricating, Family, Kind, RegisteredProof, prover_id};

use super::Fabricate;
use crate::cli::exit::Fault;
use crate::cli::files;

impl Fabricate {
    pub fn run(&self) -> Result<(), Fault> {
        let kind: Kind = self.kind.parse().map_err(|fault: Error| Fault::Usage(fault.to_string()))?;
        let proof = RegisteredProof::newest(Family { kind, size: self.size.parse()? })?;
        let prover = prover_id(&self.miner)?;
        let making = Fabricating { proof, prover, sectors: self.sectors, seed: &self.seed };
        making.expect_possible()?;
        let _lock = files::FolderLock::take(&self.output)?;
        let first = making.statement_in(&self.output);
        if first.exists() && !self.force {
            let first = first.display();
            return Err(Fault::Usage(format!("{first} is there already: choose another folder, or use --force")));
        }
        let made = making.write(&self.output)?;
        let vanilla: Vec<String> = made.vanilla.iter().map(|file| file.display().to_string()).collect();
        say!("{}: {}", made.file.display(), vanilla.join(" "));
        Ok(())
    }
}
