//! `proofline verify`: judges proofs.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use proofline::verify::{PreparedKey, ProofPoints, parse_public_inputs, snarkjs};
use proofline::{Error, VerifyingKey, kind_of_file};

use super::exit::Fault;
use super::filecoin::{self, ClaimArgs};
use super::files;

/// No list of public inputs is larger.
const MOST_PUBLIC_BYTES: u64 = 1 << 30;
/// A verifying key has some 300 bytes for each public input.
const MOST_KEY_BYTES: u64 = 1 << 32;
/// A proof has 192 bytes; a little more is read to say what is wrong with a longer file.
const MOST_PROOF_BYTES: u64 = 1 << 16;

/// Verifies a proof against a verifying key and public inputs; all of them as this program or as snarkjs writes them.
///
/// Unlike snarkjs it checks that the proof's points are in their subgroups.
#[derive(Args)]
#[command(
    after_help = "Example:\n  proofline verify --vk out/keys/circuit.vk --public out/proofs/public-0.json --proof \
                  out/proofs/proof-0.bin\n  proofline verify --vk verification_key.json --public public.json --proof proof.json"
)]
pub struct Verify {
    /// The verifying key: a `.vk` file, snarkjs' `verification_key.json`, a proving key, or the folder that `setup` wrote
    #[arg(long, value_name = "FILE", required_unless_present = "filecoin")]
    vk: Option<PathBuf>,
    /// The public inputs: a JSON array as snarkjs writes it, or a decimal number a line
    #[arg(long, value_name = "FILE", required_unless_present = "filecoin", conflicts_with = "filecoin")]
    public: Option<PathBuf>,
    /// The proof: 192 bytes (A, B, C compressed; with --filecoin so many for each partition), or snarkjs' `proof.json`
    #[arg(long, value_name = "FILE")]
    proof: PathBuf,
    /// With --filecoin: the folder of the network's keys [default: that of FIL_PROOFS_PARAMETER_CACHE]
    #[arg(long, value_name = "DIR", requires = "filecoin", conflicts_with = "vk")]
    params: Option<PathBuf>,
    #[command(flatten)]
    claim: ClaimArgs,
}

/// Whether a file begins as a JSON object does.
fn is_json(file: &Path) -> bool {
    let mut head = Vec::new();
    // A pipe is not opened: that would wait for a writer.
    let mut read = || File::open(file).and_then(|file| file.take(64).read_to_end(&mut head));
    file.is_file() && read().is_ok() && head.trim_ascii_start().first() == Some(&b'{')
}

/// Refuses what begins as another kind of file.
fn expect_kind(file: &Path, wanted: &str) -> Result<(), Error> {
    match kind_of_file(file).filter(|kind| !kind.starts_with("JSON")) {
        Some(kind) => Err(Error::BadText(format!("{}: this is {kind}; give {wanted}", file.display()))),
        None => Ok(()),
    }
}

fn text(file: &Path, most: u64) -> Result<String, Error> {
    String::from_utf8(files::read(file, most)?).map_err(|_| Error::BadText(format!("{} is not text", file.display())))
}

impl Verify {
    pub fn run(&self) -> Result<(), Fault> {
        let valid = if self.claim.kind.is_some() {
            filecoin::verify(&self.claim, self.params.as_deref(), self.vk.as_deref(), &self.proof)?
        } else {
            self.judge()?
        };
        if valid {
            say!("{}: valid", self.proof.display());
            Ok(())
        } else {
            let against = if self.claim.kind.is_some() { "statement" } else { "key and these public inputs" };
            say!("{}: NOT valid for this {against}", self.proof.display());
            Err(Fault::Refused)
        }
    }

    fn judge(&self) -> Result<bool, Fault> {
        let (Some(vk), Some(public)) = (&self.vk, &self.public) else {
            return Err(Fault::Usage("give --vk FILE and --public FILE".into()));
        };
        let inside = |file: &PathBuf| {
            let file = file.display().to_string();
            move |error: Error| match error {
                Error::BadText(text) => Error::BadText(format!("{file}: {text}")),
                other => other,
            }
        };
        let key = if is_json(vk) {
            snarkjs::parse_key(&text(vk, MOST_KEY_BYTES)?).map_err(inside(vk))?
        } else {
            PreparedKey::new(&VerifyingKey::of_any(vk)?)
        };
        expect_kind(public, "public inputs: a JSON array, or a decimal number a line")?;
        let public_inputs = parse_public_inputs(&text(public, MOST_PUBLIC_BYTES)?).map_err(inside(public))?;
        let proof = if is_json(&self.proof) {
            snarkjs::parse_proof(&text(&self.proof, MOST_PROOF_BYTES)?)
        } else {
            expect_kind(&self.proof, "a proof: 192 bytes, or snarkjs' `proof.json`")?;
            ProofPoints::parse(&files::read(&self.proof, MOST_PROOF_BYTES)?)
        };
        let proof = proof.map_err(inside(&self.proof))?;
        key.verify(&proof, &public_inputs).map_err(|error| {
            match error {
                Error::Mismatch(why) => Error::Mismatch(format!("{} and {}: {why}", vk.display(), public.display())),
                other => other,
            }
            .into()
        })
    }
}
