//! The default: the oldest token first, and nobody overtakes on a pool that an older firing waits for.

use super::{Blocked, Policy, State};

/// Grants in the order of age.
///
/// A firing that lacks permits keeps its pools: younger firings that want the same pools wait behind it, so a heavy
/// firing is never starved by light ones. Younger firings that want other pools go ahead. A firing that waits for the
/// progress of other tokens keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct OldestFirst;

impl Policy for OldestFirst {
    fn name(&self) -> &'static str {
        "oldest_first"
    }

    fn choose(&mut self, state: &State<'_>) -> Option<usize> {
        let mut kept = vec![false; state.free.len()];
        for (position, firing) in state.waiting.iter().enumerate() {
            let overtakes = firing.claim.iter().any(|(pool, _)| kept[*pool]);
            match firing.blocked {
                None if !overtakes => return Some(position),
                Some(Blocked::Tokens) => {}
                None | Some(Blocked::Permits) => firing.claim.iter().for_each(|(pool, _)| kept[*pool] = true),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::Waiting;
    use super::*;
    use crate::key::{JobId, TokenKey};
    use crate::stage::Priority;

    type Case<'a> = (&'a [(usize, u64)], Option<Blocked>);

    fn choose(firings: &[Case<'_>]) -> Option<usize> {
        let waiting: Vec<_> = (0u64..)
            .zip(firings)
            .map(|(age, (claim, blocked))| Waiting {
                stage: 0,
                key: TokenKey { job: JobId(age), partition: 0 },
                priority: Priority::Normal,
                since_ns: 0,
                claim,
                blocked: *blocked,
            })
            .collect();
        OldestFirst.choose(&State { waiting: &waiting, free: &[1, 1] })
    }

    const PERMITS: Option<Blocked> = Some(Blocked::Permits);
    const TOKENS: Option<Blocked> = Some(Blocked::Tokens);

    #[test]
    fn the_oldest_legal_firing_goes_first() {
        assert_eq!(choose(&[(&[(0, 1)], None), (&[(0, 1)], None)]), Some(0));
    }

    #[test]
    fn a_heavy_old_firing_is_not_overtaken_on_its_pool() {
        assert_eq!(choose(&[(&[(0, 2)], PERMITS), (&[(0, 1)], None)]), None);
    }

    #[test]
    fn a_firing_that_wants_another_pool_goes_ahead() {
        assert_eq!(choose(&[(&[(0, 2)], PERMITS), (&[(0, 1)], None), (&[(1, 1)], None)]), Some(2));
        assert_eq!(choose(&[(&[(0, 2)], PERMITS), (&[], None)]), Some(1));
    }

    #[test]
    fn a_firing_that_waits_for_other_tokens_keeps_nothing_from_them() {
        assert_eq!(choose(&[(&[(0, 1)], TOKENS), (&[(0, 1)], None)]), Some(1));
    }

    #[test]
    fn nothing_waits_nothing_goes() {
        assert_eq!(choose(&[]), None);
    }
}
