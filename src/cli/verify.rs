//! `proofline verify`: judges proofs.

use std::path::PathBuf;

use clap::Args;
use proofline::verify::{PreparedKey, ProofPoints, parse_public_inputs};
use proofline::{Error, VerifyingKey};

use super::exit::Fault;
use super::files;

/// No list of public inputs is larger.
const MOST_PUBLIC_BYTES: u64 = 1 << 30;
/// A proof has 192 bytes; a little more is read to say what is wrong with a longer file.
const MOST_PROOF_BYTES: u64 = 1 << 16;

/// Verifies a proof (192 bytes: A, B, C compressed) against a verifying key and public inputs.
#[derive(Args)]
#[command(
    after_help = "Example:\n  proofline verify --vk out/keys/circuit.vk --public out/proofs/public-0.json --proof \
                  out/proofs/proof-0.bin"
)]
pub struct Verify {
    /// The verifying key: a `.vk` file, or the folder that `setup` wrote
    #[arg(long, value_name = "FILE")]
    vk: PathBuf,
    /// The public inputs: a JSON array as snarkjs writes it, or a decimal number a line
    #[arg(long, value_name = "FILE")]
    public: PathBuf,
    /// The proof
    #[arg(long, value_name = "FILE")]
    proof: PathBuf,
}

impl Verify {
    pub fn run(&self) -> Result<(), Fault> {
        let key = PreparedKey::new(&VerifyingKey::read(&self.vk)?);
        let text = String::from_utf8(files::read(&self.public, MOST_PUBLIC_BYTES)?)
            .map_err(|_| Error::BadText(format!("{} is not text", self.public.display())))?;
        let inside = |file: &PathBuf| {
            let file = file.display().to_string();
            move |error: Error| match error {
                Error::BadText(text) => Error::BadText(format!("{file}: {text}")),
                other => other,
            }
        };
        let public = parse_public_inputs(&text).map_err(inside(&self.public))?;
        let proof = ProofPoints::parse(&files::read(&self.proof, MOST_PROOF_BYTES)?).map_err(inside(&self.proof))?;
        if key.verify(&proof, &public)? {
            say!("{}: valid", self.proof.display());
            Ok(())
        } else {
            say!("{}: NOT valid for this key and these public inputs", self.proof.display());
            Err(Fault::Refused)
        }
    }
}
