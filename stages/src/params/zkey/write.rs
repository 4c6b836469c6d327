//! Writing a `.zkey`.

use std::path::Path;

use blstrs::Scalar;
use ff::{Field, PrimeField};
use proofline_kernels::msm::Curve;
use proofline_kernels::scalars::DensityMap;

use super::header::{BASE_PRIME, HEADER_BYTES};
use super::{
    A, B_G1, B_G2, COEFFICIENTS, CONTRIBUTIONS, G1_BYTES, G2_BYTES, H, HEADER, IC, L, MAGIC, PROTOCOL, VERSION, Zkey,
};
use crate::circuits::CircuitShape;
use crate::error::Error;
use crate::iden3::SCALAR_BYTES;
use crate::params::{Convention, Parameters};
use crate::partial::PartialFile;

/// The bytes that are gathered before the system is asked to write them.
const BUFFER_BYTES: usize = 1 << 20;
/// Section 10 of a key without contributions: the circuit's digest, of which there is none here, and their number.
const NO_CONTRIBUTIONS: [u8; 64 + 4] = [0; 68];

impl Zkey {
    /// Writes a key of the odd coset, with the circuit's coefficients. The key has no contributions: `snarkjs zkey verify`
    /// has nothing to check, while proving and verifying with it is as with any other.
    ///
    /// # Errors
    /// The file cannot be written, and one that is there already is then left as it was; the key is of another
    /// convention, or not the circuit's.
    pub fn write(path: &Path, key: &Parameters, shape: &CircuitShape) -> Result<(), Error> {
        let sizes = shape.sizes();
        let counts = [key.vk.ic.len(), key.h.len(), key.l.len(), key.a.len(), key.b_g1.len(), key.b_g2.len()];
        let expected = [sizes.inputs, sizes.domain, sizes.aux, sizes.a_density, sizes.b_density, sizes.b_density];
        if key.convention != Convention::OddCoset || counts.map(|count| count as u64) != expected {
            return Err(Error::Mismatch(format!(
                "the key is not for values on the odd coset, or not of the circuit `{}`: {counts:?} points in ic, h, l, a, \
                 b_g1 and b_g2 instead of {expected:?}",
                shape.name()
            )));
        }
        let mut out = Output { file: PartialFile::create(path, BUFFER_BYTES)?, bytes: Vec::new() };
        out.bytes.extend(MAGIC.as_bytes());
        out.words(&[VERSION, 10]);
        out.section(PROTOCOL, 4)?;
        out.words(&[1]);
        out.header(key, shape)?;
        out.section(IC, G1_BYTES * key.vk.ic.len() as u64)?;
        out.points(&key.vk.ic)?;
        out.coefficients(shape)?;
        let queries = shape.queries();
        out.section(A, G1_BYTES * shape.variables() as u64)?;
        out.spread(&key.a, &queries.a, shape.variables())?;
        out.section(B_G1, G1_BYTES * shape.variables() as u64)?;
        out.spread(&key.b_g1, &queries.b, shape.variables())?;
        out.section(B_G2, G2_BYTES * shape.variables() as u64)?;
        out.spread(&key.b_g2, &queries.b, shape.variables())?;
        out.section(L, G1_BYTES * key.l.len() as u64)?;
        out.points(&key.l)?;
        out.section(H, G1_BYTES * key.h.len() as u64)?;
        out.points(&key.h)?;
        out.section(CONTRIBUTIONS, NO_CONTRIBUTIONS.len() as u64)?;
        out.bytes.extend(NO_CONTRIBUTIONS);
        out.flush()?;
        out.file.finish()
    }
}

/// A file, and what is to be written to it next.
struct Output {
    file: PartialFile,
    bytes: Vec<u8>,
}

impl Output {
    fn flush(&mut self) -> Result<(), Error> {
        self.file.put(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }

    fn words(&mut self, words: &[u32]) {
        words.iter().for_each(|word| self.bytes.extend(word.to_le_bytes()));
    }

    fn section(&mut self, number: u32, length: u64) -> Result<(), Error> {
        self.words(&[number]);
        self.bytes.extend(length.to_le_bytes());
        self.flush()
    }

    fn header(&mut self, key: &Parameters, shape: &CircuitShape) -> Result<(), Error> {
        self.section(HEADER, HEADER_BYTES)?;
        self.words(&[BASE_PRIME.len() as u32]);
        self.bytes.extend(BASE_PRIME);
        self.words(&[SCALAR_BYTES as u32]);
        // r is r − 1 and 1, and r − 1 ends with a zero bit.
        let mut r = (-Scalar::ONE).to_repr();
        r[0] += 1;
        self.bytes.extend(r);
        // Wires and domain are below 2^32: the shape has held them to the prover's limits.
        self.words(&[shape.variables() as u32, shape.inputs() as u32 - 1, shape.domain().size() as u32]);
        let vk = &key.vk;
        [vk.alpha_g1, vk.beta_g1].iter().for_each(|point| self.point(point));
        [vk.beta_g2, vk.gamma_g2].iter().for_each(|point| self.point(point));
        self.point(&vk.delta_g1);
        self.point(&vk.delta_g2);
        self.flush()
    }

    fn coefficients(&mut self, shape: &CircuitShape) -> Result<(), Error> {
        let [a, b, _] = shape.matrices().nonzeros();
        let count = u32::try_from(a + b).map_err(|_| {
            Error::Mismatch(format!("A and B have {} coefficients, and the format counts to {}", a + b, u32::MAX))
        })?;
        self.section(COEFFICIENTS, 4 + u64::from(count) * (12 + SCALAR_BYTES))?;
        self.words(&[count]);
        let factor = Scalar::from(2).pow_vartime([512]);
        let mut written = Ok(());
        shape.matrices().for_each_row(|row, [a, b, _]| {
            for (matrix, terms) in [a, b].into_iter().enumerate() {
                for (wire, coefficient) in terms.terms() {
                    self.words(&[matrix as u32, row as u32, wire]);
                    self.bytes.extend((*coefficient * factor).to_repr());
                }
            }
            if written.is_ok() {
                written = self.flush();
            }
        });
        written
    }

    fn point<C: Curve>(&mut self, point: &C) {
        let at = self.bytes.len();
        self.bytes.resize(at + C::PLAIN_BYTES, 0);
        if !point.is_infinity() {
            point.to_plain(&mut self.bytes[at..]);
        }
    }

    fn points<C: Curve>(&mut self, points: &[C]) -> Result<(), Error> {
        points.iter().try_for_each(|point| {
            self.point(point);
            self.flush()
        })
    }

    /// Points of the dense wires; the others are at infinity.
    fn spread<C: Curve>(&mut self, points: &[C], density: &DensityMap, wires: usize) -> Result<(), Error> {
        let mut present = density.ones().zip(points).peekable();
        (0..wires).try_for_each(|wire| {
            let here = present.next_if(|(variable, _)| *variable == wire);
            self.point(&here.map_or_else(C::infinity, |(_, point)| *point));
            self.flush()
        })
    }
}
