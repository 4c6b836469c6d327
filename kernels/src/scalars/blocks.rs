//! Scalars of one block by class, in a region that has room for any.
//!
//! A region of `WORDS_EACH · n` words, for n scalars: ones from its front, minus ones from word n downwards, small ones from
//! word n upwards, full ones from the end downwards. However the n scalars fall into classes, no two of these meet: a place
//! at the front for each, and behind it the words of the longest.

use super::NEGATIVE;
use super::classes::Class;

/// Words that a region has for each scalar.
pub(super) const WORDS_EACH: usize = 1 + FULL_WORDS;

const SMALL_WORDS: usize = size_of::<Small>() / size_of::<u32>();
const FULL_WORDS: usize = size_of::<Full>() / size_of::<u32>();

/// A scalar of magnitude 2 to 2^64 − 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C, packed(4))]
pub(crate) struct Small {
    /// Position in the witness; the topmost bit says that the scalar is minus the magnitude.
    position: u32,
    magnitude: u64,
}

impl Small {
    pub(crate) fn position(&self) -> u32 {
        self.position & !NEGATIVE
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.position & NEGATIVE != 0
    }

    pub(crate) fn magnitude(&self) -> u64 {
        self.magnitude
    }
}

/// Any other scalar, canonical, four 64-bit limbs from the lowest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C, packed(4))]
pub(crate) struct Full {
    position: u32,
    limbs: [u64; 4],
}

impl Full {
    pub(crate) fn position(&self) -> u32 {
        self.position
    }

    pub(crate) fn limbs(&self) -> [u64; 4] {
        self.limbs
    }
}

/// The scalars of a block by class. Positions ascend in the first and the third, and descend in the others.
#[derive(Clone, Copy)]
pub(crate) struct Block<'a> {
    pub(crate) ones: &'a [u32],
    pub(crate) minus_ones: &'a [u32],
    pub(crate) small: &'a [Small],
    pub(crate) full: &'a [Full],
}

impl<'a> Block<'a> {
    /// The scalars in a region that so many were [put](Places::put) into.
    pub(super) fn new(region: &'a [u32], [ones, minus_ones, small, full]: [u32; 4]) -> Self {
        let (front, wide) = region.split_at(region.len() / WORDS_EACH);
        let (small, full) = (small as usize, full as usize);
        let small_words = &wide[..SMALL_WORDS * small];
        let full_words = &wide[wide.len() - FULL_WORDS * full..];
        // SAFETY: both are made of words, aligned like one, and anything that words may be; the slices have the words of so
        // many.
        let (small, full) = unsafe {
            (
                std::slice::from_raw_parts(small_words.as_ptr().cast(), small),
                std::slice::from_raw_parts(full_words.as_ptr().cast(), full),
            )
        };
        Self { ones: &front[..ones as usize], minus_ones: &front[front.len() - minus_ones as usize..], small, full }
    }
}

/// A region that is being filled.
pub(super) struct Places<'a> {
    /// Where the ones and the minus ones meet at most.
    front: &'a mut [u32],
    /// Where the small and the full ones do.
    wide: &'a mut [u32],
    ones: usize,
    minus_ones: usize,
    small: usize,
    full: usize,
}

impl<'a> Places<'a> {
    pub(super) fn new(region: &'a mut [u32]) -> Self {
        let (front, wide) = region.split_at_mut(region.len() / WORDS_EACH);
        Self { front, wide, ones: 0, minus_ones: 0, small: 0, full: 0 }
    }

    /// Puts a scalar behind the others of its class.
    ///
    /// # Panics
    /// If more scalars are put than the region is for.
    #[inline]
    pub(super) fn put(&mut self, position: u32, class: Class) {
        match class {
            Class::Zero => {}
            Class::One => {
                self.front[self.ones] = position;
                self.ones += 1;
            }
            Class::MinusOne => {
                self.minus_ones += 1;
                let at = self.front.len() - self.minus_ones;
                self.front[at] = position;
            }
            Class::Small { magnitude, negative } => {
                let position = if negative { position | NEGATIVE } else { position };
                let place = &mut self.wide[SMALL_WORDS * self.small..][..SMALL_WORDS];
                place[0] = position;
                put_limb(&mut place[1..], magnitude);
                self.small += 1;
            }
            Class::Full(limbs) => {
                self.full += 1;
                let at = self.wide.len() - FULL_WORDS * self.full;
                let place = &mut self.wide[at..][..FULL_WORDS];
                place[0] = position;
                place[1..].chunks_exact_mut(2).zip(limbs).for_each(|(place, limb)| put_limb(place, limb));
            }
        }
    }

    /// How many ones, minus ones, small and full scalars were put.
    pub(super) fn counts(&self) -> [u32; 4] {
        // A block has far fewer scalars than 2^32.
        [self.ones, self.minus_ones, self.small, self.full].map(|count| count as u32)
    }
}

/// The two words of a limb, as it lies in memory.
fn put_limb(place: &mut [u32], limb: u64) {
    let [low, high] = [limb as u32, (limb >> 32) as u32];
    place.copy_from_slice(&if cfg!(target_endian = "little") { [low, high] } else { [high, low] });
}

/// Erases the scalars in a region that so many were [put](Places::put) into.
pub(super) fn wipe(region: &mut [u32], [ones, minus_ones, small, full]: [u32; 4]) {
    let (front, wide) = region.split_at_mut(region.len() / WORDS_EACH);
    front[..ones as usize].fill(0);
    let minus_ones = front.len() - minus_ones as usize;
    front[minus_ones..].fill(0);
    wide[..SMALL_WORDS * small as usize].fill(0);
    let full = wide.len() - FULL_WORDS * full as usize;
    wide[full..].fill(0);
}
