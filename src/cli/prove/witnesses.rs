//! Which witnesses are proved.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use proofline::circom::{Cache, Calculator, Limits};
use proofline::{CircuitShape, WitnessSource, circom};

use crate::cli::exit::Fault;
use crate::cli::filecoin::Input;
use crate::cli::files::Named;

#[derive(Args)]
pub struct Witnesses {
    /// Witnesses of a circuit of circom, one for each proof; `*` stands for any part of a file's name
    #[arg(
        long,
        value_name = "FILE",
        num_args = 1..,
        conflicts_with_all = ["circuit", "wasm", "input", "filecoin"]
    )]
    wtns: Vec<PathBuf>,
    /// circom's witness calculator of the circuit (`circom --wasm`): computes the witnesses of --input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["circuit", "filecoin"], requires = "input")]
    wasm: Option<PathBuf>,
    /// Inputs of the calculator, one for each proof; `*` stands for any part of a file's name
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "wasm")]
    input: Vec<PathBuf>,
}

/// The witnesses of a run, or what they are computed from.
pub enum Gathered {
    /// A fresh one for each proof.
    BuiltIn,
    Files(Vec<PathBuf>),
    Inputs(Arc<Calculator>, Vec<PathBuf>),
    /// A proof of Filecoin's, of one or several partitions.
    Filecoin(Input),
}

impl Witnesses {
    /// Whether there is a witness, or what to compute one from.
    pub fn are_given(&self) -> bool {
        !self.wtns.is_empty() || self.wasm.is_some()
    }

    /// The files that are read, those that a pattern means in its place.
    pub fn find(&self) -> Result<Found<'_>, Fault> {
        Ok(Found { wtns: found(&self.wtns)?, wasm: self.wasm.as_deref(), input: found(&self.input)? })
    }
}

/// The files that are read.
pub struct Found<'a> {
    wtns: Vec<PathBuf>,
    wasm: Option<&'a Path>,
    input: Vec<PathBuf>,
}

impl Found<'_> {
    /// The files by what the command line calls them.
    pub fn files(&self) -> Vec<Named<'_>> {
        let wtns = self.wtns.iter().map(|file| ("--wtns", file.as_path()));
        let wasm = self.wasm.iter().map(|file| ("--wasm", *file));
        wtns.chain(wasm).chain(self.input.iter().map(|file| ("--input", file.as_path()))).collect()
    }

    /// Compiles the calculator.
    pub fn gather(&self) -> Result<Gathered, Fault> {
        let Some(wasm) = self.wasm else {
            return Ok(if self.wtns.is_empty() { Gathered::BuiltIn } else { Gathered::Files(self.wtns.clone()) });
        };
        let cache = Cache::of_user();
        let calculator = circom::open(wasm, &Limits::default(), cache.as_ref())?;
        if let (Some(cache), Some(why)) = (cache, calculator.unkept()) {
            tell!(
                "note: the compiled calculator is not kept in {}, and the next run compiles it again: {why}",
                cache.folder().display()
            );
        }
        Ok(Gathered::Inputs(Arc::new(calculator), self.input.clone()))
    }
}

/// The files that patterns mean.
fn found(patterns: &[PathBuf]) -> Result<Vec<PathBuf>, Fault> {
    let files = patterns.iter().map(|pattern| circom::files_of(pattern));
    Ok(files.collect::<Result<Vec<_>, _>>()?.concat())
}

impl Gathered {
    /// Witnesses; a built-in circuit makes as many as are wanted.
    pub fn len(&self) -> u32 {
        let files = match self {
            Self::BuiltIn | Self::Filecoin(_) => 1,
            Self::Files(files) | Self::Inputs(_, files) => files.len(),
        };
        u32::try_from(files).unwrap_or(u32::MAX)
    }

    /// A proof as its owner knows it: the number that its file has, and the witness or input that it is of.
    pub fn label(&self, number: u32) -> String {
        match self.file(number) {
            Some(file) => format!("proof-{number} ({})", file.display()),
            None => format!("proof-{number}"),
        }
    }

    fn file(&self, number: u32) -> Option<&PathBuf> {
        match self {
            Self::BuiltIn | Self::Filecoin(_) => None,
            Self::Files(files) | Self::Inputs(_, files) => files.get(number as usize % files.len().max(1)),
        }
    }

    /// The witness of a proof; one for each partition of Filecoin's. What a circuit says while one is computed goes to `say`.
    pub fn sources(
        &self,
        shape: &CircuitShape,
        number: u32,
        say: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Vec<WitnessSource>, Fault> {
        match self {
            Self::Filecoin(input) => Ok(input.sources()),
            _ => Ok(vec![self.source(shape, number, say)?]),
        }
    }

    fn source(
        &self,
        shape: &CircuitShape,
        number: u32,
        say: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<WitnessSource, Fault> {
        match (self, self.file(number), shape.builtin()) {
            (Self::Inputs(calculator, _), Some(file), _) => {
                let label = self.label(number);
                Ok(circom::witness_of(calculator, file, move |line| say(&format!("{label}: {line}")))?)
            }
            (Self::Files(_), Some(file), _) => Ok(WitnessSource::from_wtns(shape, file)?),
            (Self::BuiltIn, _, Some(builtin)) => Ok(builtin.fresh_witness()),
            _ => Err(Fault::Internal("a proof without a witness".into())),
        }
    }
}
