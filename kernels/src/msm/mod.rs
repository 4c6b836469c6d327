//! Multi-scalar multiplication over G1 and G2.

pub mod fixed_base;

pub(crate) mod adder;
mod curve;
mod digits;
mod lengths;
pub(crate) mod load;
mod pippenger;
mod portable;
mod segments;
mod sets;
mod terms;
mod workspace;

pub use curve::{Curve, affine_many};
pub use load::{LoadError, Stored};
pub use workspace::Workspace;

use adder::Adder;
use pippenger::Jobs;
use terms::Terms;
use workspace::Pool;

use crate::scalars::{Density, ScalarSet, canonical};
use crate::{Path, Scalar};

/// The points of one query of a proving key, ready for multiplication.
///
/// Points at infinity are dropped (in the B query of a SHA-256 circuit that is two thirds of them); positions of
/// scalars still count the original points.
#[derive(Debug, Clone)]
pub struct Query<C: Curve> {
    len: usize,
    bases: Bases<C>,
    /// Where original point k went, [`DROPPED`] for infinity; absent if no point was dropped.
    places: Option<Vec<u32>>,
}

/// The points by the path that works on them.
#[derive(Debug, Clone)]
enum Bases<C: Curve> {
    Portable(C::Portable),
    #[cfg(target_arch = "x86_64")]
    Ifma(C::Ifma),
}

impl<C: Curve> Bases<C> {
    /// Points, none of them infinity.
    fn new(points: Vec<C>, path: Path) -> Self {
        match path {
            Path::Portable => Self::Portable(C::portable(points)),
            #[cfg(target_arch = "x86_64")]
            Path::Ifma(proof) => Self::Ifma(C::ifma(proof, &points)),
        }
    }
}

/// Marks a point at infinity in the map of places.
const DROPPED: u32 = u32::MAX;

impl<C: Curve> Query<C> {
    /// Takes the points of a query, in the order of its scalars, for the best path of this CPU.
    ///
    /// # Panics
    /// If there are more than [`MAX_LEN`](crate::scalars::MAX_LEN) points.
    pub fn new(points: Vec<C>) -> Self {
        Self::with_path(points, Path::best())
    }

    /// [`new`](Self::new) for a given path.
    ///
    /// # Panics
    /// See [`new`](Self::new).
    pub fn with_path(mut points: Vec<C>, path: Path) -> Self {
        let len = points.len();
        assert!(len <= crate::scalars::MAX_LEN, "a query of {len} points is above the limit");
        let mut places = None;
        if points.iter().any(Curve::is_infinity) {
            let mut next = 0;
            let place = |point: &C| {
                if point.is_infinity() {
                    return DROPPED;
                }
                next += 1;
                next - 1
            };
            places = Some(points.iter().map(place).collect());
            points.retain(|point| !point.is_infinity());
        }
        Self { len, bases: Bases::new(points, path), places }
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
        let bases = match &self.bases {
            Bases::Portable(bases) => bases.bytes(),
            #[cfg(target_arch = "x86_64")]
            Bases::Ifma(bases) => bases.bytes(),
        };
        bases + self.places.as_ref().map_or(0, |places| 4 * places.len())
    }

    /// Σ scalar · point over the scalars of a set that have points by the density. Parallel.
    ///
    /// # Panics
    /// If more scalars have a point than the query has points, or the density is one of another number of scalars.
    pub fn msm(&self, set: &ScalarSet, density: Density<'_>, workspace: &Workspace<C>) -> C::Projective {
        let points = density.points(set.len());
        assert!(points <= self.len, "{points} scalars for a query of {} points", self.len);
        match &self.bases {
            Bases::Portable(bases) => sets::multiply(self, bases, &workspace.portable, set, density),
            #[cfg(target_arch = "x86_64")]
            Bases::Ifma(bases) => sets::multiply(self, bases, &workspace.ifma, set, density),
        }
    }

    /// Σ scalar · point for scalars that are nearly all full-sized, such as those of the H query; scalar k belongs to
    /// point k. Parallel.
    ///
    /// # Panics
    /// If there are more scalars than points.
    pub fn msm_dense(&self, scalars: &[Scalar], workspace: &Workspace<C>) -> C::Projective {
        assert!(scalars.len() <= self.len, "{} scalars for a query of {} points", scalars.len(), self.len);
        let term = |at: usize| self.entry(at as u32, false).map(|entry| (entry, canonical(&scalars[at])));
        match &self.bases {
            Bases::Portable(bases) => msm_dense_over(bases, &workspace.portable, scalars.len(), term),
            #[cfg(target_arch = "x86_64")]
            Bases::Ifma(bases) => msm_dense_over(bases, &workspace.ifma, scalars.len(), term),
        }
    }

    /// Makes the memory that multiplications by this query on so many threads take, whatever the scalars, so that none of
    /// them has to.
    pub fn prepare(&self, workspace: &Workspace<C>, threads: usize) {
        match &self.bases {
            Bases::Portable(bases) => workspace.portable.prepare(bases, self.len, threads),
            #[cfg(target_arch = "x86_64")]
            Bases::Ifma(bases) => workspace.ifma.prepare(bases, self.len, threads),
        }
    }

    /// What [`prepare`](Self::prepare) takes for a query of so many points, in bytes.
    pub fn prepared_bytes(&self, threads: usize) -> usize {
        match &self.bases {
            Bases::Portable(_) => Pool::<C, C::Portable>::prepared_bytes(self.len, threads),
            #[cfg(target_arch = "x86_64")]
            Bases::Ifma(_) => Pool::<C, C::Ifma>::prepared_bytes(self.len, threads),
        }
    }

    /// The bytes of the lists that [`prepare`](Self::prepare) makes for this query, in their order.
    pub fn prepared_lists(&self, threads: usize) -> Vec<usize> {
        match &self.bases {
            Bases::Portable(_) => Pool::<C, C::Portable>::prepared_lists(self.len, threads).collect(),
            #[cfg(target_arch = "x86_64")]
            Bases::Ifma(_) => Pool::<C, C::Ifma>::prepared_lists(self.len, threads).collect(),
        }
    }

    /// The entry of original point `position` in the bases; nothing if it is infinity.
    fn entry(&self, position: u32, negative: bool) -> Option<u32> {
        let place = match &self.places {
            None => position,
            Some(places) => places[position as usize],
        };
        (place != DROPPED).then(|| 2 * place + u32::from(negative))
    }
}

/// Σ scalar · base over `count` terms; see [`Terms::new`].
fn msm_dense_over<C: Curve, A: Adder<C>>(
    bases: &A,
    pool: &Pool<C, A>,
    count: usize,
    term: impl Fn(usize) -> Option<(u32, [u64; 4])> + Sync,
) -> C::Projective {
    pool.with_terms(|memory| {
        let of_terms = memory.room(count, 4 * count).take(count);
        pippenger::multiply(bases, pool, &Jobs::new(Terms::new(of_terms, term)))
    })
}

#[cfg(test)]
mod load_tests;
#[cfg(test)]
mod mix_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod workspace_tests;
