//! What a verifier needs of a key.

use std::path::Path;

use blstrs::{G1Affine, G2Affine};

use super::parameters::{VK_FILE, file_in};
use super::point::Point;
use super::reader::{Infinity, KeyReader};
use super::resident::{self, Resident};
use super::writer::KeyWriter;
use super::{Zkey, zkey};
use crate::error::Error;
use crate::progress::{Watch, unwatched};
use crate::sealed::begins_as;

/// The verifying key. No point is the point at infinity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyingKey {
    /// α in G1.
    pub alpha_g1: G1Affine,
    /// β in G1; the prover needs it.
    pub beta_g1: G1Affine,
    /// β in G2.
    pub beta_g2: G2Affine,
    /// γ in G2.
    pub gamma_g2: G2Affine,
    /// δ in G1; the prover needs it.
    pub delta_g1: G1Affine,
    /// δ in G2.
    pub delta_g2: G2Affine,
    /// (β·A + α·B + C)/γ of each input, ONE first.
    pub ic: Vec<G1Affine>,
}

impl VerifyingKey {
    /// Reads a `.vk` file, or [`VK_FILE`] in a folder.
    ///
    /// # Errors
    /// The file cannot be read, is cut off, or a point in it is not a point of its group.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let mut reader = KeyReader::open(&file_in(path, VK_FILE))?;
        let key = Self::read_from(&mut reader, &unwatched)?;
        reader.expect_end()?;
        Ok(key)
    }

    /// The verifying key of a file of any kind: `.vk`, `.params`, `.zkey`, a converted key, or a folder with one. What is
    /// not needed for it is not read.
    ///
    /// # Errors
    /// The file cannot be read, is cut off, or a point in it is not a point of its group.
    pub fn of_any(path: &Path) -> Result<Self, Error> {
        let (key, converted) = resident::files_of(path);
        if zkey::is_zkey(&key) {
            return Ok(Zkey::open(&key, &unwatched)?.verifying_key().clone());
        }
        if begins_as(path, &resident::KIND) || (!key.exists() && converted.exists()) {
            return Ok(Resident::open(&converted)?.verifying_key().clone());
        }
        // A `.params` file begins with the bytes of its `.vk` file.
        let file = if path.is_dir() && path.join(VK_FILE).exists() { path.join(VK_FILE) } else { key };
        Self::read_from(&mut KeyReader::open(&file)?, &unwatched)
    }

    /// Writes a `.vk` file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, file: &Path) -> Result<(), Error> {
        let mut writer = KeyWriter::create(file)?;
        self.write_to(&mut writer)?;
        writer.finish().map(drop)
    }

    pub(super) fn read_from(reader: &mut KeyReader, watch: Watch<'_>) -> Result<Self, Error> {
        Ok(Self {
            alpha_g1: reader.point("alpha in G1")?,
            beta_g1: reader.point("beta in G1")?,
            beta_g2: reader.point("beta in G2")?,
            gamma_g2: reader.point("gamma in G2")?,
            delta_g1: reader.point("delta in G1")?,
            delta_g2: reader.point("delta in G2")?,
            ic: reader.points("ic", Infinity::Refused, watch)?,
        })
    }

    /// The bytes of a `.vk` file.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.alpha_g1.append_to(&mut bytes);
        self.beta_g1.append_to(&mut bytes);
        self.beta_g2.append_to(&mut bytes);
        self.gamma_g2.append_to(&mut bytes);
        self.delta_g1.append_to(&mut bytes);
        self.delta_g2.append_to(&mut bytes);
        // The count was read from, or is written to, a file that counts in 32 bits.
        bytes.extend((self.ic.len() as u32).to_be_bytes());
        self.ic.iter().for_each(|point| point.append_to(&mut bytes));
        bytes
    }

    pub(super) fn write_to(&self, writer: &mut KeyWriter) -> Result<(), Error> {
        writer.point(&self.alpha_g1)?;
        writer.point(&self.beta_g1)?;
        writer.point(&self.beta_g2)?;
        writer.point(&self.gamma_g2)?;
        writer.point(&self.delta_g1)?;
        writer.point(&self.delta_g2)?;
        writer.points(&self.ic, "ic")
    }
}
