//! Making a converted key.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use proofline_kernels::msm::Curve;

use super::source::{Source, Stamp};
use super::{FACTS, INFINITIES, KIND, POINTS, SOURCE, VERIFYING_KEY, beside};
use crate::error::Error;
use crate::params::key_file::KeyFile;
use crate::params::parameters::key_in;
use crate::params::queries::{PointSource, QueryName};
use crate::params::{Convention, Parameters, VerifyingKey};
use crate::progress::Watch;
use crate::sealed::{Digest, SealedWriter, Written};

/// A conversion that was done.
#[derive(Debug, Clone)]
pub struct Converted {
    /// The key file.
    pub source: PathBuf,
    /// The converted file.
    pub file: PathBuf,
    /// Bytes of the source.
    pub source_bytes: u64,
    /// Bytes of the converted file.
    pub bytes: u64,
    /// The converted file's seal, a digest of all that is in it.
    pub seal: Digest,
    /// How long reading, checking every point and writing took.
    pub took: Duration,
}

/// Converts a `.params` or `.zkey` file, or the key in a folder. Every point is checked for curve and subgroup, on the rayon pool
/// that this is called in; the converted file is put beside the source.
///
/// # Errors
/// Those of [`Parameters::read`](crate::params::Parameters::read) and [`Zkey::open`](crate::params::Zkey::open); the file was changed meanwhile; the converted file
/// cannot be written.
pub fn convert(path: &Path, watch: Watch<'_>) -> Result<Converted, Error> {
    let source = key_in(path);
    beside_source(&source, Instant::now(), |writer| {
        let mut key = KeyFile::open(&source, watch)?;
        let done = key.write_queries(writer, watch)?;
        let (digest, length) = key.digest()?;
        Ok(Copied { vk: key.verifying_key().clone(), convention: key.convention(), done, digest, length })
    })
}

/// Puts a key that is in memory beside the `.params` file of this digest and length that was made of it since `clock`.
pub(in crate::params) fn of_made(
    key: &Parameters,
    source: &Path,
    (digest, length, clock): (Digest, u64, Instant),
    watch: Watch<'_>,
) -> Result<Converted, Error> {
    beside_source(source, clock, |writer| {
        let done = write_queries(&mut &*key, writer, watch)?;
        Ok(Copied { vk: key.vk.clone(), convention: key.convention, done, digest, length })
    })
}

/// A key whose points were written.
struct Copied {
    vk: VerifyingKey,
    convention: Convention,
    done: [Done; 5],
    /// Of the source.
    digest: Digest,
    length: u64,
}

/// Makes the converted file beside a source, which must stay as it is meanwhile.
fn beside_source(
    source: &Path,
    clock: Instant,
    copy: impl FnOnce(&mut SealedWriter) -> Result<Copied, Error>,
) -> Result<Converted, Error> {
    let file = beside(source);
    let stamp = || std::fs::metadata(source).map_err(Error::io("open", source));
    let before = Stamp::of(&stamp()?);
    let mut writer = SealedWriter::create(&file, KIND)?;
    let Copied { vk, convention, done, digest, length } = copy(&mut writer)?;
    let after = stamp()?;
    // The check of a large key takes minutes, in which somebody may put another one in its place.
    if Stamp::of(&after) != before || after.len() != length {
        return Err(Error::Mismatch(format!("{} was changed while it was converted: try again", source.display())));
    }
    let stated = Source { length, digest, stamp: Stamp::settled(&after) };
    let Written { length: bytes, seal, .. } = finish(writer, &vk, convention, &done, &stated)?;
    Ok(Converted { source: source.to_owned(), file, source_bytes: length, bytes, seal, took: clock.elapsed() })
}

/// Points of a query, those at infinity included, and the positions of these.
pub(in crate::params) struct Done {
    len: usize,
    infinities: Vec<u32>,
}

/// Copies the five queries.
pub(in crate::params) fn write_queries(
    source: &mut impl PointSource,
    writer: &mut SealedWriter,
    watch: Watch<'_>,
) -> Result<[Done; 5], Error> {
    let mut done = [(); 5].map(|()| Done { len: 0, infinities: Vec::new() });
    let (b_g2, in_g1) = done.split_last_mut().ok_or_else(|| Error::Internal("there are five queries".to_owned()))?;
    let mut bytes = Vec::new();
    for (query, done) in QueryName::IN_G1.into_iter().zip(in_g1) {
        writer.begin(POINTS + query as u32)?;
        source.in_g1(query, watch, &mut |points| done.append(points, writer, &mut bytes))?;
    }
    writer.begin(POINTS + QueryName::BG2 as u32)?;
    source.b_g2(watch, &mut |points| b_g2.append(points, writer, &mut bytes))?;
    Ok(done)
}

impl Done {
    fn append<P: Curve>(&mut self, points: &[P], writer: &mut SealedWriter, bytes: &mut Vec<u8>) -> Result<(), Error> {
        bytes.clear();
        for point in points {
            if point.is_infinity() {
                // The formats count in 32 bits.
                self.infinities.push(self.len as u32);
            } else {
                let at = bytes.len();
                bytes.resize(at + P::PLAIN_BYTES, 0);
                point.to_plain(&mut bytes[at..]);
            }
            self.len += 1;
        }
        writer.append(bytes)
    }
}

/// Writes what is not points.
pub(super) fn finish(
    mut writer: SealedWriter,
    key: &VerifyingKey,
    convention: Convention,
    done: &[Done; 5],
    source: &Source,
) -> Result<Written, Error> {
    for (number, query) in (0..).zip(done) {
        let positions: Vec<u8> = query.infinities.iter().flat_map(|position| position.to_le_bytes()).collect();
        writer.section(INFINITIES + number, &positions)?;
    }
    let convention = match convention {
        Convention::Coefficients => 0,
        Convention::OddCoset => 1,
    };
    let counts = done.iter().flat_map(|query| [query.len, query.len - query.infinities.len()]);
    let facts: Vec<u8> =
        std::iter::once(convention).chain(counts).flat_map(|fact| (fact as u64).to_le_bytes()).collect();
    writer.section(FACTS, &facts)?;
    writer.section(SOURCE, &source.to_bytes())?;
    writer.section(VERIFYING_KEY, &key.to_bytes())?;
    writer.finish()
}
