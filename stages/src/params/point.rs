//! Points as files have them.

use blstrs::{G1Affine, G2Affine};
use group::prime::PrimeCurveAffine;

/// A point of one of the two groups, in the uncompressed encoding.
pub(super) trait Point: Copy + Send + Sync {
    /// Bytes of the encoding.
    const BYTES: usize;
    /// The group's name in messages.
    const GROUP: &'static str;

    /// The point, checked for encoding, curve and subgroup; otherwise what is wrong with it.
    fn decode(bytes: &[u8]) -> Result<Self, &'static str>;
    /// Appends the encoding.
    fn encode(&self, out: &mut Vec<u8>);
    /// Whether it is the point at infinity.
    fn at_infinity(&self) -> bool;
}

macro_rules! point {
    ($point:ty, $bytes:literal, $group:literal) => {
        impl Point for $point {
            const BYTES: usize = $bytes;
            const GROUP: &'static str = $group;

            fn decode(bytes: &[u8]) -> Result<Self, &'static str> {
                let bytes = bytes.try_into().map_err(|_| "has another length than a point")?;
                let point = Option::<Self>::from(Self::from_uncompressed_unchecked(bytes))
                    .ok_or("is no uncompressed point: the flags are wrong or a coordinate is not below the prime")?;
                if !bool::from(point.is_on_curve()) {
                    return Err("is not on the curve");
                }
                if !bool::from(point.is_torsion_free()) {
                    return Err("is on the curve, but not in the subgroup of prime order");
                }
                Ok(point)
            }

            fn encode(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_uncompressed());
            }

            fn at_infinity(&self) -> bool {
                self.is_identity().into()
            }
        }
    };
}

point!(G1Affine, 96, "G1");
point!(G2Affine, 192, "G2");
