//! The points of a `.zkey`: read in pieces, each checked for curve and subgroup.

use blstrs::{G1Affine, G2Affine};
use proofline_kernels::msm::Curve;
use proofline_kernels::sparse::Bitmap;

use super::header::Header;
use super::{A, B_G1, B_G2, H, L};
use crate::error::Error;
use crate::iden3::{Cursor, Place, SectionFile};
use crate::params::point::Point;
use crate::params::queries::{PointSource, QueryName};
use crate::params::subgroup::checked;
use crate::progress::{Progress, Watch};

/// Points that are read and checked at a time.
const POINTS_PER_PIECE: usize = 1 << 15;

/// The queries of a `.zkey` as the prover wants them: of A and B only the wires that occur there.
pub(in crate::params) struct ZkeyPoints<'a> {
    file: &'a SectionFile,
    header: &'a Header,
    a: Bitmap,
    b: Bitmap,
}

impl<'a> ZkeyPoints<'a> {
    pub(super) fn new(file: &'a SectionFile, header: &'a Header, a: Bitmap, b: Bitmap) -> Self {
        Self { file, header, a, b }
    }
}

impl PointSource for ZkeyPoints<'_> {
    fn in_g1(
        &mut self,
        query: QueryName,
        watch: Watch<'_>,
        take: &mut dyn FnMut(&[G1Affine]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (section, kept) = match query {
            QueryName::H => (H, None),
            QueryName::L => (L, None),
            QueryName::A => (A, Some(&self.a)),
            QueryName::BG1 => (B_G1, Some(&self.b)),
            QueryName::BG2 => return Err(Error::Internal("B in G2 is no query in G1".to_owned())),
        };
        let place = self.header.place_of(self.file, section)?;
        read(self.file, place, query.name(), watch, |first, points| {
            keep(self.file, place, query, kept, (first, points), take)
        })
    }

    fn b_g2(&mut self, watch: Watch<'_>, take: &mut dyn FnMut(&[G2Affine]) -> Result<(), Error>) -> Result<(), Error> {
        let place = self.header.place_of(self.file, B_G2)?;
        let query = QueryName::BG2;
        read(self.file, place, query.name(), watch, |first, points| {
            keep(self.file, place, query, Some(&self.b), (first, points), take)
        })
    }
}

/// Hands on the points of the wires that are in `kept`. One that is not there has no point: a key with one belongs to
/// other coefficients than those beside it.
fn keep<P: Point>(
    file: &SectionFile,
    place: Place,
    query: QueryName,
    kept: Option<&Bitmap>,
    (first, mut points): (usize, Vec<P>),
    take: &mut dyn FnMut(&[P]) -> Result<(), Error>,
) -> Result<(), Error> {
    if let Some(kept) = kept {
        let mut wire = first..;
        let mut stray = None;
        points.retain(|point| {
            let wire = wire.next().unwrap_or(usize::MAX);
            let stays = kept.get(wire);
            if !stays && !bool::from(point.is_identity()) {
                stray.get_or_insert(wire);
            }
            stays
        });
        if let Some(wire) = stray {
            let fault = format!(
                "{} has a point for wire {wire}, which occurs in no row of that matrix: points and coefficients are of \
                 different circuits",
                query.name()
            );
            return Err(file.malformed(place.offset + (wire * P::BYTES) as u64, fault));
        }
    }
    take(&points)
}

/// All points of a place, none of them at infinity.
pub(super) fn read_all<P: Point + Curve>(
    file: &SectionFile,
    place: Place,
    what: &'static str,
    watch: Watch<'_>,
) -> Result<Vec<P>, Error> {
    let mut all = Vec::with_capacity(usize::try_from(place.length).unwrap_or(0) / P::BYTES);
    read::<P>(file, place, what, watch, |first, points| {
        if let Some(index) = points.iter().position(|point| bool::from(point.is_identity())) {
            let fault = format!("point {} of {what} ({}) is the point at infinity", first + index, P::GROUP);
            return Err(file.malformed(place.offset + ((first + index) * P::BYTES) as u64, fault));
        }
        all.extend(points);
        Ok(())
    })?;
    Ok(all)
}

/// The points of a place in pieces, with the number of the first.
fn read<P: Point + Curve>(
    file: &SectionFile,
    place: Place,
    what: &'static str,
    watch: Watch<'_>,
    mut take: impl FnMut(usize, Vec<P>) -> Result<(), Error>,
) -> Result<(), Error> {
    let total = place.length / P::BYTES as u64;
    let mut bytes = Vec::new();
    for first in (0..total).step_by(POINTS_PER_PIECE) {
        watch(Progress { what, done: first, total });
        let points = (total - first).min(POINTS_PER_PIECE as u64) as usize;
        bytes.resize(points * P::BYTES, 0);
        let offset = place.offset + first * P::BYTES as u64;
        file.read_at(offset, &mut bytes)?;
        // The header counts wires in 32 bits.
        let first = first as usize;
        let refused = |index: usize, fault: &str| {
            let fault = format!("point {} of {what} ({}) {fault}; get the key again", first + index, P::GROUP);
            file.malformed(offset + (index * P::BYTES) as u64, fault)
        };
        let points = checked::<P>(&bytes, P::BYTES, decode, refused)?;
        take(first, points)?;
    }
    watch(Progress { what, done: total, total });
    Ok(())
}

/// A point that is not at infinity, checked for curve and subgroup.
pub(super) fn decode_one<P: Point + Curve>(cursor: &mut Cursor<'_>, what: &str) -> Result<P, Error> {
    let at = cursor.offset();
    let refused = |cursor: &Cursor<'_>, fault: &str| {
        cursor.malformed(at, format!("{what} ({}) {fault}; get the key again", P::GROUP))
    };
    let point: P = decode(cursor.take(P::BYTES as u64, what)?).map_err(|fault| refused(cursor, fault))?;
    match point {
        point if bool::from(point.is_identity()) => Err(refused(cursor, "is the point at infinity")),
        point if !point.in_subgroup() => {
            Err(refused(cursor, "is on the curve, but not in the subgroup of prime order"))
        }
        point => Ok(point),
    }
}

/// A point, checked for the curve; zeros are the point at infinity.
fn decode<P: Point + Curve>(bytes: &[u8]) -> Result<P, &'static str> {
    if bytes.iter().all(|byte| *byte == 0) {
        return Ok(P::identity());
    }
    let point = P::from_plain(bytes).ok_or("has a coordinate that is not below p")?;
    if Point::is_on_curve(&point) { Ok(point) } else { Err("is not on the curve") }
}
