//! `proofline fil circuit`.

use std::time::Instant;

use proofline::filecoin::to_hex;

use super::{Circuit, family, there_already};
use crate::cli::exit::Fault;
use crate::cli::filecoin::keys::folder_of;
use crate::cli::{files, stored};

impl Circuit {
    pub fn run(&self) -> Result<(), Fault> {
        let family = family(&self.kind, &self.size)?;
        let folder = folder_of(self.output.as_deref());
        let _lock = files::FolderLock::take(&folder)?;
        let file = stored::beside(&family.params_in(&folder)?);
        if file.exists() && !self.force {
            return Err(there_already(&file));
        }
        let clock = Instant::now();
        let made = family.extract(&file)?;
        let nonzeros: usize = made.nonzeros.iter().sum();
        say!(
            "{family}: {} constraints, {} inputs, {} aux, {nonzeros} non-zeros; {} bytes, {:.2} a non-zero, in {:.1} s",
            made.constraints,
            made.inputs,
            made.aux,
            made.bytes,
            made.bytes as f64 / nonzeros as f64,
            clock.elapsed().as_secs_f64()
        );
        say!("digest {}", to_hex(&made.digest));
        say!("written to {}", file.display());
        Ok(())
    }
}
