//! A key file of either format, open.

use std::path::Path;

use super::parameters::key_in;
use super::queries::{PointSource, QueryName};
use super::reader::KeyReader;
use super::resident::convert::{Done, write_queries};
use super::{Convention, Parameters, VerifyingKey, Zkey, zkey};
use crate::error::Error;
use crate::progress::Watch;
use crate::sealed::{Digest, SealedWriter, digest_of_file};

/// A `.params` or a `.zkey` file whose verifying key was read.
pub(super) enum KeyFile {
    Params(Box<(VerifyingKey, KeyReader)>),
    Zkey(Box<Zkey>),
}

impl KeyFile {
    /// Opens a file of either format; the first bytes tell.
    pub(super) fn open(path: &Path, watch: Watch<'_>) -> Result<Self, Error> {
        let path = key_in(path);
        // One that was damaged is no other kind of key for that.
        let is_called_so = path.is_file() && path.extension().is_some_and(|extension| extension == "zkey");
        if zkey::is_zkey(&path) || is_called_so {
            return Zkey::open(&path, watch).map(Box::new).map(Self::Zkey);
        }
        let mut reader = KeyReader::open(&path)?;
        let vk = VerifyingKey::read_from(&mut reader, watch)?;
        if reader.is_at_its_end() {
            let fault = "it ends behind the verifying key: this is a `.vk` file, which proves nothing; give the `.params` file \
                         that was made with it, or the folder of both";
            return Err(Error::Malformed { file: path, offset: reader.digest().1, fault: fault.to_owned() });
        }
        Ok(Self::Params(Box::new((vk, reader))))
    }

    pub(super) fn verifying_key(&self) -> &VerifyingKey {
        match self {
            Self::Params(key) => &key.0,
            Self::Zkey(zkey) => zkey.verifying_key(),
        }
    }

    pub(super) fn convention(&self) -> Convention {
        match self {
            Self::Params(_) => Convention::Coefficients,
            Self::Zkey(_) => Convention::OddCoset,
        }
    }

    /// Copies the queries into a converted file, once.
    pub(super) fn write_queries(&mut self, writer: &mut SealedWriter, watch: Watch<'_>) -> Result<[Done; 5], Error> {
        match self {
            Self::Params(key) => {
                let reader = &mut key.1;
                let done = write_queries(reader, writer, watch)?;
                reader.expect_end()?;
                Ok(done)
            }
            Self::Zkey(zkey) => write_queries(&mut zkey.points(watch)?, writer, watch),
        }
    }

    /// Digest and length of the file, when its queries have been read.
    pub(super) fn digest(&self) -> Result<(Digest, u64), Error> {
        match self {
            Self::Params(key) => Ok(key.1.digest()),
            Self::Zkey(zkey) => digest_of_file(zkey.path()),
        }
    }

    /// All points.
    pub(super) fn into_parameters(self, watch: Watch<'_>) -> Result<Parameters, Error> {
        let convention = self.convention();
        match self {
            Self::Params(key) => {
                let (vk, mut reader) = *key;
                let parameters = gather(&vk, convention, &mut reader, watch)?;
                reader.expect_end()?;
                Ok(parameters)
            }
            Self::Zkey(zkey) => Parameters::of_zkey(&zkey, watch),
        }
    }
}

/// All points of a key whose verifying key was read.
pub(super) fn gather(
    vk: &VerifyingKey,
    convention: Convention,
    source: &mut impl PointSource,
    watch: Watch<'_>,
) -> Result<Parameters, Error> {
    let mut in_g1 = QueryName::IN_G1.map(|_| Vec::new());
    for (query, all) in QueryName::IN_G1.into_iter().zip(&mut in_g1) {
        source.in_g1(query, watch, &mut |points| {
            all.extend_from_slice(points);
            Ok(())
        })?;
    }
    let mut b_g2 = Vec::new();
    source.b_g2(watch, &mut |points| {
        b_g2.extend_from_slice(points);
        Ok(())
    })?;
    let [h, l, a, b_g1] = in_g1;
    Ok(Parameters { vk: vk.clone(), convention, h, l, a, b_g1, b_g2 })
}
