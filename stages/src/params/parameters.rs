//! A whole key as points: what a `.params` file holds.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use blstrs::{G1Affine, G2Affine};
use group::prime::PrimeCurveAffine;

use super::key_file::{KeyFile, gather};
use super::resident::{self, Converted};
use super::writer::KeyWriter;
use super::{Convention, VerifyingKey, Zkey};
use crate::error::Error;
use crate::progress::Watch;
use crate::sealed::Digest;

/// The name of the key in the folder that a setup writes.
pub const PARAMS_FILE: &str = "circuit.params";
/// The name of a key of snarkjs' in the folder that a setup writes.
pub const ZKEY_FILE: &str = "circuit.zkey";
/// The name of the verifying key in the folder that a setup writes.
pub const VK_FILE: &str = "circuit.vk";

/// The points of a key. Only [`Self::l`] may hold points at infinity, one for each variable that no constraint
/// mentions; bellperson makes no keys for such circuits and does not read these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// The verifying key.
    pub vk: VerifyingKey,
    /// How the quotient is made for this key: what `h` is for.
    pub convention: Convention,
    /// τ^i·Z(τ)/δ, one fewer than the domain has points; for the odd coset its Lagrange polynomials at τ over δ, as many
    /// as the domain has points.
    pub h: Vec<G1Affine>,
    /// (β·A + α·B + C)/δ of each auxiliary variable.
    pub l: Vec<G1Affine>,
    /// A of each input and of each auxiliary variable that occurs in A.
    pub a: Vec<G1Affine>,
    /// B of each variable that occurs in B.
    pub b_g1: Vec<G1Affine>,
    /// The same in G2.
    pub b_g2: Vec<G2Affine>,
}

impl Parameters {
    /// Reads a `.params` or `.zkey` file, or [`PARAMS_FILE`] in a folder. Every point is checked for curve and subgroup, on the
    /// rayon pool that this is called in.
    ///
    /// # Errors
    /// The file cannot be read, is cut off, or a point in it is not a point of its group.
    pub fn read(path: &Path, watch: Watch<'_>) -> Result<Self, Error> {
        KeyFile::open(path, watch)?.into_parameters(watch)
    }

    /// The points of a `.zkey`, all checked.
    ///
    /// # Errors
    /// The file cannot be read, or a point in it is not a point of its group.
    pub fn of_zkey(zkey: &Zkey, watch: Watch<'_>) -> Result<Self, Error> {
        gather(zkey.verifying_key(), Convention::OddCoset, &mut zkey.points(watch)?, watch)
    }

    /// Name, points and points at infinity of each query.
    #[must_use]
    pub fn queries(&self) -> [(&'static str, usize, usize); 5] {
        let infinities = self.l.iter().filter(|point| bool::from(point.is_identity())).count();
        [
            ("h", self.h.len(), 0),
            ("l", self.l.len(), infinities),
            ("a", self.a.len(), 0),
            ("b_g1", self.b_g1.len(), 0),
            ("b_g2", self.b_g2.len(), 0),
        ]
    }

    /// Writes [`PARAMS_FILE`] and [`VK_FILE`] into a folder, which is made if it is not there; a converted key of the key
    /// that was there before is removed.
    ///
    /// # Errors
    /// A file cannot be written, and one that is there already is then left as it was; or the key is of another
    /// convention than that of `.params` files.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        self.write_files(&folder.join(PARAMS_FILE), &folder.join(VK_FILE))
    }

    /// The same into files of other names; the folder of the key is made if it is not there.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_files(&self, file: &Path, vk: &Path) -> Result<(), Error> {
        self.write_source(file, vk).map(drop)
    }

    /// The same, and the converted key beside it, whose points are those that are here: neither is the file read again nor are
    /// they checked. For a key that was just made, whose points are multiples of the generators.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_converted(&self, file: &Path, vk: &Path, watch: Watch<'_>) -> Result<Converted, Error> {
        let clock = Instant::now();
        let (digest, length) = self.write_source(file, vk)?;
        resident::convert::of_made(self, file, (digest, length, clock), watch)
    }

    /// Writes both files; what comes back is the key's digest and length.
    fn write_source(&self, file: &Path, vk: &Path) -> Result<(Digest, u64), Error> {
        if self.convention != Convention::Coefficients {
            return Err(Error::Mismatch("a key for values on the odd coset is written as `.zkey` only".to_owned()));
        }
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        }
        // A converted key, if there is one, is of the key that is replaced here.
        let converted = resident::beside(file);
        if converted.exists() {
            fs::remove_file(&converted).map_err(Error::io("remove", &converted))?;
        }
        let mut writer = KeyWriter::create(file)?;
        self.vk.write_to(&mut writer)?;
        writer.points(&self.h, "h")?;
        writer.points(&self.l, "l")?;
        writer.points(&self.a, "a")?;
        writer.points(&self.b_g1, "b_g1")?;
        writer.points(&self.b_g2, "b_g2")?;
        let written = writer.finish()?;
        self.vk.write(vk)?;
        Ok(written)
    }
}

/// The file itself, or the key in the folder: bellperson's, or snarkjs' where that is not there.
pub(super) fn key_in(path: &Path) -> PathBuf {
    let params = file_in(path, PARAMS_FILE);
    let zkey = path.join(ZKEY_FILE);
    if path.is_dir() && !params.exists() && !super::resident::beside(&params).exists() && zkey.exists() {
        return zkey;
    }
    params
}

/// The file itself, or the one of this name in the folder.
pub(super) fn file_in(path: &Path, name: &str) -> PathBuf {
    if path.is_dir() { path.join(name) } else { path.to_owned() }
}
