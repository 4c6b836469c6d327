//! How the rows of a block lie in a triple's stream: as programs for eight lanes.
//!
//! The rows of A, B and C of a block are cut into *segments* of at most [`MOST_STEPS`] terms, and eight segments make a
//! *group*: one lane each, all lanes taking one term a step. Circuits consist of gadgets, so that segments with the same
//! coefficients are many; grouped, their steps have one coefficient for all lanes, and a product needs no decisions
//! term by term.
//!
//! A group is a byte with the number of steps, a byte of flags, the lanes' slots (a slot is a matrix and a row of the
//! block; the first, if the others follow it, or eight) and the steps. A step is a byte of flags, its lowest column (4 bytes), the lanes' distances from it (1, 2 or 4
//! bytes each) and, unless all coefficients are 1 or all −1, one code or eight. Codes are 0 for no term (where a segment
//! is shorter than its group) and 1 + the coefficient's place in the dictionary. Numbers are little-endian.

mod write;

pub(crate) use write::{push_group, push_step};

use super::dictionary::{MINUS_ONE, ONE};
use crate::Scalar;

/// Rows of a block. Its outputs and the part of a witness that it reads stay in a second-level cache.
pub(crate) const ROWS_PER_BLOCK: usize = 1 << ROW_BITS;
const ROW_BITS: u32 = 10;
/// Segments of a group.
pub(crate) const LANES: usize = 8;
/// Terms of a segment: so few that eight lanes add them up, or their products, with one reduction at the end.
pub(crate) const MOST_STEPS: usize = 32;

/// Group flags: the number of lanes minus one in the low bits, and two more.
const LANES_MASK: u8 = 7;
/// The segments are not the first of their rows: results are added.
const CONTINUES: u8 = 1 << 3;
/// The slots follow one another; only the first is there.
const CONSECUTIVE: u8 = 1 << 4;

/// The low bits of a step's flags: what the coefficients are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// 1 in every lane.
    Plus = 0,
    /// −1 in every lane.
    Minus = 1,
    /// One code for all lanes.
    All = 2,
    /// One code per lane.
    Each = 3,
}

impl Kind {
    #[inline(always)]
    fn of(flags: u8) -> Self {
        match flags & 3 {
            0 => Self::Plus,
            1 => Self::Minus,
            2 => Self::All,
            _ => Self::Each,
        }
    }
}

/// The two bits above are the binary logarithm of a distance's bytes.
const DISTANCE_SHIFT: u32 = 2;

/// Where a result goes: the matrix (0, 1, 2) and the row within the block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot(u16);

impl Slot {
    pub(crate) fn new(matrix: usize, row: usize) -> Self {
        debug_assert!(matrix < 3 && row < ROWS_PER_BLOCK);
        Self((matrix << ROW_BITS | row) as u16)
    }

    /// 0, 1 or 2 for A, B, C; 3 and more in a damaged stream only.
    #[inline(always)]
    pub(crate) fn matrix(self) -> usize {
        (self.0 >> ROW_BITS) as usize
    }

    #[inline(always)]
    pub(crate) fn row(self) -> usize {
        self.0 as usize & (ROWS_PER_BLOCK - 1)
    }
}

/// Where the results of a group go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slots {
    /// To slots of one matrix that follow one another.
    From(Slot),
    /// To these.
    Each([Slot; LANES]),
}

impl Slots {
    /// The slot of a lane.
    #[inline(always)]
    pub(crate) fn of(&self, lane: usize) -> Slot {
        match self {
            Self::From(first) => Slot(first.0.wrapping_add(lane as u16)),
            Self::Each(slots) => slots[lane],
        }
    }
}

/// The head of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Group {
    /// Steps that follow.
    pub(crate) steps: usize,
    /// Lanes in use, 1 to 8.
    pub(crate) lanes: usize,
    /// Whether results are to be added to what is there.
    pub(crate) continues: bool,
    /// Where the lanes' results go; only the first `lanes` count.
    pub(crate) slots: Slots,
}

/// The coefficients of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Codes {
    /// 1 in every lane.
    Plus,
    /// −1 in every lane.
    Minus,
    /// The same in every lane.
    All(u32),
    /// One per lane.
    Each([u32; LANES]),
}

impl Codes {
    /// The code in a lane.
    #[inline(always)]
    pub(crate) fn of(&self, lane: usize) -> u32 {
        match self {
            Self::Plus => code(ONE),
            Self::Minus => code(MINUS_ONE),
            Self::All(code) => *code,
            Self::Each(codes) => codes[lane],
        }
    }
}

/// One term in every lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) columns: [u32; LANES],
    pub(crate) codes: Codes,
}

