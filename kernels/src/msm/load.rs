//! Queries from points that were stored.
//!
//! The *plain form* of a point is x, then y; of each coordinate its one or two components, real part first; of each
//! component a the 48 bytes of a·2^384 mod p, little-endian. It is what blst has in memory, so that the portable path
//! takes it as it is, and it costs the IFMA path one product for each component, eight at a time: far less than the digest
//! that guards it.

use proofline_memory::Pages;

use super::portable::{Coordinates, Field};
use super::{Bases, Curve, DROPPED, Query};
use crate::Path;
use crate::words::PRIME;

/// A query as it is stored: points at infinity are left out.
#[derive(Debug, Clone, Copy)]
pub struct Stored<'a> {
    /// Points, those at infinity included.
    pub len: usize,
    /// Positions of the points at infinity, ascending.
    pub infinities: &'a [u32],
    /// Points that are read at a time.
    pub points_per_piece: usize,
}

/// Why a stored query was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LoadError<E> {
    /// The points could not be read.
    #[error(transparent)]
    Read(E),
    /// A component is not below p, or y is zero, which it is of no point: the orders of both groups are odd.
    #[error("stored point {index} has no coordinates of a point")]
    NoPoint {
        /// The point, counted from 0 among those that are stored.
        index: usize,
    },
    /// The positions of the points at infinity are not ascending, or not below the number of points.
    #[error("the positions of the points at infinity are not ascending and below {len}")]
    Infinities {
        /// The number of points.
        len: usize,
    },
}

/// Reads the plain forms of the points from one on.
pub struct Pieces<R> {
    points: usize,
    per_piece: usize,
    read: R,
}

impl<C: Curve> Query<C> {
    /// Makes a query of stored points. `read(first, bytes)` fills `bytes` with the plain forms of the stored points from
    /// `first` on; it is called for each piece once, in any order and in parallel. Whether the points are on the curve
    /// and in the subgroup is for the caller to know.
    ///
    /// # Errors
    /// Those of `read`, a coordinate that is not below p, or positions that are not in order.
    ///
    /// # Panics
    /// If there are more than [`MAX_LEN`](crate::scalars::MAX_LEN) points, or none to a piece.
    pub fn load<E: Send>(
        stored: Stored<'_>,
        path: Path,
        read: impl Fn(usize, &mut [u8]) -> Result<(), E> + Sync,
    ) -> Result<Self, LoadError<E>> {
        let Stored { len, infinities, points_per_piece } = stored;
        assert!(len <= crate::scalars::MAX_LEN, "a query of {len} points is above the limit");
        assert!(points_per_piece > 0, "pieces of no points");
        let places = places(len, infinities)?;
        let pieces = Pieces { points: len - infinities.len(), per_piece: points_per_piece, read };
        let bases = match path {
            Path::Portable => Bases::Portable(C::load_portable(&pieces)?),
            #[cfg(target_arch = "x86_64")]
            Path::Ifma(proof) => Bases::Ifma(C::load_ifma(proof, &pieces)?),
        };
        Ok(Self { len, bases, places })
    }
}

/// The map of places of a query; nothing if no point is at infinity.
fn places<E>(len: usize, infinities: &[u32]) -> Result<Option<Vec<u32>>, LoadError<E>> {
    let ascending = infinities.is_sorted_by(|a, b| a < b);
    match infinities.last() {
        None => return Ok(None),
        Some(last) if ascending && (*last as usize) < len => {}
        Some(_) => return Err(LoadError::Infinities { len }),
    }
    let mut dropped = infinities.iter().peekable();
    let mut next = 0;
    let place = |position: usize| {
        if dropped.next_if(|dropped| **dropped as usize == position).is_some() {
            return DROPPED;
        }
        next += 1;
        next - 1
    };
    Ok(Some((0..len).map(place).collect()))
}

impl<E: Send, R: Fn(usize, &mut [u8]) -> Result<(), E> + Sync> Pieces<R> {
    /// All points in the form that `convert` gives a piece of them, whose places it finds to be `blank`; it says which
    /// of them, counted from 0, is no point.
    pub(crate) fn load<C: Curve, T: Copy + Send + Sync>(
        &self,
        blank: T,
        convert: impl Fn(&[u8], &mut [T]) -> Result<(), usize> + Sync,
    ) -> Result<Pages<T>, LoadError<E>> {
        let read = |first: usize, bytes: &mut [u8]| (self.read)(first, bytes).map_err(LoadError::Read);
        let convert = |first, bytes: &[u8], points: &mut [T]| {
            convert(bytes, points).map_err(|at| LoadError::NoPoint { index: first + at })
        };
        Pages::try_from_bytes((self.points, self.per_piece, C::PLAIN_BYTES), blank, read, convert)
    }
}

/// Bytes of a component of a coordinate.
const COMPONENT: usize = 48;

pub(super) const fn plain_bytes<C: Coordinates>() -> usize {
    2 * C::Field::COMPONENTS * COMPONENT
}

pub(super) fn to_plain<C: Coordinates>(point: &C, out: &mut [u8]) {
    assert_eq!(out.len(), plain_bytes::<C>(), "the plain form of a point has another length");
    assert!(!point.is_infinity(), "the point at infinity has no plain form");
    let (x, y) = point.split();
    let words = x.components().iter().chain(y.components()).flat_map(|component| component.l);
    out.chunks_exact_mut(8).zip(words).for_each(|(out, word)| out.copy_from_slice(&word.to_le_bytes()));
}

pub(super) fn from_plain<C: Coordinates>(bytes: &[u8]) -> Option<C> {
    if bytes.len() != plain_bytes::<C>() {
        return None;
    }
    let mut all_below = true;
    let mut components = bytes.chunks_exact(COMPONENT).map(|bytes| {
        let mut component = blst::blst_fp::default();
        for (word, bytes) in component.l.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        }
        all_below &= component.l.iter().rev().lt(PRIME.iter().rev());
        component
    });
    let mut next = || components.next().unwrap_or_default();
    let (x, y) = (C::Field::from_components(&mut next), C::Field::from_components(&mut next));
    (all_below && !y.is_zero()).then(|| C::join(x, y))
}
