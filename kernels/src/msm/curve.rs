//! The two groups behind one trait.

use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

use group::prime::PrimeCurveAffine;
use group::{Curve as _, Group};
use rayon::prelude::*;

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
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for crate::G1Affine {}
    impl Sealed for crate::G2Affine {}
}

macro_rules! curve {
    ($affine:ty, $projective:ty) => {
        impl Curve for $affine {
            type Projective = $projective;

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
                let mut out = vec![<$affine as PrimeCurveAffine>::identity(); points.len()];
                <$projective>::batch_normalize(points, &mut out);
                out
            }
        }
    };
}

curve!(G1Affine, G1Projective);
curve!(G2Affine, G2Projective);

/// Points that share one inversion: beyond this the inversion's share of the cost is below a percent.
const POINTS_PER_INVERSION: usize = 1 << 10;

/// Affine forms of many points, in order, in parallel; infinity is allowed.
pub fn affine_many<C: Curve>(points: &[C::Projective]) -> Vec<C> {
    points
        .par_chunks(POINTS_PER_INVERSION)
        .flat_map_iter(|chunk| C::normalise(chunk))
        .collect()
}
