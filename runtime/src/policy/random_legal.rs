//! Any legal firing, drawn from a seed: finds what only one order in a thousand shows.

use super::{Policy, State};

/// Grants a random legal firing. The same seed and the same states give the same choices.
#[derive(Clone, Copy, Debug)]
pub struct RandomLegal {
    state: u64,
}

impl RandomLegal {
    /// Draws from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// SplitMix64 (Steele, Lea, Flood, 2014): the next of a sequence that any seed starts well.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Policy for RandomLegal {
    fn name(&self) -> &'static str {
        "random_legal"
    }

    fn choose(&mut self, state: &State<'_>) -> Option<usize> {
        let legal = || (0..state.waiting.len()).filter(|position| state.waiting[*position].is_legal());
        let count = legal().count();
        if count == 0 {
            return None;
        }
        let number = self.next() % count as u64;
        legal().nth(usize::try_from(number).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{choose, firing};
    use super::super::{Blocked, Waiting};
    use super::*;

    #[test]
    fn only_legal_firings_and_each_of_them_is_drawn() {
        let blocked = [None, Some(Blocked::Permits), None, Some(Blocked::Tokens), None];
        let waiting: Vec<Waiting> = (0..5).zip(blocked).map(|(job, why)| firing(0, job, &[], why)).collect();
        let mut policy = RandomLegal::new(1);
        let mut drawn = [0; 5];
        (0..300).for_each(|_| drawn[choose(&mut policy, &waiting, &[]).unwrap()] += 1);
        assert!(drawn[0] > 50 && drawn[2] > 50 && drawn[4] > 50, "{drawn:?}");
        assert_eq!((drawn[1], drawn[3]), (0, 0));
    }

    #[test]
    fn a_seed_is_a_sequence() {
        let waiting: Vec<Waiting> = (0..9).map(|job| firing(0, job, &[], None)).collect();
        let draw = |seed| {
            let mut policy = RandomLegal::new(seed);
            (0..20).map(|_| choose(&mut policy, &waiting, &[])).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }
}
