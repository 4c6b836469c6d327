//! The part that all ordering policies share: an order, and nobody is starved by lighter firings behind it.

use super::{Blocked, State, Waiting};

/// The first legal firing in the order of `rank` (smallest first; equals by age) that overtakes nobody.
///
/// A firing that lacks permits keeps its pools: those behind it that want the same pools wait, so a heavy firing is
/// never starved by light ones. Those that want other pools go ahead. A firing that waits for a worker or for the
/// progress of other tokens keeps nothing.
pub fn first_by<R: Ord>(state: &State<'_>, rank: impl Fn(&Waiting) -> R) -> Option<usize> {
    let mut best: Option<(R, usize)> = None;
    // Who lacks permits is rare; without them the smallest legal firing is the answer.
    let mut anyone_keeps = false;
    for (position, firing) in state.waiting.iter().enumerate() {
        match firing.blocked {
            None => {
                let rank = rank(firing);
                if best.as_ref().is_none_or(|(than, _)| rank < *than) {
                    best = Some((rank, position));
                }
            }
            Some(Blocked::Permits) => anyone_keeps = true,
            Some(Blocked::Worker | Blocked::Tokens) => {}
        }
    }
    if !anyone_keeps {
        return best.map(|(_, position)| position);
    }
    let mut order: Vec<usize> = (0..state.waiting.len()).collect();
    order.sort_by_key(|position| (rank(&state.waiting[*position]), *position));
    let mut kept = vec![false; state.free.len()];
    for position in order {
        let firing = &state.waiting[position];
        let overtakes = firing.claim.iter().any(|(pool, _)| kept[*pool]);
        match firing.blocked {
            None if !overtakes => return Some(position),
            Some(Blocked::Worker | Blocked::Tokens) => {}
            None | Some(Blocked::Permits) => firing.claim.iter().for_each(|(pool, _)| kept[*pool] = true),
        }
    }
    None
}
