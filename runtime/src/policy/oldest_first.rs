//! The default: the oldest token first, and nobody overtakes on a pool that an older firing waits for.

use super::{Policy, State};

/// Grants in the order of age.
///
/// A firing that lacks permits keeps its pools: younger firings that want the same pools wait behind it, so a heavy
/// firing is never starved by light ones. Younger firings that want other pools go ahead.
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
            if firing.legal && !overtakes {
                return Some(position);
            }
            for (pool, _) in firing.claim {
                kept[*pool] = true;
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

    fn choose(firings: &[(&[(usize, u64)], bool)]) -> Option<usize> {
        let waiting: Vec<_> = (0u64..)
            .zip(firings)
            .map(|(age, (claim, legal))| Waiting {
                stage: 0,
                key: TokenKey { job: JobId(age), partition: 0 },
                priority: Priority::Normal,
                since_ns: 0,
                claim,
                legal: *legal,
            })
            .collect();
        OldestFirst.choose(&State { waiting: &waiting, free: &[1, 1] })
    }

    #[test]
    fn the_oldest_legal_firing_goes_first() {
        assert_eq!(choose(&[(&[(0, 1)], true), (&[(0, 1)], true)]), Some(0));
    }

    #[test]
    fn a_heavy_old_firing_is_not_overtaken_on_its_pool() {
        assert_eq!(choose(&[(&[(0, 2)], false), (&[(0, 1)], true)]), None);
    }

    #[test]
    fn a_firing_that_wants_another_pool_goes_ahead() {
        assert_eq!(choose(&[(&[(0, 2)], false), (&[(0, 1)], true), (&[(1, 1)], true)]), Some(2));
        assert_eq!(choose(&[(&[(0, 2)], false), (&[], true)]), Some(1));
    }

    #[test]
    fn nothing_waits_nothing_goes() {
        assert_eq!(choose(&[]), None);
    }
}
