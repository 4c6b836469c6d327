//! The firing with the longest way to go first.

use std::cmp::Reverse;

use super::{Policy, State, first_by};

/// Grants the firing from whose start it is longest to the end of its token's way, by what firings took so far; equals
/// by age. Good where a token's branches are of unequal length and the join waits for the longer one.
#[derive(Clone, Copy, Debug, Default)]
pub struct CriticalPath;

impl Policy for CriticalPath {
    fn name(&self) -> &'static str {
        "critical_path"
    }

    fn choose(&mut self, state: &State<'_>) -> Option<usize> {
        // Of one job first: to feed the source before all that is under way would only fill the edges.
        first_by(state, |firing| {
            (firing.key.job, Reverse(state.stages.get(firing.stage).map_or(0, |stage| stage.rest_ns)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{choose, firing, stage};
    use super::*;

    #[test]
    fn the_branch_with_the_longer_way_goes_first() {
        let stages = [stage(5, 20), stage(5, 90)];
        assert_eq!(choose(&mut CriticalPath, &[firing(0, 0, &[], None), firing(1, 0, &[], None)], &stages), Some(1));
    }

    #[test]
    fn an_older_job_goes_before_a_longer_way() {
        let stages = [stage(5, 20), stage(5, 90)];
        assert_eq!(choose(&mut CriticalPath, &[firing(0, 0, &[], None), firing(1, 1, &[], None)], &stages), Some(0));
    }
}
