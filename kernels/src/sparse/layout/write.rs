//! Writing groups and steps.

use super::{CONSECUTIVE, CONTINUES, DISTANCE_SHIFT, Kind, LANES, MOST_STEPS, Slot, code};
use crate::sparse::dictionary::{MINUS_ONE, ONE};

/// Appends the head of a group; between 1 and 8 slots.
pub(crate) fn push_group(stream: &mut Vec<u8>, steps: usize, continues: bool, slots: &[Slot]) {
    debug_assert!(steps <= MOST_STEPS && (1..=LANES).contains(&slots.len()));
    let follows = |pair: &[Slot]| pair[1].0 == pair[0].0 + 1 && pair[1].matrix() == pair[0].matrix();
    let consecutive = slots.windows(2).all(follows);
    let flags =
        (slots.len() - 1) as u8 | if continues { CONTINUES } else { 0 } | if consecutive { CONSECUTIVE } else { 0 };
    stream.extend_from_slice(&[steps as u8, flags]);
    // Lanes out of use repeat the first slot.
    for lane in 0..if consecutive { 1 } else { LANES } {
        stream.extend_from_slice(&slots.get(lane).unwrap_or(&slots[0]).0.to_le_bytes());
    }
}

/// Appends a step; `terms` are columns and codes of the lanes in use, one of them at least with a code that is not 0.
pub(crate) fn push_step(stream: &mut Vec<u8>, terms: &[(u32, u32)], code_bytes: usize) {
    let present = || terms.iter().filter(|(_, code)| *code != 0);
    let base = present().map(|(column, _)| *column).min().unwrap_or(0);
    let widest = present().map(|(column, _)| column - base).max().unwrap_or(0);
    let (width, distance_bytes) = match widest {
        ..0x100 => (0, 1),
        0x100..0x1_0000 => (1, 2),
        _ => (2, 4),
    };
    let first = terms[0].1;
    let kind = match terms.iter().all(|(_, code)| *code == first) {
        true if first == code(ONE) => Kind::Plus,
        true if first == code(MINUS_ONE) => Kind::Minus,
        true => Kind::All,
        false => Kind::Each,
    };
    stream.push(kind as u8 | width << DISTANCE_SHIFT);
    stream.extend_from_slice(&base.to_le_bytes());
    // Lanes without a term read the lowest column, which is as good as any.
    let term = |lane: usize| terms.get(lane).copied().filter(|(_, code)| *code != 0).unwrap_or((base, 0));
    for lane in 0..LANES {
        stream.extend_from_slice(&(term(lane).0 - base).to_le_bytes()[..distance_bytes]);
    }
    let codes = match kind {
        Kind::All => 1,
        Kind::Each => LANES,
        Kind::Plus | Kind::Minus => 0,
    };
    for lane in 0..codes {
        stream.extend_from_slice(&term(lane).1.to_le_bytes()[..code_bytes]);
    }
}
