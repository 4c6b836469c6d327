//! Making a converted key.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use proofline_kernels::msm::Curve;

use super::source::{Source, Stamp};
use super::{FACTS, INFINITIES, KIND, POINTS, QUERIES, SOURCE, VERIFYING_KEY, beside};
use crate::error::Error;
use crate::params::VerifyingKey;
use crate::params::parameters::{PARAMS_FILE, file_in};
use crate::params::point::Point;
use crate::params::reader::{Infinity, KeyReader};
use crate::progress::Watch;
use crate::sealed::{Digest, SealedWriter, Written};

/// A conversion that was done.
#[derive(Debug, Clone)]
pub struct Converted {
    /// The `.params` file.
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

/// Converts a `.params` file, or the key in a folder. Every point is checked for curve and subgroup, on the rayon pool
/// that this is called in; the converted file is put beside the source.
///
/// # Errors
/// Those of [`Parameters::read`](crate::params::Parameters::read); the file was changed meanwhile; the converted file
/// cannot be written.
pub fn convert(path: &Path, watch: Watch<'_>) -> Result<Converted, Error> {
    let clock = Instant::now();
    let source = file_in(path, PARAMS_FILE);
    let file = beside(&source);
    let stamp = |path: &Path| std::fs::metadata(path).map_err(Error::io("open", path));
    let before = Stamp::of(&stamp(&source)?);
    let (key, mut reader) = KeyReader::open(&source).and_then(|mut reader| {
        let key = VerifyingKey::read_from(&mut reader, watch)?;
        Ok((key, reader))
    })?;
    let mut writer = SealedWriter::create(&file, KIND)?;
    let done = write_queries(&mut reader, &mut writer, watch)?;
    reader.expect_end()?;
    let after = stamp(&source)?;
    let (digest, length) = reader.digest();
    // The check of a large key takes minutes, in which somebody may put another one in its place.
    if Stamp::of(&after) != before || after.len() != length {
        return Err(Error::Mismatch(format!("{} was changed while it was converted: try again", source.display())));
    }
    let stated = Source { length, digest, stamp: Stamp::settled(&after) };
    let written = finish(writer, &key, &done, &stated)?;
    let (bytes, seal) = (written.length, written.seal);
    Ok(Converted { source, file, source_bytes: length, bytes, seal, took: clock.elapsed() })
}

/// Points of a query, those at infinity included, and the positions of these.
pub(super) struct Done {
    len: usize,
    infinities: Vec<u32>,
}

/// Copies the five queries.
pub(super) fn write_queries(
    reader: &mut KeyReader,
    writer: &mut SealedWriter,
    watch: Watch<'_>,
) -> Result<[Done; 5], Error> {
    use blstrs::{G1Affine, G2Affine};
    let [h, l, a, b_g1, b_g2] = QUERIES;
    Ok([
        write_query::<G1Affine>(reader, writer, (0, h), Infinity::Refused, watch)?,
        write_query::<G1Affine>(reader, writer, (1, l), Infinity::Allowed, watch)?,
        write_query::<G1Affine>(reader, writer, (2, a), Infinity::Refused, watch)?,
        write_query::<G1Affine>(reader, writer, (3, b_g1), Infinity::Refused, watch)?,
        write_query::<G2Affine>(reader, writer, (4, b_g2), Infinity::Refused, watch)?,
    ])
}

fn write_query<P: Point + Curve>(
    reader: &mut KeyReader,
    writer: &mut SealedWriter,
    (number, name): (u32, &'static str),
    infinity: Infinity,
    watch: Watch<'_>,
) -> Result<Done, Error> {
    writer.begin(POINTS + number)?;
    let mut done = Done { len: 0, infinities: Vec::new() };
    let mut bytes = Vec::new();
    reader.points_in_pieces::<P>(name, infinity, watch, |points| {
        bytes.clear();
        for point in points {
            if Curve::is_infinity(&point) {
                // The reader counts in 32 bits.
                done.infinities.push(done.len as u32);
            } else {
                let at = bytes.len();
                bytes.resize(at + P::PLAIN_BYTES, 0);
                point.to_plain(&mut bytes[at..]);
            }
            done.len += 1;
        }
        writer.append(&bytes)
    })?;
    Ok(done)
}

/// Writes what is not points.
pub(super) fn finish(
    mut writer: SealedWriter,
    key: &VerifyingKey,
    done: &[Done; 5],
    source: &Source,
) -> Result<Written, Error> {
    for (number, query) in (0..).zip(done) {
        let positions: Vec<u8> = query.infinities.iter().flat_map(|position| position.to_le_bytes()).collect();
        writer.section(INFINITIES + number, &positions)?;
    }
    // bellperson's files are of its convention; 0 says so.
    let counts = done.iter().flat_map(|query| [query.len, query.len - query.infinities.len()]);
    let facts: Vec<u8> = std::iter::once(0).chain(counts).flat_map(|fact| (fact as u64).to_le_bytes()).collect();
    writer.section(FACTS, &facts)?;
    writer.section(SOURCE, &source.to_bytes())?;
    writer.section(VERIFYING_KEY, &key.to_bytes())?;
    writer.finish()
}
