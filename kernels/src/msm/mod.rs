//! Multi-scalar multiplication over G1 and G2.

mod curve;
mod digits;
mod pippenger;

pub use curve::{Curve, affine_many};

use crate::Scalar;
use crate::scalars::{ScalarSet, canonical};

/// The points of one query of a proving key, ready for multiplication.
///
/// Points at infinity are dropped (in the B query of a SHA-256 circuit that is two thirds of them); positions of
/// scalars still count the original points.
#[derive(Debug, Clone)]
pub struct Query<C: Curve> {
    len: usize,
    points: Vec<C>,
    /// Where original point k went, [`DROPPED`] for infinity; absent if no point was dropped.
    places: Option<Vec<u32>>,
}

/// Marks a point at infinity in the map of places.
const DROPPED: u32 = u32::MAX;

impl<C: Curve> Query<C> {
    /// Takes the points of a query, in the order of its scalars.
    ///
    /// # Panics
    /// If there are more than [`MAX_LEN`](crate::scalars::MAX_LEN) points.
    pub fn new(points: Vec<C>) -> Self {
        let len = points.len();
        assert!(
            len <= crate::scalars::MAX_LEN,
            "a query of {len} points is above the limit"
        );
        if !points.iter().any(Curve::is_infinity) {
            return Self {
                len,
                points,
                places: None,
            };
        }
        let mut next = 0;
        let places = points
            .iter()
            .map(|point| {
                if point.is_infinity() {
                    return DROPPED;
                }
                next += 1;
                next - 1
            })
            .collect();
        let mut points = points;
        points.retain(|point| !point.is_infinity());
        points.shrink_to_fit();
        Self {
            len,
            points,
            places: Some(places),
        }
    }

    /// Number of points, those at infinity included.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the query has no points.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of memory held.
    pub fn bytes(&self) -> usize {
        size_of_val(self.points.as_slice()) + self.places.as_ref().map_or(0, |places| 4 * places.len())
    }

    /// Σ scalar · point over the set; position k of the set belongs to point k.
    ///
    /// # Panics
    /// If the set has more scalars than the query has points.
    pub fn msm(&self, set: &ScalarSet) -> C::Projective {
        assert!(
            set.len() <= self.len,
            "{} scalars for a query of {} points",
            set.len(),
            self.len
        );
        let ((plus, minus), (small, full)) = rayon::join(
            || rayon::join(|| self.sum(set.ones()), || self.sum(set.minus_ones())),
            || {
                rayon::join(
                    || {
                        let terms = |at: usize| {
                            let small = &set.small()[at];
                            self.place(small.position())
                                .map(|place| (place, [small.magnitude()], small.is_negative()))
                        };
                        pippenger::multiply(&self.points, set.small().len(), terms)
                    },
                    || {
                        let terms = |at: usize| {
                            let full = &set.full()[at];
                            self.place(full.position()).map(|place| (place, full.limbs(), false))
                        };
                        pippenger::multiply(&self.points, set.full().len(), terms)
                    },
                )
            },
        );
        plus - minus + small + full
    }

    /// Σ scalar · point for scalars that are nearly all full-sized, such as those of the H query; scalar k belongs to
    /// point k.
    ///
    /// # Panics
    /// If there are more scalars than points.
    pub fn msm_dense(&self, scalars: &[Scalar]) -> C::Projective {
        assert!(
            scalars.len() <= self.len,
            "{} scalars for a query of {} points",
            scalars.len(),
            self.len
        );
        let terms = |at: usize| {
            self.place(at as u32)
                .map(|place| (place, canonical(&scalars[at]), false))
        };
        pippenger::multiply(&self.points, scalars.len(), terms)
    }

    fn sum(&self, positions: &[u32]) -> C::Projective {
        pippenger::sum(&self.points, positions.len(), |at| self.place(positions[at]))
    }

    /// Index in `points` of original point `position`.
    fn place(&self, position: u32) -> Option<usize> {
        match &self.places {
            None => Some(position as usize),
            Some(places) => {
                let place = places[position as usize];
                (place != DROPPED).then_some(place as usize)
            }
        }
    }
}

#[cfg(test)]
mod tests;
