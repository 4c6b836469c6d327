//! `proofline params`: keys in the form that the prover holds them in.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, Subcommand};
use proofline::resident::{self, Resident, Verified};
use proofline::{Convention, Error, Parameters, VerifyingKey};

use super::exit::Fault;
use super::watch::{pool_of_all_cores, with_bars};

const GIB: f64 = (1u64 << 30) as f64;

/// Converts keys for fast loading, describes and checks them.
///
/// A `.params` or `.zkey` file is checked point by point whenever it is read. `convert` does that once and writes
/// `circuit.params.resident` (`circuit.zkey.resident`) beside it, which `prove` then reads instead, guarded by digests. Who can write that file can make the prover use any key:
/// keep it where the program itself is safe.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  proofline params convert out/keys\n  proofline params inspect out/keys\n  proofline params \
                  verify out/keys/circuit.params.resident"
)]
pub struct ParamsCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Checks every point of a key and writes the converted file beside it
    #[command(after_help = "Example:\n  proofline params convert out/keys")]
    Convert(Key),
    /// Prints what is in a key
    #[command(after_help = "Example:\n  proofline params inspect out/keys")]
    Inspect(Key),
    /// Checks every point and every digest of a key, and that a converted file is its source's
    #[command(after_help = "Example:\n  proofline params verify out/keys")]
    Verify(Key),
}

#[derive(Args)]
struct Key {
    /// A `.params` file of bellperson, a `.zkey` file of snarkjs, a converted file, or the folder that `setup` wrote
    #[arg(value_name = "FILE|DIR")]
    path: PathBuf,
}

impl ParamsCommand {
    pub fn run(&self) -> Result<(), Fault> {
        match &self.action {
            Action::Convert(key) => convert(&key.path),
            Action::Inspect(key) => inspect(&key.path),
            Action::Verify(key) => verify(&key.path),
        }
    }
}

fn convert(path: &Path) -> Result<(), Fault> {
    let converted = with_bars(|watch| resident::convert(path, watch))?;
    let (bytes, seconds) = (converted.source_bytes as f64, converted.took.as_secs_f64());
    say!(
        "{}: every point checked and converted in {seconds:.2} s ({:.3} GiB/s); {} bytes, seal {}",
        converted.file.display(),
        bytes / GIB / seconds,
        converted.bytes,
        hex(&converted.seal)
    );
    Ok(())
}

fn inspect(path: &Path) -> Result<(), Fault> {
    let files = Files::of(path);
    let Some(file) = &files.converted else {
        let key = with_bars(|watch| Parameters::read(files.source(), watch))?;
        files.print_source(key.convention)?;
        print_key(&key.vk, key.convention);
        key.queries().into_iter().for_each(|(name, len, infinities)| print_query(name, len, infinities));
        say!("not converted: `proofline params convert {}` makes it load faster", path.display());
        return Ok(());
    };
    let key = Resident::open(file)?;
    files.print_source(key.convention())?;
    say!("{}: a converted key, {} bytes, seal {}", file.display(), key.bytes(), hex(&key.seal()));
    let (bytes, digest) = key.source();
    say!("  made from      {bytes} bytes with digest {}", hex(&digest));
    print_key(key.verifying_key(), key.convention());
    key.queries().into_iter().for_each(|(name, len, infinities)| print_query(name, len, infinities));
    if let Some(params) = &files.params {
        let belongs = pool_of_all_cores()?.install(|| key.belongs_to(params))?;
        say!("  belongs to {}: {}", params.display(), if belongs { "yes" } else { "NO, convert it again" });
    }
    Ok(())
}

fn verify(path: &Path) -> Result<(), Fault> {
    let clock = Instant::now();
    let files = Files::of(path);
    let what = match &files.converted {
        None => {
            with_bars(|watch| Parameters::read(files.source(), watch).map(drop))?;
            "every point is on its curve and in its subgroup"
        }
        Some(file) => match with_bars(|watch| resident::verify(file, files.params.as_deref(), watch))? {
            Verified::Alone => "digests, curve and subgroup of every point are right; its source is not here",
            Verified::WithSource => {
                "digests, curve and subgroup of every point are right, and all points are its source's"
            }
        },
    };
    let file = files.converted.as_ref().or(files.params.as_ref());
    let name = file.map(|file| file.display().to_string()).unwrap_or_default();
    say!("{name}: {what} ({:.2} s)", clock.elapsed().as_secs_f64());
    Ok(())
}

/// What a path stands for.
struct Files {
    params: Option<PathBuf>,
    converted: Option<PathBuf>,
    given: PathBuf,
}

impl Files {
    fn of(path: &Path) -> Self {
        let (params, converted) = resident::files_of(path);
        let there = |file: PathBuf| file.is_file().then_some(file);
        Self { params: there(params), converted: there(converted), given: path.to_owned() }
    }

    /// Says what the key's own file is, if it is there; the convention is that of its format.
    fn print_source(&self, convention: Convention) -> Result<(), Error> {
        let Some(params) = &self.params else { return Ok(()) };
        let maker = match convention {
            Convention::Coefficients => "bellperson",
            Convention::OddCoset => "snarkjs",
        };
        say!("{}: a key of {maker}, {} bytes", params.display(), length(params)?);
        Ok(())
    }

    /// The key's own file; what was given, if there is none, for the error to name.
    fn source(&self) -> &Path {
        self.params.as_ref().unwrap_or(&self.given)
    }
}

fn length(file: &Path) -> Result<u64, Error> {
    let metadata = std::fs::metadata(file);
    Ok(metadata.map_err(|source| Error::Io { action: "read", file: file.to_owned(), source })?.len())
}

fn print_key(key: &VerifyingKey, convention: Convention) {
    say!("  public inputs  {} (ONE counted)", key.ic.len());
    say!(
        "  quotient       {}",
        match convention {
            Convention::Coefficients => "coefficients, as bellperson has it",
            Convention::OddCoset => "values on the odd coset, as snarkjs has it",
        }
    );
}

fn print_query(name: &str, points: usize, infinities: usize) {
    let note = if infinities > 0 { format!(", {infinities} of them at infinity") } else { String::new() };
    say!("  {name:14} {points} points{note}");
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
