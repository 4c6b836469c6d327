//! Counted and weighted permits.
//!
//! A plain state machine without clock and threads: [`crate::exec`] drives it with a lock, tests and simulations
//! drive it directly. A claim is taken all at once or not at all.

use crate::plan::Pool;

/// What a firing wants: pool (its position in the plan) and weight. No pool twice.
pub type Claim = Vec<(usize, u64)>;

/// The pools of a plan and what is free in them.
#[derive(Clone, Debug)]
pub struct Permits {
    pools: Vec<State>,
}

#[derive(Clone, Debug)]
struct State {
    name: String,
    size: u64,
    free: u64,
}

/// A claim that no amount of waiting satisfies.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("needs {needs} of pool `{pool}`, which has {size}")]
pub struct NeverFits {
    /// The pool.
    pub pool: String,
    /// The weight that is asked for.
    pub needs: u64,
    /// The size of the pool.
    pub size: u64,
}

impl Permits {
    /// Full pools.
    #[must_use]
    pub fn new(pools: &[Pool]) -> Self {
        let state = |pool: &Pool| State { name: pool.name.clone(), size: pool.size, free: pool.size };
        Self { pools: pools.iter().map(state).collect() }
    }

    /// The same pools, smaller by this claim for good.
    ///
    /// # Errors
    /// The claim is larger than a pool.
    pub fn without(mut self, claim: &[(usize, u64)]) -> Result<Self, NeverFits> {
        self.ever_fits(claim)?;
        for (pool, weight) in claim {
            self.pools[*pool].size -= weight;
            self.pools[*pool].free -= weight;
        }
        Ok(self)
    }

    /// The first pool that has less free than the claim wants.
    #[must_use]
    pub fn lacking(&self, claim: &[(usize, u64)]) -> Option<usize> {
        claim.iter().find(|(pool, weight)| self.pools[*pool].free < *weight).map(|(pool, _)| *pool)
    }

    /// Takes the claim, all of it or nothing; `false` if it is not free.
    #[must_use]
    pub fn take(&mut self, claim: &[(usize, u64)]) -> bool {
        if self.lacking(claim).is_some() {
            return false;
        }
        for (pool, weight) in claim {
            self.pools[*pool].free -= weight;
        }
        true
    }

    /// Gives back what [`Self::take`] took.
    ///
    /// # Panics
    /// If more comes back than was taken: permits would have been invented.
    pub fn give_back(&mut self, claim: &[(usize, u64)]) {
        for (pool, weight) in claim {
            let state = &mut self.pools[*pool];
            state.free += weight;
            assert!(state.free <= state.size, "pool `{}` got back more permits than it gave", state.name);
        }
    }

    /// Whether the claim fits into empty pools.
    ///
    /// # Errors
    /// The first pool that is too small for it.
    pub fn ever_fits(&self, claim: &[(usize, u64)]) -> Result<(), NeverFits> {
        match claim.iter().find(|(pool, weight)| self.pools[*pool].size < *weight) {
            None => Ok(()),
            Some((pool, needs)) => {
                let State { name, size, .. } = &self.pools[*pool];
                Err(NeverFits { pool: name.clone(), needs: *needs, size: *size })
            }
        }
    }

    /// What a pool is called.
    #[must_use]
    pub fn name(&self, pool: usize) -> &str {
        &self.pools[pool].name
    }

    /// Free units of a pool.
    #[must_use]
    pub fn free(&self, pool: usize) -> u64 {
        self.pools[pool].free
    }

    /// Units of a pool, free and taken.
    #[must_use]
    pub fn size(&self, pool: usize) -> u64 {
        self.pools[pool].size
    }

    /// Free units of a pool, `None` behind the last pool.
    #[must_use]
    pub fn get_free(&self, pool: usize) -> Option<u64> {
        self.pools.get(pool).map(|pool| pool.free)
    }

    /// Whether every permit is at home.
    #[must_use]
    pub fn all_home(&self) -> bool {
        self.pools.iter().all(|pool| pool.free == pool.size)
    }
}

