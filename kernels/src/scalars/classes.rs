//! What class a scalar is of, and where scalars of a class go.

use super::{Full, NEGATIVE, ONE, ORDER, Small, WORDS, canonical};
use crate::{Scalar, words};

/// What a scalar costs.
pub(super) enum Class {
    Zero,
    One,
    MinusOne,
    Small { magnitude: u64, negative: bool },
    Full([u64; 4]),
}

impl Class {
    #[inline]
    pub(super) fn of(scalar: &Scalar) -> Self {
        // Bits are most of many witnesses; their Montgomery forms tell them without a conversion.
        let montgomery = blst::blst_fr::from(*scalar).l;
        if montgomery == [0; 4] {
            return Self::Zero;
        }
        if montgomery == ONE {
            return Self::One;
        }
        let limbs = canonical(scalar);
        match limbs {
            [magnitude, 0, 0, 0] => Self::Small { magnitude, negative: false },
            _ => match words::minus(&ORDER, &limbs).0 {
                [1, 0, 0, 0] => Self::MinusOne,
                [magnitude, 0, 0, 0] => Self::Small { magnitude, negative: true },
                _ => Self::Full(limbs),
            },
        }
    }

    #[inline]
    pub(super) fn count(&self, counts: &mut [usize; 4]) {
        let at = match self {
            Self::Zero => return,
            Self::One => 0,
            Self::MinusOne => 1,
            Self::Small { .. } => 2,
            Self::Full(_) => 3,
        };
        counts[at] += 1;
    }
}

/// Where one task writes what it finds, in the order of its positions.
pub(super) struct Places<'a> {
    ones: &'a mut [u32],
    minus_ones: &'a mut [u32],
    small: &'a mut [Small],
    full: &'a mut [Full],
}

impl<'a> Places<'a> {
    /// Places for so many of each class in words that are exactly as many.
    pub(super) fn of(words: &'a mut [u32], counts: [usize; 4]) -> Self {
        let (ones, words) = words.split_at_mut(counts[0]);
        let (minus_ones, words) = words.split_at_mut(counts[1]);
        let (small, full) = words.split_at_mut(WORDS[2] * counts[2]);
        debug_assert_eq!(full.len(), WORDS[3] * counts[3]);
        // SAFETY: both are made of words, aligned like one, and anything that words may be.
        let (small, full) = unsafe {
            (
                std::slice::from_raw_parts_mut(small.as_mut_ptr().cast(), counts[2]),
                std::slice::from_raw_parts_mut(full.as_mut_ptr().cast(), counts[3]),
            )
        };
        Self { ones, minus_ones, small, full }
    }

    /// Takes places for so many of each class from the front.
    pub(super) fn split(&mut self, [ones, minus_ones, small, full]: [usize; 4]) -> Self {
        fn take<'a, T>(from: &mut &'a mut [T], count: usize) -> &'a mut [T] {
            let (front, rest) = std::mem::take(from).split_at_mut(count);
            *from = rest;
            front
        }
        Self {
            ones: take(&mut self.ones, ones),
            minus_ones: take(&mut self.minus_ones, minus_ones),
            small: take(&mut self.small, small),
            full: take(&mut self.full, full),
        }
    }

    /// Puts a scalar to the first place of its class.
    #[inline]
    pub(super) fn put(&mut self, position: u32, class: Class) {
        fn first<T>(places: &mut &mut [T], value: T) {
            if let Some((place, rest)) = std::mem::take(places).split_first_mut() {
                *place = value;
                *places = rest;
            }
        }
        match class {
            Class::Zero => {}
            Class::One => first(&mut self.ones, position),
            Class::MinusOne => first(&mut self.minus_ones, position),
            Class::Small { magnitude, negative } => {
                let position = if negative { position | NEGATIVE } else { position };
                first(&mut self.small, Small { position, magnitude });
            }
            Class::Full(limbs) => first(&mut self.full, Full { position, limbs }),
        }
    }
}

/// The sum of counts, class by class.
pub(super) fn sum(counts: &[[usize; 4]]) -> [usize; 4] {
    counts.iter().fold([0; 4], |sum, more| std::array::from_fn(|i| sum[i] + more[i]))
}

/// Calls `put` for each task with the places for what it found, in parallel; `first` is the number of the first task.
pub(super) fn put_all(
    first: usize,
    found: &[[usize; 4]],
    mut places: Places<'_>,
    put: &(impl Fn(usize, Places<'_>) + Sync),
) {
    match found {
        [] => {}
        [_] => put(first, places),
        _ => {
            let (left, right) = found.split_at(found.len() / 2);
            let of_left = places.split(sum(left));
            rayon::join(|| put_all(first, left, of_left, put), || put_all(first + left.len(), right, places, put));
        }
    }
}