/// The code of a coefficient by its place in the dictionary.
pub(crate) const fn code(place: u32) -> u32 {
    place + 1
}

/// The place of a code in the dictionary; nothing for the code 0.
#[inline(always)]
pub(crate) const fn place(code: u32) -> Option<usize> {
    match code {
        0 => None,
        code => Some(code as usize - 1),
    }
}

/// Bytes of a code, for a dictionary of this length.
pub(crate) fn code_bytes(values: &[Scalar]) -> usize {
    match values.len() {
        ..0x100 => 1,
        0x100..0x1_0000 => 2,
        _ => 4,
    }
}

/// Reads groups and steps from the front of a block; nothing where the bytes end or are none.
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
    code_bytes: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(block: &'a [u8], code_bytes: usize) -> Self {
        Self { rest: block, code_bytes }
    }

    /// Whether all has been read.
    pub(crate) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    #[inline(always)]
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*bytes)
    }

    /// Eight numbers of 1, 2 or any other number of bytes, which is 4.
    #[inline(always)]
    fn eight(&mut self, bytes: usize) -> Option<[u32; LANES]> {
        let mut out = [0; LANES];
        match bytes {
            1 => {
                let bytes = self.take::<LANES>()?;
                out.iter_mut().zip(bytes).for_each(|(out, byte)| *out = byte.into());
            }
            2 => {
                let bytes = self.take::<{ 2 * LANES }>()?;
                let pairs = bytes.as_chunks::<2>().0;
                out.iter_mut().zip(pairs).for_each(|(out, pair)| *out = u16::from_le_bytes(*pair).into());
            }
            _ => {
                let bytes = self.take::<{ 4 * LANES }>()?;
                let fours = bytes.as_chunks::<4>().0;
                out.iter_mut().zip(fours).for_each(|(out, four)| *out = u32::from_le_bytes(*four));
            }
        }
        Some(out)
    }

    /// The head of the next group.
    #[inline(always)]
    pub(crate) fn group(&mut self) -> Option<Group> {
        let [steps, flags] = self.take()?;
        let slots = if flags & CONSECUTIVE != 0 {
            Slots::From(Slot(u16::from_le_bytes(self.take()?)))
        } else {
            let bytes = self.take::<{ 2 * LANES }>()?;
            let mut slots = [Slot(0); LANES];
            let pairs = bytes.as_chunks::<2>().0;
            slots.iter_mut().zip(pairs).for_each(|(slot, pair)| *slot = Slot(u16::from_le_bytes(*pair)));
            Slots::Each(slots)
        };
        let lanes = usize::from(flags & LANES_MASK) + 1;
        Some(Group { steps: steps.into(), lanes, continues: flags & CONTINUES != 0, slots })
    }

    /// The kind of the next step's coefficients, and its columns; [`code`](Self::code) or [`codes`](Self::codes) must be
    /// read next if that is what the kind says.
    #[inline(always)]
    pub(crate) fn columns(&mut self) -> Option<(Kind, [u32; LANES])> {
        let [flags, base @ ..] = self.take::<5>()?;
        let base = u32::from_le_bytes(base);
        let mut columns = self.eight(1 << (flags >> DISTANCE_SHIFT & 3))?;
        for column in &mut columns {
            *column = column.wrapping_add(base);
        }
        Some((Kind::of(flags), columns))
    }

    /// The code of all lanes.
    #[inline(always)]
    pub(crate) fn code(&mut self) -> Option<u32> {
        Some(match self.code_bytes {
            1 => u32::from(self.take::<1>()?[0]),
            2 => u32::from(u16::from_le_bytes(self.take()?)),
            _ => u32::from_le_bytes(self.take()?),
        })
    }

    /// The codes of the lanes.
    #[inline(always)]
    pub(crate) fn codes(&mut self) -> Option<[u32; LANES]> {
        self.eight(self.code_bytes)
    }

    /// Whether the next step has the coefficient 1 in every lane.
    #[inline(always)]
    pub(crate) fn at_plus(&self) -> bool {
        self.rest.first().is_some_and(|flags| Kind::of(*flags) == Kind::Plus)
    }

    /// The next step of a group.
    pub(crate) fn step(&mut self) -> Option<Step> {
        let (kind, columns) = self.columns()?;
        let codes = match kind {
            Kind::Plus => Codes::Plus,
            Kind::Minus => Codes::Minus,
            Kind::All => Codes::All(self.code()?),
            Kind::Each => Codes::Each(self.codes()?),
        };
        Some(Step { columns, codes })
    }
}

#[cfg(test)]
mod tests;
