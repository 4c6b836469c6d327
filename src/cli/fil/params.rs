//! `proofline fil params`.

use std::time::Instant;

use proofline::resident;
use proofline::setup::{Entropy, generate};
use serde_json::json;

use super::{Params, family, there_already};
use crate::cli::exit::Fault;
use crate::cli::filecoin::keys::{circuit, folder_of, is_file};
use crate::cli::files;
use crate::cli::watch::with_bars;

impl Params {
    pub fn run(&self) -> Result<(), Fault> {
        let family = family(&self.kind, &self.size)?;
        tell!(
            "warning: this is not a ceremony. Whoever runs it, or knows the seed, can forge proofs for this key, and the"
        );
        tell!("         network refuses them; use it for tests and development.");
        let folder = folder_of(self.output.as_deref());
        let _lock = files::FolderLock::take(&folder)?;
        let (params, vk) = (family.params_in(&folder)?, family.vk_in(&folder)?);
        // Each of them is a key that proofs may be made or judged with, also where the others are missing.
        for file in [&params, &vk, &resident::beside(&params)] {
            if is_file(file)? && !self.force {
                return Err(there_already(file));
            }
        }
        let clock = Instant::now();
        let shape = circuit(family, &params)?;
        let entropy = self.seed.as_deref().map_or(Entropy::System, Entropy::Seed);
        let converted = with_bars(|watch| generate(&shape, &entropy, watch)?.write_converted(&params, &vk, watch))?;
        let took = clock.elapsed().as_secs_f64();
        // The network's programs want to know whose key it is.
        files::write(
            &params.with_extension("meta"),
            json!({ "sector_size": family.size.bytes() }).to_string().as_bytes(),
        )?;
        say!(
            "{family}: {} constraints, {} inputs, {} aux, domain {}; made in {took:.1} s",
            shape.constraints(),
            shape.inputs(),
            shape.aux(),
            shape.domain().size(),
        );
        say!("written to {}", params.display());
        say!("           {}", vk.display());
        say!("           {}", converted.file.display());
        Ok(())
    }
}
