//! Random numbers that depend on what they are for, not on when they are drawn.

use crate::key::TokenKey;

/// Uniform in [0, 1) for a stage's firing, from a seed: SplitMix64's mixing over all of them.
pub(crate) fn unit(seed: u64, stage: usize, key: TokenKey) -> f64 {
    let words = [stage as u64, key.job.0, u64::from(key.partition)];
    let mixed = words.into_iter().fold(mix(seed), |state, word| mix(state ^ word));
    // The upper 53 bits fill a double's mantissa.
    (mixed >> 11) as f64 / (1_u64 << 53) as f64
}

fn mix(word: u64) -> u64 {
    let mut mixed = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::JobId;

    #[test]
    fn draws_are_spread_and_depend_on_every_word() {
        let at = |seed, stage, job, partition| unit(seed, stage, TokenKey { job: JobId(job), partition });
        let mean: f64 = (0..1000).map(|job| at(1, 0, job, 0)).sum::<f64>() / 1000.0;
        assert!((0.45..0.55).contains(&mean), "{mean}");
        let one = at(1, 2, 3, 4);
        for other in [at(2, 2, 3, 4), at(1, 3, 3, 4), at(1, 2, 4, 4), at(1, 2, 3, 5)] {
            assert!(one != other);
        }
    }
}
