//! What every proof of a run is made of: the circuit and its key.

use std::path::{Path, PathBuf};

use clap::Args;
use proofline::{CircuitShape, ProvingKey};

use super::output::ProofFormat;
use crate::cli::exit::Fault;
use crate::cli::files::Named;
use crate::cli::room::expect_room_for_key;
use crate::cli::stored::{self, Choice};
use crate::cli::watch::with_bars;
use crate::cli::zkey;

#[derive(Args)]
pub struct Material {
    #[command(flatten)]
    choice: Choice,
    /// A key of snarkjs, and the circuit that it is of; with --r1cs an unsatisfied constraint is named before the proof
    #[arg(long, value_name = "FILE", group = "what", conflicts_with_all = ["circuit", "filecoin"])]
    zkey: Option<PathBuf>,
    /// The key: the folder that `setup` wrote, a `.params` file of bellperson, or a converted one; with --filecoin the folder
    /// of the network's keys [default there: that of FIL_PROOFS_PARAMETER_CACHE]
    #[arg(long, value_name = "DIR", required_unless_present_any = ["zkey", "filecoin"], conflicts_with = "zkey")]
    params: Option<PathBuf>,
}

impl Material {
    /// The circuit and the key, which belong together.
    pub fn read(&self) -> Result<(CircuitShape, ProvingKey), Fault> {
        let (shape, key) = match (&self.zkey, &self.params) {
            (Some(zkey), _) => zkey::read(zkey, &self.choice)?,
            (None, Some(params)) => return self.with_params(params),
            (None, None) => return Err(Fault::Usage("give a key: --params DIR or --zkey FILE".into())),
        };
        key.check(&shape)?;
        Ok((shape, key))
    }

    fn with_params(&self, params: &Path) -> Result<(CircuitShape, ProvingKey), Fault> {
        let origin = self.choice.origin()?;
        let kept = self.choice.kept(params, origin)?;
        let keep = kept.is_none();
        let shape = kept.map_or_else(|| self.choice.extract(), Ok)?;
        let key = read_key(params)?;
        key.check(&shape)?;
        if keep {
            stored::keep(&shape, &stored::beside(params), origin);
        }
        Ok((shape, key))
    }

    /// Whether the circuit is a built-in one, which makes its witnesses.
    pub fn is_built_in(&self) -> bool {
        self.choice.circuit.is_some()
    }

    /// The files that are read.
    pub fn files(&self) -> Vec<Named<'_>> {
        let files = [("--r1cs", &self.choice.r1cs), ("--zkey", &self.zkey), ("--params", &self.params)];
        files.into_iter().filter_map(|(name, file)| Some((name, file.as_deref()?))).collect()
    }

    /// Where the key is, if it is said.
    pub fn params(&self) -> Option<&Path> {
        self.params.as_deref()
    }

    /// How proofs are written where nothing else is asked for.
    pub fn format(&self) -> ProofFormat {
        if self.zkey.is_some() { ProofFormat::Json } else { ProofFormat::Bin }
    }
}

fn read_key(path: &Path) -> Result<ProvingKey, Fault> {
    expect_room_for_key(path)?;
    with_bars(|watch| ProvingKey::read(path, watch))
}