/// Adds the weights of `more` to `claim`, pool by pool.
pub fn add_to_claim(claim: &mut Claim, more: impl IntoIterator<Item = (usize, u64)>) {
    for (pool, weight) in more {
        match claim.iter_mut().find(|(has, _)| *has == pool) {
            Some((_, sum)) => *sum = sum.saturating_add(weight),
            None => claim.push((pool, weight)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Unit;

    fn pools() -> Permits {
        let pool = |name: &str, size| Pool { name: name.into(), size, unit: Unit::Count };
        Permits::new(&[pool("mem_heavy", 2), pool("ram", 100)])
    }

    #[test]
    fn a_claim_is_taken_whole_or_not_at_all() {
        let mut permits = pools();
        assert!(permits.take(&[(0, 1), (1, 60)]));
        assert!(!permits.take(&[(0, 1), (1, 60)]));
        assert_eq!((permits.free(0), permits.free(1)), (1, 40), "nothing was taken of pool 0");
        permits.give_back(&[(0, 1), (1, 60)]);
        assert!(permits.all_home());
    }

    #[test]
    fn what_never_fits_says_the_numbers() {
        let error = pools().ever_fits(&[(0, 1), (1, 101)]).unwrap_err();
        assert_eq!(error.to_string(), "needs 101 of pool `ram`, which has 100");
    }

    #[test]
    #[should_panic(expected = "more permits than it gave")]
    fn permits_are_not_invented() {
        pools().give_back(&[(0, 1)]);
    }

    #[test]
    fn what_is_taken_for_good_makes_the_pool_smaller() {
        let permits = pools().without(&[(1, 60)]).unwrap();
        assert!(permits.all_home());
        assert_eq!(permits.ever_fits(&[(1, 41)]).unwrap_err().size, 40);
        assert!(pools().without(&[(1, 101)]).is_err());
    }

    #[test]
    fn claims_add_up_by_pool() {
        let mut claim = vec![(0, 1)];
        add_to_claim(&mut claim, [(1, 5), (0, 2), (1, u64::MAX)]);
        assert_eq!(claim, [(0, 3), (1, u64::MAX)]);
    }

    /// Every order in which three claims can be taken and given back over small pools: what is free and what is out
    /// always add up to the pools, a claim is refused exactly when a pool has too little, and in the end all is home.
    #[test]
    fn every_small_state_conserves_the_pools() {
        let weights = || (0..=2_u64).flat_map(|a| (0..=2_u64).map(move |b| [(0, a), (1, b)]));
        let pool = |size| Pool { name: "p".into(), size, unit: Unit::Count };
        let mut states = 0_u32;
        for sizes in [[1, 1], [1, 2], [2, 2], [3, 2]] {
            for first in weights() {
                for second in weights() {
                    for third in weights() {
                        let permits = Permits::new(&[pool(sizes[0]), pool(sizes[1])]);
                        walk(&permits, sizes, &[first, second, third], [State3::Outside; 3], &mut states);
                    }
                }
            }
        }
        assert!(states > 20_000, "{states} states");
    }

    #[derive(Clone, Copy, PartialEq)]
    enum State3 {
        Outside,
        Taken,
        Back,
    }

    fn walk(permits: &Permits, sizes: [u64; 2], claims: &[[(usize, u64); 2]; 3], at: [State3; 3], states: &mut u32) {
        *states += 1;
        let out = |pool: usize| -> u64 {
            (0..3).filter(|claim| at[*claim] == State3::Taken).map(|claim| claims[claim][pool].1).sum()
        };
        (0..2).for_each(|pool| assert_eq!(permits.free(pool) + out(pool), sizes[pool]));
        if at.iter().all(|state| *state != State3::Taken) {
            assert!(permits.all_home());
        }
        for claim in 0..3 {
            let (mut next, mut moved) = (permits.clone(), at);
            match at[claim] {
                State3::Outside => {
                    let fits = claims[claim].iter().all(|(pool, weight)| permits.free(*pool) >= *weight);
                    assert_eq!(next.take(&claims[claim]), fits);
                    if !fits {
                        (0..2).for_each(|pool| assert_eq!(next.free(pool), permits.free(pool), "nothing was taken"));
                        continue;
                    }
                    moved[claim] = State3::Taken;
                }
                State3::Taken => {
                    next.give_back(&claims[claim]);
                    moved[claim] = State3::Back;
                }
                State3::Back => continue,
            }
            walk(&next, sizes, claims, moved, states);
        }
    }
}
