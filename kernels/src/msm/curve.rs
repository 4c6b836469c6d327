//! The two groups behind one trait.

use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

use group::Group;
use group::prime::PrimeCurveAffine;
use rayon::prelude::*;

use super::adder::Adder;
use super::load::{self, LoadError, Pieces};
use super::portable;
use crate::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};

/// An affine point type, `G1Affine` or `G2Affine`.
pub trait Curve:
    Copy + Debug + PartialEq + Send + Sync + Neg<Output = Self> + From<Self::Projective> + sealed::Sealed + 'static
{
    /// The type of sums.
    type Projective: Copy
        + Debug
        + PartialEq
        + Send
        + Sync
        + From<Self>
        + Add<Output = Self::Projective>
        + Sub<Output = Self::Projective>
        + Neg<Output = Self::Projective>
        + Mul<Scalar, Output = Self::Projective>
        + AddAssign
        + for<'a> AddAssign<&'a Self>
        + for<'a> SubAssign<&'a Self>
        + Sum;

    /// Bases for the portable path.
    #[doc(hidden)]
    type Portable: Adder<Self>;
    /// Bases for the IFMA path.
    #[cfg(target_arch = "x86_64")]
    #[doc(hidden)]
    type Ifma: Adder<Self>;

    /// Bytes of a point's plain form: x, then y; of each its components, real part first, each the 48 bytes of
    /// a·2^384 mod p, little-endian.
    const PLAIN_BYTES: usize;

    /// Writes the plain form of a point that is not at infinity.
    ///
    /// # Panics
    /// If `out` has not [`PLAIN_BYTES`](Self::PLAIN_BYTES), or the point is at infinity.
    fn to_plain(&self, out: &mut [u8]);
    /// The point of a plain form, which nobody checks for the curve; nothing if a component is not below p, or y is
    /// zero.
    fn from_plain(bytes: &[u8]) -> Option<Self>;

    /// The point at infinity.
    fn infinity() -> Self;
    /// The sum of nothing.
    fn zero() -> Self::Projective;
    /// The standard generator.
    fn standard_generator() -> Self;
    /// Whether this is the point at infinity.
    fn is_infinity(&self) -> bool;
    /// Twice a point.
    fn doubled(point: &Self::Projective) -> Self::Projective;
    /// Affine forms of many points with one inversion; infinity is allowed.
    fn normalise(points: &[Self::Projective]) -> Vec<Self>;
    /// Bases for the portable path; no point may be infinity.
    #[doc(hidden)]
    fn portable(points: Vec<Self>) -> Self::Portable;
    /// Bases for the IFMA path; no point may be infinity.
    #[cfg(target_arch = "x86_64")]
    #[doc(hidden)]
    fn ifma(proof: crate::ifma::Ifma, points: &[Self]) -> Self::Ifma;
    /// Bases for the portable path, from stored points.
    #[doc(hidden)]
    fn load_portable<E: Send, R: Fn(usize, &mut [u8]) -> Result<(), E> + Sync>(
        pieces: &Pieces<R>,
    ) -> Result<Self::Portable, LoadError<E>>;
    /// Bases for the IFMA path, from stored points.
    #[cfg(target_arch = "x86_64")]
    #[doc(hidden)]
    fn load_ifma<E: Send, R: Fn(usize, &mut [u8]) -> Result<(), E> + Sync>(
        proof: crate::ifma::Ifma,
        pieces: &Pieces<R>,
    ) -> Result<Self::Ifma, LoadError<E>>;
}

mod sealed {
    /// Keeps other types from being curves.
    pub trait Sealed {}
    impl Sealed for crate::G1Affine {}
    impl Sealed for crate::G2Affine {}
}

macro_rules! curve {
    ($affine:ty, $projective:ty, $ifma:ty, $to_affine:ident) => {
        impl Curve for $affine {
            type Projective = $projective;
            type Portable = portable::Bases<Self>;
            #[cfg(target_arch = "x86_64")]
            type Ifma = $ifma;

            const PLAIN_BYTES: usize = load::plain_bytes::<Self>();

            fn to_plain(&self, out: &mut [u8]) {
                load::to_plain(self, out);
            }

            fn from_plain(bytes: &[u8]) -> Option<Self> {
                load::from_plain(bytes)
            }

            fn infinity() -> Self {
                <$affine as PrimeCurveAffine>::identity()
            }

            fn zero() -> $projective {
                <$projective as Group>::identity()
            }

            fn standard_generator() -> Self {
                <$affine as PrimeCurveAffine>::generator()
            }

            fn is_infinity(&self) -> bool {
                PrimeCurveAffine::is_identity(self).into()
            }

            fn doubled(point: &$projective) -> $projective {
                Group::double(point)
            }

            fn normalise(points: &[$projective]) -> Vec<Self> {
                // The generic batch normalisation of `group` inverts point by point; blst's shares the inversions.
                let mut out = vec![Self::infinity(); points.len()];
                if points.is_empty() {
                    return out;
                }
                // A list that ends after one pointer stands for contiguous points.
                let list = [points.as_ptr().cast(), std::ptr::null()];
                // SAFETY: both point types are transparent wrappers of blst's, and both slices have `points.len()` of
                // them; blst reads no pointer behind the null.
                unsafe { blst::$to_affine(out.as_mut_ptr().cast(), list.as_ptr(), points.len()) };
                out
            }

            fn portable(points: Vec<Self>) -> Self::Portable {
                portable::Bases::new(&points)
            }

            #[cfg(target_arch = "x86_64")]
            fn ifma(proof: crate::ifma::Ifma, points: &[Self]) -> Self::Ifma {
                <$ifma>::new(proof, points)
            }

            fn load_portable<E: Send, R: Fn(usize, &mut [u8]) -> Result<(), E> + Sync>(
                pieces: &Pieces<R>,
            ) -> Result<Self::Portable, LoadError<E>> {
                portable::Bases::load(pieces)
            }

            #[cfg(target_arch = "x86_64")]
            fn load_ifma<E: Send, R: Fn(usize, &mut [u8]) -> Result<(), E> + Sync>(
                proof: crate::ifma::Ifma,
                pieces: &Pieces<R>,
            ) -> Result<Self::Ifma, LoadError<E>> {
                <$ifma>::load::<Self, E, R>(proof, pieces)
            }
        }
    };
}

curve!(G1Affine, G1Projective, crate::ifma::bases::Bases1, blst_p1s_to_affine);
curve!(G2Affine, G2Projective, crate::ifma::bases::Bases2, blst_p2s_to_affine);

/// Points that share one inversion: beyond this the inversion's share of the cost is below a percent.
const POINTS_PER_INVERSION: usize = 1 << 10;

/// Affine forms of many points, in order, in parallel; infinity is allowed.
pub fn affine_many<C: Curve>(points: &[C::Projective]) -> Vec<C> {
    points.par_chunks(POINTS_PER_INVERSION).flat_map_iter(|chunk| C::normalise(chunk)).collect()
}
