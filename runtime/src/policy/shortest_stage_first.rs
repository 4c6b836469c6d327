//! The shortest firing first.

use super::{Policy, State, first_by};

/// Grants the firing of the stage that took least so far; equals by age. Good for latency where short stages would
/// queue behind long ones for the same permits; a long stage may wait long.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShortestStageFirst;

impl Policy for ShortestStageFirst {
    fn name(&self) -> &'static str {
        "shortest_stage_first"
    }

    fn choose(&mut self, state: &State<'_>) -> Option<usize> {
        // A stage that was never measured goes first: afterwards it is.
        first_by(state, |firing| state.stages.get(firing.stage).and_then(|stage| stage.mean_ns).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{choose, firing, stage};
    use super::*;

    #[test]
    fn the_shorter_stage_goes_first_and_equals_by_age() {
        let stages = [stage(50, 50), stage(5, 90)];
        let waiting = [firing(0, 0, &[], None), firing(1, 1, &[], None), firing(1, 2, &[], None)];
        assert_eq!(choose(&mut ShortestStageFirst, &waiting, &stages), Some(1));
    }
}
