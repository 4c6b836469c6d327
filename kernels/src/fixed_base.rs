//! Many multiples of one base, for setup.

use rayon::prelude::*;

use crate::Scalar;
use crate::msm::{Curve, affine_many};
use crate::scalars::canonical;

/// Bits of a scalar.
const SCALAR_BITS: u32 = 255;
/// Wider windows make tables that no longer fit a cache.
const MAX_WIDTH: u32 = 14;

/// Multiples of one base: for every window of `width` bits all its digits, so that a product is one addition per window.
#[derive(Debug, Clone)]
pub struct Table<C: Curve> {
    width: u32,
    /// Window w, digit d ≥ 1 at `w · (2^width − 1) + d − 1`.
    multiples: Vec<C>,
}

impl<C: Curve> Table<C> {
    /// A table for about `scalars` products; the number decides only how wide the windows are.
    pub fn new(base: C::Projective, scalars: usize) -> Self {
        let cost = |width: u32| {
            let windows = u64::from(SCALAR_BITS.div_ceil(width));
            windows * (scalars as u64 + (1 << width))
        };
        let width = (1..=MAX_WIDTH).min_by_key(|width| cost(*width)).unwrap_or(1);
        Self::with_width(base, width)
    }

    fn with_width(base: C::Projective, width: u32) -> Self {
        let mut bases = vec![base];
        for _ in 1..SCALAR_BITS.div_ceil(width) {
            bases.push((0..width).fold(bases[bases.len() - 1], |point, _| C::doubled(&point)));
        }
        let multiples = bases
            .par_iter()
            .flat_map_iter(|base| {
                let mut multiple = C::zero();
                let window: Vec<_> = (1..1u32 << width)
                    .map(|_| {
                        multiple += *base;
                        multiple
                    })
                    .collect();
                affine_many::<C>(&window)
            })
            .collect();
        Self { width, multiples }
    }

    /// `scalar · base` for every scalar, in order, in parallel.
    pub fn mul_many(&self, scalars: &[Scalar]) -> Vec<C> {
        let products: Vec<_> = scalars.par_iter().map(|scalar| self.mul(scalar)).collect();
        affine_many(&products)
    }

    fn mul(&self, scalar: &Scalar) -> C::Projective {
        let limbs = canonical(scalar);
        let digits = (1usize << self.width) - 1;
        let mut sum = C::zero();
        for (window, multiples) in self.multiples.chunks_exact(digits).enumerate() {
            let bit = window * self.width as usize;
            let above = limbs.get(bit / 64 + 1).copied().unwrap_or(0);
            let wide = u128::from(limbs[bit / 64]) | u128::from(above) << 64;
            let digit = (wide >> (bit % 64)) as usize & digits;
            if digit != 0 {
                sum += &multiples[digit - 1];
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use ff::Field;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::{G1Affine, G2Affine};

    fn check<C: Curve>(table: &Table<C>, base: C::Projective, what: &str) {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut scalars = vec![Scalar::ZERO, Scalar::ONE, -Scalar::ONE, -Scalar::from(2), Scalar::from(u64::MAX)];
        scalars.extend((0..8).map(|_| Scalar::random(&mut rng)));
        let want: Vec<C> = scalars.iter().map(|scalar| C::from(base * *scalar)).collect();
        assert_eq!(table.mul_many(&scalars), want, "{what}");
    }

    fn every_width<C: Curve>(widths: std::ops::RangeInclusive<u32>) {
        let base = C::Projective::from(C::standard_generator()) * Scalar::from(77);
        for width in widths {
            check(&Table::<C>::with_width(base, width), base, &format!("width {width}"));
        }
        for hint in [0, 1, 50, 1000] {
            check(&Table::<C>::new(base, hint), base, &format!("hint {hint}"));
        }
    }

    #[test]
    fn products_in_g1() {
        every_width::<G1Affine>(1..=10);
    }

    #[test]
    fn products_in_g2() {
        every_width::<G2Affine>(1..=8);
    }

    #[test]
    fn multiples_of_infinity() {
        let table = Table::<G1Affine>::new(<G1Affine as Curve>::zero(), 10);
        check(&table, <G1Affine as Curve>::zero(), "infinity");
    }

    #[test]
    fn no_scalars() {
        assert_eq!(Table::<G1Affine>::new(G1Affine::standard_generator().into(), 0).mul_many(&[]), vec![]);
    }
}
