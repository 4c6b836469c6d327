//! Many multiples of one base, for setup.
//!
//! A product is the sum of one entry of a table for each window of the scalar. Sums are trees of affine additions, those of many
//! scalars together, so that they share inversions: at some 70 ns an addition takes a sixth of a projective one.

use proofline_memory::Arena;
use rayon::prelude::*;
use zeroize::Zeroizing;

use super::digits::{Cut, Windows};
use super::segments::sum_segments;
use super::workspace::Workspace;
use super::{Adder, Bases, Curve, Pool, affine_many};
use crate::scalars::canonical;
use crate::{Path, Scalar};

/// Bits of a scalar.
const SCALAR_BITS: u32 = 255;
/// Tables of wider windows, 50 MB and more, would cost more to fetch than they spare.
const MAX_WIDTH: u32 = 16;
/// What an entry of the table costs, in additions of products: it is made one by one.
const ENTRY_COST: u64 = 10;
/// Products of one parallel task: their table entries are a few blocks of the sums.
const SCALARS_PER_TASK: usize = 1 << 11;

/// Multiples of one base: for every window of a scalar's bits all its digits, so that a product is one addition for each window
/// but one.
#[derive(Debug)]
pub struct Table<C: Curve> {
    windows: Windows<4>,
    /// The multiples 1, 2, … of window w from w · 2^(width − 1) on; nothing if the base is the point at infinity.
    multiples: Option<Bases<C>>,
    workspace: Workspace<C>,
}

impl<C: Curve> Table<C> {
    /// A table for about `scalars` products, for the best path of this CPU; the number decides only how wide the windows are.
    ///
    /// # Panics
    /// If the base is not of order r, nor infinity.
    pub fn new(base: C::Projective, scalars: usize) -> Self {
        Self::with_path(base, scalars, Path::best())
    }

    /// [`new`](Self::new) for a given path.
    ///
    /// # Panics
    /// See [`new`](Self::new).
    pub fn with_path(base: C::Projective, scalars: usize, path: Path) -> Self {
        let cost = |width: u32| {
            let windows = Windows::<4>::new(SCALAR_BITS, width);
            u64::from(windows.count()) * scalars as u64 + ENTRY_COST * entries(&windows) as u64
        };
        let width = (2..=MAX_WIDTH).min_by_key(|width| cost(*width)).unwrap_or(2);
        Self::with_width(base, width, path)
    }

    fn with_width(base: C::Projective, width: u32, path: Path) -> Self {
        let windows = Windows::new(SCALAR_BITS, width);
        let workspace = Workspace::in_arena(&Arena::default());
        if C::from(base).is_infinity() {
            return Self { windows, multiples: None, workspace };
        }
        let mut bases = vec![base];
        for _ in 1..windows.count() {
            bases.push((0..width).fold(bases[bases.len() - 1], |point, _| C::doubled(&point)));
        }
        let multiples: Vec<C> = bases
            .par_iter()
            .zip(0..windows.count())
            .flat_map_iter(|(base, window)| {
                let mut multiple = C::zero();
                let multiples: Vec<_> = (0..windows.buckets(window))
                    .map(|_| {
                        multiple += *base;
                        multiple
                    })
                    .collect();
                affine_many::<C>(&multiples)
            })
            .collect();
        assert!(!multiples.iter().any(Curve::is_infinity), "a base of small order has no table");
        Self { windows, multiples: Some(Bases::new(multiples, path)), workspace }
    }

    /// `scalar · base` for every scalar, in order, in parallel.
    pub fn mul_many(&self, scalars: &[Scalar]) -> Vec<C> {
        match &self.multiples {
            None => vec![C::infinity(); scalars.len()],
            Some(Bases::Portable(bases)) => self.mul_many_over(bases, &self.workspace.portable, scalars),
            #[cfg(target_arch = "x86_64")]
            Some(Bases::Ifma(bases)) => self.mul_many_over(bases, &self.workspace.ifma, scalars),
        }
    }

    fn mul_many_over<A: Adder<C>>(&self, bases: &A, pool: &Pool<C, A>, scalars: &[Scalar]) -> Vec<C> {
        let cuts: Vec<_> = (0..self.windows.count()).map(|window| self.windows.cut(window)).collect();
        let mut products = vec![C::infinity(); scalars.len()];
        products.par_chunks_mut(SCALARS_PER_TASK).zip(scalars.par_chunks(SCALARS_PER_TASK)).for_each(
            |(out, scalars)| {
                let mut entries = Zeroizing::new(Vec::with_capacity(cuts.len() * scalars.len()));
                let sizes: Vec<u32> =
                    scalars.iter().map(|scalar| self.push_entries(&cuts, scalar, &mut entries)).collect();
                let mut sums = vec![A::infinity(); scalars.len()];
                sum_segments(bases, pool, &entries, &sizes, &mut sums);
                for (out, sum) in out.iter_mut().zip(&sums) {
                    *out = bases.to_affine(sum);
                }
            },
        );
        products
    }

    /// Appends the entries of the digits that are not zero, and gives their number.
    fn push_entries(&self, cuts: &[Cut], scalar: &Scalar, entries: &mut Vec<u32>) -> u32 {
        let before = entries.len();
        let biased = Zeroizing::new(self.windows.biased(&canonical(scalar)));
        for (window, cut) in (0..).zip(cuts) {
            let above = biased.get(cut.limb() + 1).copied().unwrap_or(0);
            let digit = cut.digit(biased[cut.limb()], above);
            if digit != 0 {
                let place = (window << (self.windows.width() - 1)) + digit.unsigned_abs() - 1;
                entries.push(2 * place + u32::from(digit < 0));
            }
        }
        (entries.len() - before) as u32
    }
}

/// Entries of a table.
fn entries(windows: &Windows<4>) -> usize {
    (0..windows.count()).map(|window| windows.buckets(window)).sum()
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
        // Digits at the ends of their range, in every window.
        scalars.extend((0..255).step_by(3).map(|bit| Scalar::from(2).pow_vartime([bit])));
        scalars.extend((0..255).step_by(7).map(|bit| -Scalar::from(2).pow_vartime([bit])));
        scalars.extend((0..8).map(|_| Scalar::random(&mut rng)));
        let want: Vec<C> = scalars.iter().map(|scalar| C::from(base * *scalar)).collect();
        assert_eq!(table.mul_many(&scalars), want, "{what}");
    }

    fn every_width<C: Curve>(widths: std::ops::RangeInclusive<u32>) {
        let base = C::Projective::from(C::standard_generator()) * Scalar::from(77);
        for path in Path::all() {
            for width in widths.clone() {
                let what = format!("width {width}, {}", path.name());
                check(&Table::<C>::with_width(base, width, path), base, &what);
            }
            for hint in [0, 1, 50, 1000] {
                check(&Table::<C>::with_path(base, hint, path), base, &format!("hint {hint}, {}", path.name()));
            }
        }
    }

    #[test]
    fn products_in_g1() {
        every_width::<G1Affine>(2..=10);
    }

    #[test]
    fn products_in_g2() {
        every_width::<G2Affine>(2..=8);
    }

    #[test]
    fn more_products_than_one_task_has() {
        let base = <G1Affine as Curve>::standard_generator().into();
        let scalars: Vec<_> = (0..2 * SCALARS_PER_TASK as u64 + 3).map(Scalar::from).collect();
        let mut sum = <G1Affine as Curve>::zero();
        for (at, product) in Table::<G1Affine>::new(base, 100).mul_many(&scalars).into_iter().enumerate() {
            assert_eq!(product, G1Affine::from(sum), "{at}");
            sum += base;
        }
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
