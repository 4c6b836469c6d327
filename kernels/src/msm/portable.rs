//! Affine additions over the field arithmetic of blst, one at a time but sharing inversions.

use super::Curve;
use super::adder::{Adder, BATCH, Pair};
use super::load::{LoadError, Pieces};
use crate::pages::Pages;
use crate::{G1Affine, G2Affine};

/// The coordinate field of a curve, over blst.
pub trait Field: Copy + Default + PartialEq + Send + Sync + std::fmt::Debug + 'static {
    /// Elements of Fp that it consists of.
    const COMPONENTS: usize;
    /// These elements, the real part first.
    fn components(&self) -> &[blst::blst_fp];
    /// The element of the next components.
    fn from_components(next: &mut impl FnMut() -> blst::blst_fp) -> Self;
    /// a·b.
    fn mul(&self, b: &Self) -> Self;
    /// a + b.
    fn add(&self, b: &Self) -> Self;
    /// a − b.
    fn sub(&self, b: &Self) -> Self;
    /// The inverse, and zero for zero.
    fn invert(&self) -> Self;
    /// The number 1.
    fn one() -> Self;
    /// Whether this is zero.
    fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

macro_rules! field {
    ($type:ty, $mul:ident, $add:ident, $sub:ident, $inverse:ident, $one:expr, $components:literal,
     $split:expr, $join:expr) => {
        impl Field for $type {
            const COMPONENTS: usize = $components;

            fn components(&self) -> &[blst::blst_fp] {
                let split: fn(&Self) -> &[blst::blst_fp] = $split;
                split(self)
            }

            fn from_components(next: &mut impl FnMut() -> blst::blst_fp) -> Self {
                let join: fn([blst::blst_fp; $components]) -> Self = $join;
                join([(); $components].map(|()| next()))
            }

            fn mul(&self, b: &Self) -> Self {
                let mut out = Self::default();
                // SAFETY: all point to live elements.
                unsafe { blst::$mul(&mut out, self, b) };
                out
            }

            fn add(&self, b: &Self) -> Self {
                let mut out = Self::default();
                // SAFETY: all point to live elements.
                unsafe { blst::$add(&mut out, self, b) };
                out
            }

            fn sub(&self, b: &Self) -> Self {
                let mut out = Self::default();
                // SAFETY: all point to live elements.
                unsafe { blst::$sub(&mut out, self, b) };
                out
            }

            fn invert(&self) -> Self {
                let mut out = Self::default();
                // SAFETY: both point to live elements.
                unsafe { blst::$inverse(&mut out, self) };
                out
            }

            fn one() -> Self {
                $one
            }
        }
    };
}

/// 2^384 mod p, the number 1 of blst.
const ONE: blst::blst_fp = blst::blst_fp {
    l: [
        0x7609_0000_0002_fffd,
        0xebf4_000b_c40c_0002,
        0x5f48_9857_53c7_58ba,
        0x77ce_5853_7052_5745,
        0x5c07_1a97_a256_ec6d,
        0x15f6_5ec3_fa80_e493,
    ],
};

field!(blst::blst_fp, blst_fp_mul, blst_fp_add, blst_fp_sub, blst_fp_inverse, ONE, 1, std::slice::from_ref, |[
    component,
]| {
    component
});
field!(
    blst::blst_fp2,
    blst_fp2_mul,
    blst_fp2_add,
    blst_fp2_sub,
    blst_fp2_inverse,
    blst::blst_fp2 { fp: [ONE, blst::blst_fp::default()] },
    2,
    |element| &element.fp,
    |fp| blst::blst_fp2 { fp }
);

/// A curve's points by their coordinates.
pub trait Coordinates: Curve {
    /// The coordinate field.
    type Field: Field;
    /// Both coordinates; zeros for infinity.
    fn split(&self) -> (Self::Field, Self::Field);
    /// The point with these coordinates; zeros are infinity.
    fn join(x: Self::Field, y: Self::Field) -> Self;
}

