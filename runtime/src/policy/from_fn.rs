//! A closure as a policy.

use super::{Policy, State};

/// A policy of one function; made by [`from_fn`].
#[derive(Clone, Copy, Debug)]
pub struct FromFn<'a, F> {
    name: &'a str,
    choose: F,
}

/// The policy `name` that chooses as `choose` says; see [`Policy::choose`]. For tests and trials: what a graph is to name
/// is a type of its own.
pub fn from_fn<F>(name: &str, choose: F) -> FromFn<'_, F>
where
    F: FnMut(&State<'_>) -> Option<usize> + Send,
{
    FromFn { name, choose }
}

impl<F> Policy for FromFn<'_, F>
where
    F: FnMut(&State<'_>) -> Option<usize> + Send,
{
    fn name(&self) -> &str {
        self.name
    }

    fn choose(&mut self, state: &State<'_>) -> Option<usize> {
        (self.choose)(state)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{choose, firing};
    use super::*;

    #[test]
    fn the_closure_chooses_and_remembers() {
        let mut asked = 0;
        let mut every_other = from_fn("every_other", |state| {
            asked += 1;
            (asked % 2 == 0).then_some(state.waiting.len() - 1)
        });
        assert_eq!(every_other.name(), "every_other");
        let waiting = [firing(0, 0, &[], None), firing(0, 1, &[], None)];
        assert_eq!([choose(&mut every_other, &waiting, &[]), choose(&mut every_other, &waiting, &[])], [None, Some(1)]);
    }
}
