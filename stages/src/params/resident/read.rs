//! Reading a converted key.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use blstrs::{G1Affine, G2Affine};
use proofline_kernels::domain::Convention;
use proofline_kernels::msm::{Curve, LoadError, Query, Stored};
use proofline_kernels::scalars::MAX_LEN;

use super::source::Source;
use super::{FACTS, INFINITIES, KIND, POINTS, QUERIES, SOURCE, VERIFYING_KEY};
use crate::error::Error;
use crate::params::reader::KeyReader;
use crate::params::{ProvingKey, VerifyingKey};
use crate::progress::{Progress, Watch, unwatched};
use crate::sealed::{Digest, PIECE_BYTES, Sealed, Section};
use crate::verify::PreparedKey;

/// A converted key, open: its header, sizes and verifying key are read and checked, its queries are not yet.
pub struct Resident {
    pub(super) sealed: Sealed,
    pub(super) source: Source,
    vk: VerifyingKey,
    convention: Convention,
    queries: [Stretch; 5],
}

/// Where a query is in the file.
pub(super) struct Stretch {
    pub(super) name: &'static str,
    /// Points, those at infinity included.
    len: usize,
    pub(super) points: Section,
    infinities: Vec<u32>,
}

impl Resident {
    /// Opens a file.
    ///
    /// # Errors
    /// The file cannot be read, was cut off or altered, or is no converted key.
    pub fn open(file: &Path) -> Result<Self, Error> {
        let sealed = Sealed::open(file, KIND)?;
        let at = |number| sealed.section(number, "a part of it").map_or(0, |section| section.offset);
        let queries = (0..5).flat_map(|query| [POINTS + query, INFINITIES + query]);
        sealed.expect(&queries.chain([FACTS, SOURCE, VERIFYING_KEY]).collect::<Vec<_>>())?;
        let facts = sealed.read(FACTS, "the key's sizes")?;
        let (words, rest) = facts.as_chunks::<8>();
        let words = words.iter().map(|word| u64::from_le_bytes(*word)).collect::<Vec<_>>();
        let (Ok([convention, counts @ ..]), []) = (<[u64; 11]>::try_from(words), rest) else {
            return Err(sealed.malformed(at(FACTS), "the key's sizes are not eleven"));
        };
        let convention = match convention {
            0 => Convention::Coefficients,
            1 => Convention::OddCoset,
            other => return Err(sealed.malformed(at(FACTS), &format!("there is no convention {other}"))),
        };
        let source = sealed.read(SOURCE, "the key's source")?;
        let Ok(source) = <&[u8; Source::BYTES]>::try_from(&source[..]) else {
            return Err(sealed.malformed(at(SOURCE), "the key's source has another length"));
        };
        let source = Source::from_bytes(source);
        let vk = {
            let bytes = sealed.read(VERIFYING_KEY, "the verifying key")?;
            let mut reader = KeyReader::over(file, at(VERIFYING_KEY), bytes);
            let vk = VerifyingKey::read_from(&mut reader, &unwatched)?;
            reader.expect_end()?;
            vk
        };
        let [h, l, a, b_g1, b_g2] = [0, 1, 2, 3, 4].map(|number| {
            let bytes_each = if number == 4 { G2Affine::PLAIN_BYTES } else { G1Affine::PLAIN_BYTES };
            stretch(&sealed, number, [counts[2 * number], counts[2 * number + 1]], bytes_each as u64)
        });
        Ok(Self { sealed, source, vk, convention, queries: [h?, l?, a?, b_g1?, b_g2?] })
    }

    /// Reads the queries, on the rayon pool that this is called in.
    ///
    /// # Errors
    /// The file cannot be read, or a section was altered.
    pub fn load(self, watch: Watch<'_>) -> Result<ProvingKey, Error> {
        let Self { sealed, vk, convention, queries: [h, l, a, b_g1, b_g2], .. } = self;
        Ok(ProvingKey {
            h: query(&sealed, &h, watch)?,
            l: query(&sealed, &l, watch)?,
            a: query(&sealed, &a, watch)?,
            b_g1: query(&sealed, &b_g1, watch)?,
            b_g2: query(&sealed, &b_g2, watch)?,
            prepared: PreparedKey::new(&vk),
            vk,
            convention,
        })
    }

    /// Whether it was made from the `.params` file that is there; see the [module](super).
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn belongs_to(&self, params: &Path) -> Result<bool, Error> {
        self.source.is(params)
    }

