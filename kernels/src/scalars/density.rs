//! Which scalars of a witness a query has points for.

use crate::sparse::Bitmap;

/// The variables that a query is dense in, and the place of each among them. Made once for a circuit.
#[derive(Debug, Clone)]
pub struct DensityMap {
    bits: Bitmap,
    /// How many bits are set in the words before each.
    before: Vec<u32>,
    count: usize,
}

impl DensityMap {
    /// The variables whose bits are set.
    ///
    /// # Panics
    /// If there are more than [`MAX_LEN`](super::MAX_LEN) bits.
    pub fn new(bits: Bitmap) -> Self {
        assert!(bits.len() <= super::MAX_LEN, "a density of {} variables is above the limit", bits.len());
        let mut count = 0;
        let before = bits.words().iter().map(|word| {
            let before = count as u32;
            count += word.count_ones() as usize;
            before
        });
        Self { before: before.collect(), bits, count }
    }

    /// Number of variables, dense or not.
    pub fn variables(&self) -> usize {
        self.bits.len()
    }

    /// How many of them are dense: the length of the query.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The dense variables, ascending.
    pub fn ones(&self) -> impl Iterator<Item = usize> + '_ {
        self.bits.ones()
    }

    /// Bytes of memory held.
    pub fn bytes(&self) -> usize {
        size_of_val(self.bits.words()) + size_of_val(&self.before[..])
    }

    /// The place of a variable in the query; nothing if it has none.
    #[inline]
    fn place(&self, variable: usize) -> Option<u32> {
        let (word, bit) = (self.bits.words()[variable / 64], variable % 64);
        let below = word & ((1 << bit) - 1);
        (word >> bit & 1 == 1).then(|| self.before[variable / 64] + below.count_ones())
    }
}

/// How the scalars of a set belong to the points of a query.
#[derive(Debug, Clone, Copy)]
pub enum Density<'a> {
    /// Point k belongs to scalar `first` + k: the auxiliary variables, say.
    From {
        /// How many scalars at the front have no point.
        first: usize,
    },
    /// Point k belongs to the k-th dense scalar.
    Of(&'a DensityMap),
}

impl Density<'_> {
    /// Point k belongs to scalar k.
    pub const FULL: Self = Density::From { first: 0 };

    /// How many of `scalars` scalars have a point.
    ///
    /// # Panics
    /// If a map is for another number of variables, or more are skipped than there are.
    pub(crate) fn points(self, scalars: usize) -> usize {
        match self {
            Self::From { first } => {
                assert!(first <= scalars, "{first} scalars without a point, of {scalars}");
                scalars - first
            }
            Self::Of(map) => {
                assert!(map.variables() == scalars, "{scalars} scalars, a density of {} variables", map.variables());
                map.count()
            }
        }
    }

    /// The point of a scalar, if it has one.
    #[inline]
    pub(crate) fn place(self, position: u32) -> Option<u32> {
        match self {
            // A query has fewer points than 2^32.
            Self::From { first } => position.checked_sub(first as u32),
            Self::Of(map) => map.place(position as usize),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_ranks_its_variables() {
        for variables in [0, 1, 63, 64, 65, 1000] {
            for step in [1, 2, 63, 64, 65, 2000] {
                let mut bits = Bitmap::new(variables);
                (0..variables).step_by(step).for_each(|variable| bits.set(variable));
                let map = DensityMap::new(bits);
                let density = Density::Of(&map);
                assert_eq!(density.points(variables), variables.div_ceil(step));
                for variable in 0..variables {
                    let want = (variable % step == 0).then_some((variable / step) as u32);
                    assert_eq!(density.place(variable as u32), want, "{variable} of {variables}, every {step}");
                }
            }
        }
    }

    #[test]
    fn scalars_at_the_front_have_no_point() {
        let density = Density::From { first: 3 };
        assert_eq!((density.points(3), density.points(10)), (0, 7));
        assert_eq!([0, 2, 3, 9].map(|position| density.place(position)), [None, None, Some(0), Some(6)]);
        assert_eq!(Density::FULL.place(5), Some(5));
    }
}
