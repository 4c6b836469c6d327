//! Affine additions over the field arithmetic of blst, one at a time but sharing inversions.

mod field;

pub use field::Field;

use proofline_memory::{Arena, Pages};

use super::Curve;
use super::adder::{Adder, BATCH, Pair};
use super::load::{LoadError, Pieces};
use crate::{G1Affine, G2Affine, fetch};

/// A curve's points by their coordinates.
pub trait Coordinates: Curve {
    /// The coordinate field.
    type Field: Field;
    /// Both coordinates; zeros for infinity.
    fn split(&self) -> (Self::Field, Self::Field);
    /// Both coordinates in place.
    fn parts(&self) -> (&Self::Field, &Self::Field);
    /// Becomes the point with these coordinates; zeros are infinity.
    fn set(&mut self, x: Self::Field, y: Self::Field);
    /// The point with these coordinates; zeros are infinity.
    fn join(x: Self::Field, y: Self::Field) -> Self {
        let mut point = Self::infinity();
        point.set(x, y);
        point
    }
}

macro_rules! coordinates {
    ($affine:ty, $raw:ident, $field:ty) => {
        impl Coordinates for $affine {
            type Field = $field;

            #[inline(always)]
            fn split(&self) -> ($field, $field) {
                let point = self.as_ref();
                (point.x, point.y)
            }

            #[inline(always)]
            fn parts(&self) -> (&$field, &$field) {
                let point = self.as_ref();
                (&point.x, &point.y)
            }

            #[inline(always)]
            fn set(&mut self, x: $field, y: $field) {
                *self.as_mut() = blst::$raw { x, y };
            }
        }
    };
}

coordinates!(G1Affine, blst_p1_affine, blst::blst_fp);
coordinates!(G2Affine, blst_p2_affine, blst::blst_fp2);

/// Bases as they came.
#[derive(Debug, Clone)]
pub struct Bases<C: Copy> {
    points: Pages<C>,
}

/// Memory of one batch: for each pair, the product of its denominator and those of all pairs behind it.
pub struct Scratch<F: Copy> {
    products: Pages<F>,
}

impl<C: Curve> Bases<C> {
    pub(super) fn new(points: &[C]) -> Self {
        Self { points: Pages::from_fn(points.len(), |i| points[i]) }
    }

    pub(super) fn load<E: Send, R: Fn(usize, &mut [u8]) -> Result<(), E> + Sync>(
        pieces: &Pieces<R>,
    ) -> Result<Self, LoadError<E>> {
        let convert = |bytes: &[u8], points: &mut [C]| {
            for (at, (point, bytes)) in points.iter_mut().zip(bytes.chunks_exact(C::PLAIN_BYTES)).enumerate() {
                *point = C::from_plain(bytes).ok_or(at)?;
            }
            Ok(())
        };
        pieces.load::<C, C>(C::standard_generator(), convert).map(|points| Self { points })
    }
}

/// Pairs whose operands are asked for before they are needed.
const AHEAD: usize = 16;

/// Adds pairs, batch by batch. The denominators are multiplied up from a batch's last pair to its first and taken out again
/// from the first to the last: a pair may write where an earlier one read. Operands are read twice rather than kept, which
/// would be four times the memory of a batch.
#[inline(always)]
fn add<C: Coordinates>(
    pairs: &[Pair],
    points: &mut [C],
    scratch: &mut Scratch<C::Field>,
    load: impl Fn(&[C], u32) -> C,
    request: impl Fn(u32),
) {
    for batch in pairs.chunks(BATCH) {
        let products = &mut scratch.products[..=batch.len()];
        products[batch.len()] = C::Field::one();
        for at in (0..batch.len()).rev() {
            let (pair, soon) = (batch[at], batch[at.saturating_sub(AHEAD)]);
            request(soon.a);
            request(soon.b);
            let (own, behind) = products[at..].split_at_mut(1);
            behind[0].mul_to(&denominator(&load(points, pair.a), &load(points, pair.b)), &mut own[0]);
        }
        // No denominator is zero, so neither is the product.
        let mut inverse = products[0].invert();
        for (at, (pair, behind)) in batch.iter().zip(&products[1..]).enumerate() {
            if let Some(soon) = batch.get(at + AHEAD) {
                request(soon.a);
                request(soon.b);
            }
            let (p, q) = (load(points, pair.a), load(points, pair.b));
            let mut own = C::Field::default();
            inverse.mul_to(behind, &mut own);
            inverse.mul_assign(&denominator(&p, &q));
            sum(&p, &q, &own, &mut points[pair.out as usize]);
        }
    }
}

