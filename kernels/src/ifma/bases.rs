//! The bases of a query in IFMA form.

use std::marker::PhantomData;

use proofline_memory::{Arena, Pages};

use super::batch::{self, Affine, Packed, Scratch};
use super::fp2::{Prime, Quadratic, Tower};
use super::vector::Row;
use super::{Ifma, field, fp, stored};
use crate::msm::Curve;
use crate::msm::adder::{Adder, Pair};
use crate::msm::load::{LoadError, Pieces};
use crate::{G1Affine, G2Affine, words};

/// Bases with coordinates in F, K elements of Fp each.
#[derive(Debug, Clone)]
pub struct Bases<F, const K: usize> {
    proof: Ifma,
    points: Pages<Packed<K>>,
    field: PhantomData<F>,
}

/// A curve whose points can be taken to IFMA form and back.
pub trait Convert<const K: usize>: Curve {
    /// The coordinates of a point that is not infinity.
    fn coordinates(&self) -> [[blst::blst_fp; K]; 2];
    /// The point with these coordinates, which must be on the curve.
    fn from_coordinates(coordinates: [[blst::blst_fp; K]; 2]) -> Self;
}

impl Convert<1> for G1Affine {
    fn coordinates(&self) -> [[blst::blst_fp; 1]; 2] {
        let point = self.as_ref();
        [[point.x], [point.y]]
    }

    fn from_coordinates([[x], [y]]: [[blst::blst_fp; 1]; 2]) -> Self {
        let mut point = Self::infinity();
        *point.as_mut() = blst::blst_p1_affine { x, y };
        point
    }
}

impl Convert<2> for G2Affine {
    fn coordinates(&self) -> [[blst::blst_fp; 2]; 2] {
        let point = self.as_ref();
        [point.x.fp, point.y.fp]
    }

    fn from_coordinates([x, y]: [[blst::blst_fp; 2]; 2]) -> Self {
        let mut point = Self::infinity();
        *point.as_mut() = blst::blst_p2_affine { x: blst::blst_fp2 { fp: x }, y: blst::blst_fp2 { fp: y } };
        point
    }
}

/// A point that is not infinity as it lies in memory.
fn pack<C: Convert<K>, const K: usize>(point: &C) -> Packed<K> {
    point.coordinates().map(|x| x.each_ref().map(fp::from_blst))
}

impl<F: Tower<K>, const K: usize> Bases<F, K> {
    /// Converts points, none of which may be infinity, in parallel.
    pub(crate) fn new<C: Convert<K>>(proof: Ifma, points: &[C]) -> Self {
        Self { proof, points: Pages::from_fn(points.len(), |i| pack(&points[i])), field: PhantomData }
    }

    /// Converts points that come in pieces, in parallel.
    pub(crate) fn load<C: Convert<K>, E: Send, R: Fn(usize, &mut [u8]) -> Result<(), E> + Sync>(
        proof: Ifma,
        pieces: &Pieces<R>,
    ) -> Result<Self, LoadError<E>> {
        let points = pieces
            .load::<C, Packed<K>>([[[0; fp::WORDS]; K]; 2], |plain, points| stored::convert(proof, plain, points))?;
        Ok(Self { proof, points, field: PhantomData })
    }
}

impl<C: Convert<K>, F: Tower<K> + Clone + std::fmt::Debug, const K: usize> Adder<C> for Bases<F, K> {
    type Point = Affine<K>;
    type Scratch = Scratch<K>;
    const SCRATCH_LISTS: &'static [usize] = Scratch::<K>::LISTS;

    fn infinity() -> Affine<K> {
        Affine::INFINITY
    }

    fn scratch(&self, arena: &Arena) -> Scratch<K> {
        Scratch::new(self.proof, arena)
    }

    fn len(&self) -> usize {
        self.points.len()
    }

    fn bytes(&self) -> usize {
        size_of_val::<[_]>(&self.points)
    }

    fn base(&self, entry: u32) -> Affine<K> {
        let [x, y] = &self.points[(entry >> 1) as usize];
        let negate = entry & 1 == 1;
        Affine {
            x: x.each_ref().map(|x| Row(field::to_limbs(x))),
            // p for a component that is 0, which one of an Fp2 may be: a weakly reduced 0.
            y: y.each_ref().map(|y| Row(field::to_limbs(&if negate { words::minus(&words::PRIME, y).0 } else { *y }))),
        }
    }

    fn add_bases(&self, pairs: &[Pair], soon: &[u32], out: &mut [Affine<K>], scratch: &mut Scratch<K>) {
        batch::add_bases::<F, K>(self.proof, &self.points, pairs, soon, out, scratch);
    }

    fn add_points(&self, pairs: &[Pair], soon: &[u32], points: &mut [Affine<K>], scratch: &mut Scratch<K>) {
        batch::add_points::<F, K>(self.proof, &self.points, pairs, soon, points, scratch);
    }

    fn to_affine(&self, point: &Affine<K>) -> C {
        if *point == Affine::INFINITY {
            return C::infinity();
        }
        let coordinates = [&point.x, &point.y].map(|x| x.each_ref().map(|row| fp::to_blst(&row.0)));
        C::from_coordinates(coordinates)
    }
}

/// G1's bases.
pub type Bases1 = Bases<Prime, 1>;
/// G2's bases.
pub type Bases2 = Bases<Quadratic, 2>;
