//! How long the scalars of a multiplication are, and the windows that suit them.

use super::pippenger::TERMS_PER_CHUNK;

/// Windows wider than this have more buckets than caches and translation buffers like.
const MAX_WIDTH: u32 = 18;
/// Bits of a full scalar.
pub(super) const FULL_BITS: u32 = 255;

/// How many scalars there are of each length in bits, from 0 to 256.
#[derive(Clone)]
pub(super) struct Lengths([u32; 257]);

impl Default for Lengths {
    fn default() -> Self {
        Self([0; 257])
    }
}

impl Lengths {
    /// So many scalars of one length.
    pub(super) fn all(terms: usize, bits: u32) -> Self {
        let mut lengths = Self::default();
        lengths.0[bits as usize] = terms as u32;
        lengths
    }

    /// Counts one scalar.
    #[inline]
    pub(super) fn add(&mut self, bits: u32) {
        self.0[bits as usize] += 1;
    }

    /// Those of both.
    pub(super) fn plus(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(count, more)| *count += more);
        self
    }

    /// Bits of the longest scalar.
    pub(super) fn longest(&self) -> u32 {
        self.0.iter().rposition(|count| *count > 0).unwrap_or(0) as u32
    }

    /// Number of scalars.
    fn terms(&self) -> usize {
        self.0.iter().map(|count| *count as usize).sum()
    }

    /// The width that minimises additions: one for each digit that can be other than zero, and two for each bucket. It is at
    /// most what as many full scalars would get, so that memory for those is enough.
    pub(super) fn window_width(&self) -> u32 {
        self.cheapest_below(Self::all(self.terms(), FULL_BITS).cheapest_below(MAX_WIDTH))
    }

    fn cheapest_below(&self, most: u32) -> u32 {
        let longest = self.longest();
        // How many scalars are longer than so many bits.
        let mut longer = [0_usize; 257];
        for bits in (0..256).rev() {
            longer[bits] = longer[bits + 1] + self.0[bits + 1] as usize;
        }
        let chunks = self.terms().div_ceil(TERMS_PER_CHUNK).max(1);
        let cost = |width: u32| {
            let windows = (0..longest).step_by(width as usize);
            windows.map(|bit| longer[bit as usize] + chunks * (2 << (width - 1))).sum::<usize>()
        };
        (2..=most).min_by_key(|width| cost(*width)).unwrap_or(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Additions by widths, counted one by one.
    fn additions(lengths: &[u32], width: u32) -> usize {
        let windows = lengths.iter().max().unwrap().div_ceil(width);
        (0..windows).map(|window| lengths.iter().filter(|bits| **bits > window * width).count() + (1 << width)).sum()
    }

    #[test]
    fn the_width_is_the_cheapest() {
        let mixes: [&[(usize, u32)]; 6] = [
            &[(1, 1)],
            &[(70, 255)],
            &[(5000, 255)],
            // Bytes with a few long scalars among them: windows for the bytes.
            &[(20_000, 8), (3, 64)],
            &[(300, 8), (300, 64)],
            &[(3000, 16), (3000, 33), (10, 255)],
        ];
        for mix in mixes {
            let (mut lengths, mut list) = (Lengths::default(), Vec::new());
            for &(count, bits) in mix {
                lengths = lengths.plus(Lengths::all(count, bits));
                list.extend(vec![bits; count]);
            }
            let width = lengths.window_width();
            let widest = Lengths::all(list.len(), FULL_BITS).window_width();
            assert!(width <= widest, "{mix:?}");
            for other in 2..=widest {
                assert!(additions(&list, width) <= additions(&list, other), "{mix:?}: {width}, and not {other}");
            }
        }
    }

    /// Memory is prepared for full scalars of the longest query: fewer of them must not want wider windows.
    #[test]
    fn more_scalars_get_wider_windows() {
        let widths: Vec<_> = (0..400).map(|k| Lengths::all(k * k * k / 8, FULL_BITS).window_width()).collect();
        assert!(widths.is_sorted(), "{widths:?}");
        assert_eq!((widths[0], widths[399]), (2, 17));
    }
}
