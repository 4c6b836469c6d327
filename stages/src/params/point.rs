//! Points as files have them.

use blstrs::{G1Affine, G2Affine};
use group::prime::PrimeCurveAffine;

/// A point of one of the two groups, in the uncompressed encoding.
pub(crate) trait Point: PrimeCurveAffine {
    /// Bytes of the encoding.
    const BYTES: usize;
    /// The group's name in messages.
    const GROUP: &'static str;

    /// The point, checked for encoding and curve, but not for the subgroup; otherwise what is wrong with it.
    fn decode(bytes: &[u8]) -> Result<Self, &'static str>;
    /// Whether the coordinates are those of a point of the curve.
    fn is_on_curve(&self) -> bool;
    /// Whether a point of the curve is in the subgroup of prime order.
    fn in_subgroup(&self) -> bool;
    /// Writes the encoding, which has [`BYTES`](Self::BYTES).
    fn encode(&self, out: &mut [u8]);

    /// Appends the encoding.
    fn append_to(&self, out: &mut Vec<u8>) {
        let at = out.len();
        out.resize(at + Self::BYTES, 0);
        self.encode(&mut out[at..]);
    }
}

/// The flag of a compressed point, in the first byte.
const COMPRESSED: u8 = 0x80;

macro_rules! point {
    ($point:ty, $bytes:literal, $group:literal) => {
        impl Point for $point {
            const BYTES: usize = $bytes;
            const GROUP: &'static str = $group;

            fn decode(bytes: &[u8]) -> Result<Self, &'static str> {
                let bytes: &[u8; $bytes] = bytes.try_into().map_err(|_| "has another length than a point")?;
                // blst would read the compressed point at the front and ignore the rest.
                if bytes[0] & COMPRESSED != 0 {
                    return Err("is compressed, and the format wants it uncompressed");
                }
                Option::<Self>::from(Self::from_uncompressed_unchecked(bytes))
                    .filter(Point::is_on_curve)
                    .ok_or("is not on the curve, or is no uncompressed point at all")
            }

            fn is_on_curve(&self) -> bool {
                // The type's own, not this trait's.
                <$point>::is_on_curve(self).into()
            }

            fn in_subgroup(&self) -> bool {
                self.is_torsion_free().into()
            }

            fn encode(&self, out: &mut [u8]) {
                out.copy_from_slice(&self.to_uncompressed());
            }
        }
    };
}

point!(G1Affine, 96, "G1");
point!(G2Affine, 192, "G2");
