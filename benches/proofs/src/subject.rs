//! What is proved: a circuit, a key on disk, one witness.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use blstrs::Scalar;
use ff::Field;
use proofline::setup::{Entropy, generate};
use proofline::{Builtin, CircuitShape, unwatched};
use proofline_stages::circuits::{R1cs, Sha256Preimage, parse_wtns, witness_of};
use proofline_stages::params::{PARAMS_FILE, Parameters};
use proofline_stages::secret::SecretScalars;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Where the constraints come from.
pub enum Origin {
    /// A circom file.
    Circom(R1cs),
    /// The built-in family.
    Builtin(Builtin),
}

/// A circuit with its witness and the folder of its key.
pub struct Subject {
    pub name: String,
    pub origin: Origin,
    pub shape: Arc<CircuitShape>,
    pub witness: SecretScalars,
    pub key: PathBuf,
}

impl Subject {
    /// The circuit of that name: `sha256:N`, or a file pair of `benches/data`. Its key is made once and kept in `keys`.
    pub fn open(name: &str, keys: &Path) -> Result<Self, Box<dyn Error>> {
        let (origin, shape, witness) = match name.parse::<Builtin>() {
            Ok(builtin) => {
                let shape = CircuitShape::from_builtin(name)?;
                let Builtin::Sha256 { blocks } = builtin;
                let witness = witness_of(&shape, Sha256Preimage::of_preimage(preimage(blocks).into()))?;
                (Origin::Builtin(builtin), shape, witness)
            }
            Err(_) => {
                let (path, bytes) = unpack(&format!("{name}.r1cs.zst"))?;
                let r1cs = R1cs::parse(&path, &bytes)?;
                let shape = CircuitShape::from_constraints(name, r1cs.clone())?;
                let (path, bytes) = unpack(&format!("{name}.wtns.zst"))?;
                (Origin::Circom(r1cs), shape, parse_wtns(&path, &bytes)?)
            }
        };
        let key = keys.join(name.replace(':', "-"));
        if !key.join(PARAMS_FILE).exists() {
            eprintln!("making a key for {name}");
            generate(&shape, &Entropy::Seed("bench"), &unwatched)?.write(&key)?;
        }
        Ok(Self { name: name.to_owned(), origin, shape: Arc::new(shape), witness, key })
    }

    /// The circuit once more.
    pub fn reopen(&self) -> Result<CircuitShape, Box<dyn Error>> {
        Ok(match &self.origin {
            Origin::Circom(r1cs) => CircuitShape::from_constraints(&self.name, r1cs.clone())?,
            Origin::Builtin(_) => CircuitShape::from_builtin(&self.name)?,
        })
    }

    /// The key as points.
    pub fn parameters(&self) -> Result<Parameters, Box<dyn Error>> {
        Ok(Parameters::read(&self.key, &unwatched)?)
    }

    /// The public inputs, the constant ONE not counted.
    pub fn public(&self) -> Vec<Scalar> {
        self.witness[1..self.shape.inputs()].to_vec()
    }
}

/// A file of `benches/data`, unpacked.
fn unpack(file: &str) -> Result<(PathBuf, Vec<u8>), Box<dyn Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data").join(file);
    let bytes = zstd::decode_all(std::fs::File::open(&path)?)?;
    Ok((path, bytes))
}

/// The preimage that is proved to be known.
pub fn preimage(blocks: usize) -> Vec<u8> {
    (0..64 * blocks).map(|at| (at * 7 % 251) as u8).collect()
}

/// Full-size scalars.
pub fn random_scalars(n: usize, seed: u64) -> Vec<Scalar> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..n).map(|_| Scalar::random(&mut rng)).collect()
}
