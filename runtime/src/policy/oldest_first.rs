//! The default: the oldest token first.

use super::{Policy, State, first_by};

/// Grants in the order of age; nobody overtakes on a pool that an older firing waits for (see [`first_by`]).
#[derive(Clone, Copy, Debug, Default)]
pub struct OldestFirst;

impl Policy for OldestFirst {
    fn name(&self) -> &'static str {
        "oldest_first"
    }

    fn choose(&mut self, state: &State<'_>) -> Option<usize> {
        // The list is sorted by age already.
        first_by(state, |_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::super::{Blocked, Waiting};
    use super::*;

    type Case<'a> = (&'a [(usize, u64)], Option<Blocked>);

    fn choose(firings: &[Case<'_>]) -> Option<usize> {
        let firing = |(age, (claim, blocked)): (u64, &Case<'_>)| testing::firing(0, age, claim, *blocked);
        let waiting: Vec<Waiting> = (0u64..).zip(firings).map(firing).collect();
        testing::choose(&mut OldestFirst, &waiting, &[])
    }

    const WORKER: Option<Blocked> = Some(Blocked::Worker);
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
    fn a_firing_that_waits_for_other_tokens_or_a_worker_keeps_nothing() {
        assert_eq!(choose(&[(&[(0, 1)], TOKENS), (&[(0, 1)], None)]), Some(1));
        assert_eq!(choose(&[(&[(0, 1)], WORKER), (&[(0, 1)], None)]), Some(1));
    }

    #[test]
    fn nothing_waits_nothing_goes() {
        assert_eq!(choose(&[]), None);
    }
}
