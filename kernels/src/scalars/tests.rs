use ff::Field;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

/// Scalars at every border between classes.
fn borders() -> Vec<(Scalar, &'static str)> {
    let two_64 = Scalar::from(u64::MAX) + Scalar::ONE;
    let magnitudes = [
        (Scalar::from(2), "small"),
        (Scalar::from(255), "small"),
        (Scalar::from(u64::MAX), "small"),
        (two_64, "full"),
        (two_64 + Scalar::ONE, "full"),
        (two_64.square(), "full"),
    ];
    let mut out = vec![(Scalar::ZERO, "zero"), (Scalar::ONE, "one"), (-Scalar::ONE, "minus one")];
    for (magnitude, class) in magnitudes {
        out.extend([(magnitude, class), (-magnitude, class)]);
    }
    out
}

/// Every scalar that the set stands for, by position.
fn values(set: &ScalarSet) -> Vec<Scalar> {
    let mut out = vec![Scalar::ZERO; set.len()];
    for block in (0..set.block_count()).map(|at| set.block(at)) {
        for &k in block.ones {
            out[k as usize] += Scalar::ONE;
        }
        for &k in block.minus_ones {
            out[k as usize] -= Scalar::ONE;
        }
        for small in block.small {
            let value = Scalar::from(small.magnitude());
            out[small.position() as usize] += if small.is_negative() { -value } else { value };
        }
        for full in block.full {
            let mut repr = [0; 32];
            for (bytes, limb) in repr.chunks_mut(8).zip(full.limbs()) {
                bytes.copy_from_slice(&limb.to_le_bytes());
            }
            out[full.position() as usize] += Scalar::from_repr_vartime(repr).unwrap();
        }
    }
    out
}

#[test]
fn borders_fall_into_their_classes() {
    for (scalar, class) in borders() {
        let mut set = ScalarSet::new();
        set.fill(&[scalar]);
        let counts = set.counts();
        let found = [
            (counts.zeros, "zero"),
            (counts.ones, "one"),
            (counts.minus_ones, "minus one"),
            (counts.small, "small"),
            (counts.full, "full"),
        ];
        for (count, name) in found {
            assert_eq!(count, usize::from(name == class), "{scalar:?} as {name}");
        }
        assert_eq!(values(&set), [scalar]);
    }
}

#[test]
fn a_set_stands_for_its_scalars() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let borders = borders();
    let mut set = ScalarSet::new();
    for len in [0, 1, PER_BLOCK - 1, PER_BLOCK, PER_BLOCK + 1, 3 * PER_BLOCK + 7] {
        let scalars: Vec<_> = (0..len)
            .map(|_| match rng.gen_range(0..3) {
                0 => Scalar::random(&mut rng),
                _ => borders[rng.gen_range(0..borders.len())].0,
            })
            .collect();
        set.fill(&scalars);
        assert_eq!(set.len(), len);
        assert_eq!(values(&set), scalars, "{len} scalars");
    }
}

/// Regions have no word to spare where all scalars are of one class, or of two.
#[test]
fn a_region_has_room_for_any_classes() {
    let borders = borders();
    let mut set = ScalarSet::new();
    for (one, _) in &borders {
        for (other, _) in &borders {
            for len in [1, 2, 7] {
                let scalars: Vec<_> = (0..len).map(|k| if k % 2 == 0 { *one } else { *other }).collect();
                set.fill(&scalars);
                assert_eq!(values(&set), scalars);
            }
        }
    }
}

#[test]
fn wiping_erases_and_keeps_the_memory() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut set = ScalarSet::new();
    let scalars: Vec<_> = (0..PER_BLOCK + 100)
        .map(|k| [Scalar::random(&mut rng), Scalar::from(5), -Scalar::from(7), Scalar::ONE, -Scalar::ONE][k % 5])
        .collect();
    set.fill(&scalars);
    let bytes = set.bytes();
    assert!(bytes >= BYTES_EACH * scalars.len());
    set.wipe();
    assert_eq!((set.len(), set.block_count(), set.bytes()), (0, 0, bytes));
    set.words.set_len(WORDS_EACH * scalars.len(), 1);
    assert!(set.words.iter().all(|word| *word == 0));
    set.fill(&[Scalar::from(9)]);
    assert_eq!(values(&set), [Scalar::from(9)]);
}

#[test]
fn its_debug_text_has_no_values() {
    let mut set = ScalarSet::new();
    set.fill(&[Scalar::from(123_456_789)]);
    assert!(!format!("{set:?}").contains("123456789"));
    assert!(format!("{set:?}").contains("small: 1"));
}
