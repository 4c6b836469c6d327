//! Stored points, taken to IFMA form eight components at a time.

use super::batch::Packed;
use super::vector::{LANES, each};
use super::{Ifma, fp};

/// Takes points from their plain form (`msm::load`) to the form that they have here.
///
/// # Errors
/// The first point that is none: a component is not below p, or y is zero.
///
/// # Panics
/// If there are not as many plain forms as points.
pub(super) fn convert<const K: usize>(proof: Ifma, plain: &[u8], points: &mut [Packed<K>]) -> Result<(), usize> {
    let all = points.as_flattened_mut().as_flattened_mut();
    let (plain, rest) = plain.as_chunks::<8>();
    assert!(rest.is_empty() && plain.len() == all.len() * fp::WORDS, "the plain forms are not those of the points");
    for (word, bytes) in all.as_flattened_mut().iter_mut().zip(plain) {
        *word = u64::from_le_bytes(*bytes);
    }
    let none = points.iter().position(|[_, y]| y.as_flattened().iter().all(|word| *word == 0));
    // SAFETY: `proof` proves the features.
    let above = unsafe { from_blst(proof, points.as_flattened_mut().as_flattened_mut()) }.err();
    let above = above.map(|component| component / (2 * K));
    none.into_iter().chain(above).min().map_or(Ok(()), Err)
}

/// Takes components from blst's form to ours, both canonical; or says which one is not below p.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx512ifma")]
fn from_blst(proof: Ifma, components: &mut [[u64; fp::WORDS]]) -> Result<(), usize> {
    for (group, components) in components.chunks_mut(LANES).enumerate() {
        let mut eight = [[0; fp::WORDS]; LANES];
        eight[..components.len()].copy_from_slice(components);
        let x = fp::load_words(proof, each!([&eight[0]; LANES], lane => &eight[lane]));
        let above = !fp::canonical_lanes(&x);
        if above != 0 {
            return Err(group * LANES + above.trailing_zeros() as usize);
        }
        fp::store_words(&fp::canonical(&fp::mul(&x, &fp::from_blst_factor(proof))), &mut eight);
        components.copy_from_slice(&eight[..components.len()]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::words::PRIME;

    /// p − 1 − n.
    fn below_prime(n: u64) -> [u64; fp::WORDS] {
        let mut words = PRIME;
        words[0] -= 1 + n;
        words
    }

    #[test]
    fn components_of_any_number_are_those_that_the_scalar_way_gives() {
        let Some(proof) = Ifma::detect() else { return };
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut all: Vec<[u64; fp::WORDS]> = vec![[0; 6], [1, 0, 0, 0, 0, 0], below_prime(0), below_prime(1)];
        // The top word of p is above 2^60.
        all.extend((0..40).map(|_| {
            let mut words: [u64; fp::WORDS] = rng.r#gen();
            words[fp::WORDS - 1] >>= 4;
            words
        }));
        for count in 0..all.len() {
            let mut got = all[..count].to_vec();
            // SAFETY: `proof` proves the features.
            assert_eq!(unsafe { from_blst(proof, &mut got) }, Ok(()));
            let want = all[..count].iter().map(|l| fp::from_blst(&blst::blst_fp { l: *l }));
            assert!(got.into_iter().eq(want), "{count} components");
        }
    }

    #[test]
    fn a_component_above_is_found_wherever_it_stands() {
        let Some(proof) = Ifma::detect() else { return };
        let mut next = PRIME;
        next[0] += 1;
        for above in [PRIME, next, [u64::MAX; 6], [0, 0, 0, 0, 0, PRIME[5] + 1]] {
            for at in 0..19 {
                let mut components = vec![below_prime(0); 19];
                components[at] = above;
                // SAFETY: `proof` proves the features.
                assert_eq!(unsafe { from_blst(proof, &mut components) }, Err(at));
            }
        }
    }
}
