//! CRITICAL before HIGH before NORMAL before LOW, and whoever waits long enough rises.

use super::{Policy, State, Waiting, first_by};

/// Grants by priority of the job, equals by age. A firing rises by one level for each step of time that it has waited,
/// so LOW is never starved: after three steps it is as urgent as a CRITICAL that has just come, and older.
#[derive(Clone, Copy, Debug)]
pub struct PriorityAging {
    step_ns: u64,
}

impl PriorityAging {
    /// The step of a graph that states none.
    pub const DEFAULT_STEP_SECONDS: f64 = 60.0;

    /// Ages by one level in each `step_seconds`; `None` unless that is a positive number of at most a century.
    #[must_use]
    pub fn new(step_seconds: f64) -> Option<Self> {
        const CENTURY_SECONDS: f64 = 3.156e9;
        let valid = step_seconds > 0.0 && step_seconds <= CENTURY_SECONDS;
        valid.then(|| Self { step_ns: ((step_seconds * 1e9) as u64).max(1) })
    }

    /// Steps until the firing would be served before everything that comes after it: smaller is sooner. Compared in
    /// time, not in whole levels, so that the older of two firings on their way up goes first.
    fn rank(self, firing: &Waiting) -> u64 {
        let levels_down = 3 - u64::from(firing.priority as u8).min(3);
        firing.since_ns.saturating_add(levels_down.saturating_mul(self.step_ns))
    }
}

impl Default for PriorityAging {
    fn default() -> Self {
        Self { step_ns: (Self::DEFAULT_STEP_SECONDS * 1e9) as u64 }
    }
}

impl Policy for PriorityAging {
    fn name(&self) -> &'static str {
        "priority"
    }

    fn choose(&mut self, state: &State<'_>) -> Option<usize> {
        first_by(state, |firing| self.rank(firing))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{choose_at, firing};
    use super::*;
    use crate::stage::Priority;

    const SECOND: u64 = 1_000_000_000;

    fn waiting(firings: &[(Priority, u64)]) -> Vec<Waiting> {
        let make = |(job, (priority, since)): (u64, &(Priority, u64))| Waiting {
            priority: *priority,
            since_ns: since * SECOND,
            ..firing(0, job, &[], None)
        };
        (0u64..).zip(firings).map(make).collect()
    }

    fn choose(firings: &[(Priority, u64)], now: u64) -> Option<usize> {
        choose_at(&mut PriorityAging::new(60.0).unwrap(), now * SECOND, &waiting(firings), &[])
    }

    #[test]
    fn the_most_urgent_goes_first() {
        use Priority::{Critical, High, Low, Normal};
        assert_eq!(choose(&[(Low, 0), (Normal, 0), (High, 0), (Critical, 0)], 0), Some(3));
        assert_eq!(choose(&[(Low, 0), (Normal, 0), (High, 0)], 0), Some(2));
        assert_eq!(choose(&[(Normal, 0), (Normal, 0)], 0), Some(0), "equals by age");
    }

    #[test]
    fn low_is_served_after_three_steps_however_many_critical_ones_come() {
        use Priority::{Critical, Low};
        assert_eq!(choose(&[(Low, 0), (Critical, 179)], 179), Some(1));
        assert_eq!(choose(&[(Low, 0), (Critical, 180)], 180), Some(0));
    }
}