    /// Refuses a converted file that belongs to another key than the one it is beside.
    pub(crate) fn expect_source(&self, params: &Path) -> Result<(), Error> {
        if self.belongs_to(params)? {
            return Ok(());
        }
        Err(Error::Mismatch(format!(
            "{} was made from another key than {}, which was changed or replaced since: convert it again with `proofline \
             params convert`, or delete it",
            self.sealed.path().display(),
            params.display()
        )))
    }

    /// The verifying key.
    #[must_use]
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.vk
    }

    /// How the quotient is made for this key.
    #[must_use]
    pub fn convention(&self) -> Convention {
        self.convention
    }

    /// Name, points and points at infinity of each query.
    #[must_use]
    pub fn queries(&self) -> [(&'static str, usize, usize); 5] {
        self.queries.each_ref().map(|query| (query.name, query.len, query.infinities.len()))
    }

    /// Bytes of the file.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.sealed.length()
    }

    /// Bytes that the key's queries take in memory: points lie there as in the file, and where a query has points at
    /// infinity, its others have a map of their places.
    #[must_use]
    pub fn loaded_bytes(&self) -> u64 {
        let of_query = |query: &Stretch| {
            let places = if query.infinities.is_empty() { 0 } else { size_of::<u32>() * query.len };
            query.points.length.saturating_add(places as u64)
        };
        self.queries.iter().map(of_query).fold(0, u64::saturating_add)
    }

    /// The seal, a digest of all that is in the file.
    #[must_use]
    pub fn seal(&self) -> [u8; 32] {
        *self.sealed.seal()
    }

    /// Bytes and digest of the file that it was made from.
    #[must_use]
    pub fn source(&self) -> (u64, [u8; 32]) {
        (self.source.length, self.source.digest)
    }

    pub(super) fn stretches(&self) -> &[Stretch; 5] {
        &self.queries
    }
}

fn stretch(sealed: &Sealed, number: usize, [len, kept]: [u64; 2], bytes_each: u64) -> Result<Stretch, Error> {
    let name = QUERIES[number];
    let points = sealed.section(POINTS + number as u32, name)?;
    let infinities = sealed.read(INFINITIES + number as u32, "the positions of points at infinity")?;
    let (infinities, rest) = infinities.as_chunks::<4>();
    let infinities: Vec<u32> = infinities.iter().map(|word| u32::from_le_bytes(*word)).collect();
    if !rest.is_empty() {
        return Err(sealed.malformed(points.offset, &format!("a position of a point at infinity of {name} is cut off")));
    }
    let stored = kept.checked_mul(bytes_each);
    // The points are in the file, and so are the positions of those that are not: the count is bounded by its length.
    if len > MAX_LEN as u64 || stored != Some(points.length) || kept.checked_add(infinities.len() as u64) != Some(len) {
        let fault = format!(
            "{name} should have {len} points (at most {MAX_LEN}), {kept} of them stored; {} bytes of points and {} \
             positions of points at infinity are there",
            points.length,
            infinities.len()
        );
        return Err(sealed.malformed(points.offset, &fault));
    }
    Ok(Stretch { name, len: len as usize, points, infinities })
}

/// Reads a query in pieces, each hashed while it is in the cache.
fn query<C: Curve>(sealed: &Sealed, stretch: &Stretch, watch: Watch<'_>) -> Result<Query<C>, Error> {
    let Stretch { name, len, points, infinities } = stretch;
    let total = *len as u64;
    watch(Progress { what: name, done: 0, total });
    let stored = Stored { len: *len, infinities, points_per_piece: PIECE_BYTES / C::PLAIN_BYTES };
    let pieces = usize::try_from(points.length.div_ceil(PIECE_BYTES as u64)).unwrap_or(0);
    let digests = Mutex::new(vec![Digest::default(); pieces]);
    let path = proofline_kernels::Path::best();
    let query = Query::load(stored, path, |first, bytes| {
        let digest = sealed.read_piece(points, (first * C::PLAIN_BYTES) as u64, bytes)?;
        let mut digests = digests.lock().unwrap_or_else(PoisonError::into_inner);
        digests[first * C::PLAIN_BYTES / PIECE_BYTES] = digest;
        Ok(())
    });
    let query = query.map_err(|error| match error {
        LoadError::Read(error) => error,
        LoadError::NoPoint { index } => {
            let offset = points.offset + (index * C::PLAIN_BYTES) as u64;
            sealed.malformed(offset, &format!("stored point {index} of {name} is none: it was altered"))
        }
        LoadError::Infinities { .. } => sealed.malformed(points.offset, &format!("{name}: {error}")),
    })?;
    sealed.check(points, &digests.into_inner().unwrap_or_else(PoisonError::into_inner), name)?;
    watch(Progress { what: name, done: total, total });
    Ok(query)
}
