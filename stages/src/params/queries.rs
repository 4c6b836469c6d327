//! The queries of a key, handed over in pieces: what every key format gives, and what a converted key is made of.

use blstrs::{G1Affine, G2Affine};

use super::Parameters;
use super::reader::{Infinity, KeyReader};
use crate::error::Error;
use crate::progress::{Progress, Watch};

/// The queries, in the order of a `.params` file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum QueryName {
    H,
    L,
    A,
    BG1,
    BG2,
}

impl QueryName {
    /// Those in G1; B in G2 comes behind them.
    pub(super) const IN_G1: [Self; 4] = [Self::H, Self::L, Self::A, Self::BG1];

    /// Its name in messages, and its place in the order.
    pub(super) fn name(self) -> &'static str {
        ["h", "l", "a", "b_g1", "b_g2"][self as usize]
    }
}

/// A key file whose queries are read once, from H to B in G2. Points are checked for curve and subgroup by then.
pub(super) trait PointSource {
    /// The points of a query in G1.
    fn in_g1(
        &mut self,
        query: QueryName,
        watch: Watch<'_>,
        take: &mut dyn FnMut(&[G1Affine]) -> Result<(), Error>,
    ) -> Result<(), Error>;

    /// The points of B in G2.
    fn b_g2(&mut self, watch: Watch<'_>, take: &mut dyn FnMut(&[G2Affine]) -> Result<(), Error>) -> Result<(), Error>;
}

/// Points of a key in memory that are handed over at a time.
const POINTS_PER_PIECE: usize = 1 << 15;

/// A key in memory, whose points its maker knows to be points of their groups.
impl PointSource for &Parameters {
    fn in_g1(
        &mut self,
        query: QueryName,
        watch: Watch<'_>,
        take: &mut dyn FnMut(&[G1Affine]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let points = match query {
            QueryName::H => &self.h,
            QueryName::L => &self.l,
            QueryName::A => &self.a,
            QueryName::BG1 => &self.b_g1,
            QueryName::BG2 => return Err(Error::Internal("B in G2 was asked for in G1".to_owned())),
        };
        in_pieces(query, points, watch, take)
    }

    fn b_g2(&mut self, watch: Watch<'_>, take: &mut dyn FnMut(&[G2Affine]) -> Result<(), Error>) -> Result<(), Error> {
        in_pieces(QueryName::BG2, &self.b_g2, watch, take)
    }
}

fn in_pieces<P>(
    query: QueryName,
    points: &[P],
    watch: Watch<'_>,
    take: &mut dyn FnMut(&[P]) -> Result<(), Error>,
) -> Result<(), Error> {
    let (what, total) = (query.name(), points.len() as u64);
    for (piece, points) in points.chunks(POINTS_PER_PIECE).enumerate() {
        watch(Progress { what, done: (piece * POINTS_PER_PIECE) as u64, total });
        take(points)?;
    }
    watch(Progress { what, done: total, total });
    Ok(())
}

impl PointSource for KeyReader {
    fn in_g1(
        &mut self,
        query: QueryName,
        watch: Watch<'_>,
        take: &mut dyn FnMut(&[G1Affine]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let infinity = if query == QueryName::L { Infinity::Allowed } else { Infinity::Refused };
        self.points_in_pieces(query.name(), infinity, watch, |points: Vec<G1Affine>| take(&points))
    }

    fn b_g2(&mut self, watch: Watch<'_>, take: &mut dyn FnMut(&[G2Affine]) -> Result<(), Error>) -> Result<(), Error> {
        self.points_in_pieces(QueryName::BG2.name(), Infinity::Refused, watch, |points: Vec<G2Affine>| take(&points))
    }
}
