//! `proofline fil seal`.

use proofline::filecoin::{Family, Kind, RegisteredProof, Sealing, SectorSize, prover_id};

use super::Seal;
use crate::cli::exit::Fault;
use crate::cli::files;

impl Seal {
    pub fn run(&self) -> Result<(), Fault> {
        let size: SectorSize = self.size.parse()?;
        let prover = prover_id(&self.miner)?;
        let proof = match &self.registered {
            Some(name) => Some(RegisteredProof::named(Kind::Porep, name)?),
            // Some sizes are for tests of the network's own code, and have none.
            None => RegisteredProof::newest(Family { kind: Kind::Porep, size }).ok(),
        };
        if let Some(proof) = proof.filter(|proof| proof.family().size != size) {
            return Err(Fault::Usage(format!("{proof} is for sectors of {}, not of {size}", proof.family().size)));
        }
        let _lock = files::FolderLock::take(&self.output)?;
        let first = self.output.join("window.statement.json");
        if first.exists() && !self.force {
            let output = self.output.display();
            return Err(Fault::Usage(format!("{output} has sectors already: choose another folder, or use --force")));
        }
        let sealing = Sealing { size, proof, prover, sectors: self.sectors, seed: &self.seed };
        let made = sealing.write(&self.output, &|number| tell!("sealing sector {number} of {}", self.sectors))?;
        for made in &made {
            let vanilla: Vec<String> = made.vanilla.iter().map(|file| file.display().to_string()).collect();
            say!("{:8} {}: {}", made.statement.family().kind, made.file.display(), vanilla.join(" "));
        }
        if proof.is_none() {
            say!("no proof of replication is registered for sectors of {size}: no C1 outputs");
        }
        Ok(())
    }
}