macro_rules! coordinates {
    ($affine:ty, $raw:ident, $field:ty) => {
        impl Coordinates for $affine {
            type Field = $field;

            fn split(&self) -> ($field, $field) {
                let point = self.as_ref();
                (point.x, point.y)
            }

            fn join(x: $field, y: $field) -> Self {
                let mut point = Self::infinity();
                *point.as_mut() = blst::$raw { x, y };
                point
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

/// What the backward pass needs of one addition.
#[derive(Clone, Copy, Default)]
struct Step<F> {
    x1: F,
    y1: F,
    x2: F,
    numerator: F,
    denominator: F,
    before: F,
    /// The result when no division is needed: a copied operand, or infinity.
    settled: Option<(F, F)>,
}

/// Memory of one batch.
pub struct Scratch<F> {
    steps: Vec<Step<F>>,
}

impl<C: Curve> Bases<C> {
    pub(super) fn new(points: &[C]) -> Self {
        Self { points: Pages::from_fn(points.len(), |i| points[i]) }
    }

    pub(super) fn load<E: Send, R: Fn(usize, &mut [u8]) -> Result<(), E> + Sync>(
        pieces: &Pieces<R>,
    ) -> Result<Self, LoadError<E>> {
        pieces.load(|point: &C| *point).map(|points| Self { points })
    }
}

fn add<C: Coordinates>(
    pairs: &[Pair],
    points: &mut [C],
    scratch: &mut Scratch<C::Field>,
    load: impl Fn(&[C], u32) -> C,
) {
    for batch in pairs.chunks(BATCH) {
        let mut product = C::Field::one();
        for (pair, step) in batch.iter().zip(&mut scratch.steps) {
            *step = prepare(load(points, pair.a), load(points, pair.b));
            step.before = product;
            if step.settled.is_none() {
                product = product.mul(&step.denominator);
            }
        }
        // No denominator is zero (see `prepare`), so neither is the product.
        let mut inverse = product.invert();
        for (pair, step) in batch.iter().zip(&scratch.steps).rev() {
            let (x, y) = step.settled.unwrap_or_else(|| {
                let slope = step.numerator.mul(&inverse.mul(&step.before));
                inverse = inverse.mul(&step.denominator);
                let x3 = slope.mul(&slope).sub(&step.x1).sub(&step.x2);
                (x3, slope.mul(&step.x1.sub(&x3)).sub(&step.y1))
            });
            points[pair.out as usize] = C::join(x, y);
        }
    }
}

/// λ = (y₂ − y₁)/(x₂ − x₁) for different points, 3x²/2y for equal ones (y is not zero: no point has order two).
fn prepare<C: Coordinates>(p: C, q: C) -> Step<C::Field> {
    let ((x1, y1), (x2, y2)) = (p.split(), q.split());
    let settled = |point| Step { settled: Some(point), ..Step::default() };
    if p.is_infinity() {
        return settled((x2, y2));
    }
    if q.is_infinity() {
        return settled((x1, y1));
    }
    let (numerator, denominator) = (y2.sub(&y1), x2.sub(&x1));
    if !denominator.is_zero() {
        return Step { x1, y1, x2, numerator, denominator, ..Step::default() };
    }
    if !numerator.is_zero() {
        return settled(Default::default());
    }
    let square = x1.mul(&x1);
    Step { x1, y1, x2, numerator: square.add(&square).add(&square), denominator: y1.add(&y1), ..Step::default() }
}

impl<C: Coordinates> Adder<C> for Bases<C> {
    type Point = C;
    type Scratch = Scratch<C::Field>;

    fn infinity() -> C {
        C::infinity()
    }

    fn scratch(&self) -> Self::Scratch {
        Scratch { steps: vec![Step::default(); BATCH] }
    }

    fn len(&self) -> usize {
        self.points.len()
    }

    fn bytes(&self) -> usize {
        size_of_val::<[C]>(&self.points)
    }

    fn base(&self, entry: u32) -> C {
        let point = self.points[(entry >> 1) as usize];
        if entry & 1 == 1 { -point } else { point }
    }

    fn add_bases(&self, pairs: &[Pair], out: &mut [C], scratch: &mut Self::Scratch) {
        add(pairs, out, scratch, |_, entry| Adder::<C>::base(self, entry));
    }

    fn add_points(&self, pairs: &[Pair], _soon: &[u32], points: &mut [C], scratch: &mut Self::Scratch) {
        add(pairs, points, scratch, |points, at| points[at as usize]);
    }

    fn to_projective(&self, point: &C) -> C::Projective {
        (*point).into()
    }
}