/// Whether p + q is not the third point of a line through two points: one is infinity (zeros; no other point has y = 0,
/// for none has order two), or both are equal or opposite.
#[inline(always)]
fn is_special<C: Coordinates>(p: &C, q: &C, difference: &C::Field) -> bool {
    difference.is_zero() | p.parts().1.is_zero() | q.parts().1.is_zero()
}

/// What the addition of p and q divides by, never zero: x₂ − x₁ for different points.
#[inline(always)]
fn denominator<C: Coordinates>(p: &C, q: &C) -> C::Field {
    let difference = q.parts().0.sub(p.parts().0);
    if is_special(p, q, &difference) { special_denominator(p, q) } else { difference }
}

/// 2y for equal points, and 1 where there is nothing to divide.
#[cold]
#[inline(never)]
fn special_denominator<C: Coordinates>(p: &C, q: &C) -> C::Field {
    let (y1, y2) = (p.parts().1, q.parts().1);
    if p.is_infinity() || q.is_infinity() || y1 != y2 { C::Field::one() } else { y1.add(y1) }
}

/// out ← p + q, given the inverse of the denominator: λ = (y₂ − y₁)/(x₂ − x₁), x₃ = λ² − x₁ − x₂, y₃ = λ(x₁ − x₃) − y₁.
#[inline(always)]
fn sum<C: Coordinates>(p: &C, q: &C, inverse: &C::Field, out: &mut C) {
    let ((x1, y1), (x2, y2)) = (p.parts(), q.parts());
    if is_special(p, q, &x2.sub(x1)) {
        return special_sum(p, q, inverse, out);
    }
    let mut slope = y2.sub(y1);
    slope.mul_assign(inverse);
    third(p, x2, &slope, out);
}

/// out ← the point that a slope gives, from one point and another's x.
#[inline(always)]
fn third<C: Coordinates>(p: &C, x2: &C::Field, slope: &C::Field, out: &mut C) {
    let (x1, y1) = p.parts();
    let mut square = C::Field::default();
    slope.square_to(&mut square);
    let x3 = square.sub(x1).sub(x2);
    let mut rise = x1.sub(&x3);
    rise.mul_assign(slope);
    out.set(x3, rise.sub(y1));
}

/// The other operand of infinity; infinity for opposite points; λ = 3x²/2y for equal ones.
#[cold]
#[inline(never)]
fn special_sum<C: Coordinates>(p: &C, q: &C, inverse: &C::Field, out: &mut C) {
    if p.is_infinity() {
        *out = *q;
    } else if q.is_infinity() {
        *out = *p;
    } else if p.parts().1 != q.parts().1 {
        *out = C::infinity();
    } else {
        let (x, mut square) = (p.parts().0, C::Field::default());
        x.square_to(&mut square);
        let mut slope = square.add(&square).add(&square);
        slope.mul_assign(inverse);
        third(p, x, &slope, out);
    }
}

impl<C: Coordinates> Adder<C> for Bases<C> {
    type Point = C;
    type Scratch = Scratch<C::Field>;
    const SCRATCH_LISTS: &'static [usize] = &[(BATCH + 1) * size_of::<C::Field>()];

    fn infinity() -> C {
        C::infinity()
    }

    fn scratch(&self, arena: &Arena) -> Self::Scratch {
        Scratch { products: Pages::filled_in(arena, BATCH + 1, C::Field::default()) }
    }

    fn len(&self) -> usize {
        self.points.len()
    }

    fn bytes(&self) -> usize {
        size_of_val::<[C]>(&self.points)
    }

    fn base(&self, entry: u32) -> C {
        let point = self.points[(entry >> 1) as usize];
        let (x, y) = point.split();
        C::join(x, y.negated_if(entry & 1 == 1))
    }

    fn add_bases(&self, pairs: &[Pair], _soon: &[u32], out: &mut [C], scratch: &mut Self::Scratch) {
        let request = |entry: u32| fetch::all(self.points.as_ptr().wrapping_add((entry >> 1) as usize), fetch::near);
        add(pairs, out, scratch, |_, entry| Adder::<C>::base(self, entry), request);
    }

    fn add_points(&self, pairs: &[Pair], _soon: &[u32], points: &mut [C], scratch: &mut Self::Scratch) {
        // What rounds read was written just now.
        add(pairs, points, scratch, |points, at| points[at as usize], |_| ());
    }

    fn to_affine(&self, point: &C) -> C {
        *point
    }
}
