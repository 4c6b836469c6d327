//! What is proved: a circuit, a key on disk, one witness.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use blstrs::Scalar;
use proofline::setup::{Entropy, generate};
use proofline::{Builtin, CircuitShape, unwatched};
use proofline_stages::circuits::{R1cs, parse_wtns, witness_of};
use proofline_stages::params::{PARAMS_FILE, Parameters};
use proofline_stages::secret::SecretScalars;

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
                let preimage = (0..64 * blocks).map(|at| (at * 7 % 251) as u8).collect::<Vec<u8>>();
                let circuit = proofline_stages::circuits::Sha256Preimage::of_preimage(preimage.into());
                let witness = witness_of(&shape, circuit)?;
                (Origin::Builtin(builtin), shape, witness)
            }
            Err(_) => {
                let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data");
                let unpack = |file: String| -> Result<(PathBuf, Vec<u8>), Box<dyn Error>> {
                    let path = folder.join(file);
                    Ok((path.clone(), zstd::decode_all(std::fs::File::open(&path)?)?))
                };
                let (path, bytes) = unpack(format!("{name}.r1cs.zst"))?;
                let r1cs = R1cs::parse(&path, &bytes)?;
                let shape = CircuitShape::from_constraints(name, R1cs::parse(&path, &bytes)?)?;
                let (path, bytes) = unpack(format!("{name}.wtns.zst"))?;
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

    /// The key as points.
    pub fn parameters(&self) -> Result<Parameters, Box<dyn Error>> {
        Ok(Parameters::read(&self.key, &unwatched)?)
    }

    /// The public inputs, the constant ONE not counted.
    pub fn public(&self) -> Vec<Scalar> {
        self.witness[1..self.shape.inputs()].to_vec()
    }
}
