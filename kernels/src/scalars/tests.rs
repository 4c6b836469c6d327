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
    for &k in set.ones() {
        out[k as usize] += Scalar::ONE;
    }
    for &k in set.minus_ones() {
        out[k as usize] -= Scalar::ONE;
    }
    for small in set.small() {
        let value = Scalar::from(small.magnitude());
        out[small.position() as usize] += if small.is_negative() { -value } else { value };
    }
    for full in set.full() {
        let mut repr = [0; 32];
        for (bytes, limb) in repr.chunks_mut(8).zip(full.limbs()) {
            bytes.copy_from_slice(&limb.to_le_bytes());
        }
        out[full.position() as usize] += Scalar::from_repr_vartime(repr).unwrap();
    }
    out
}

#[test]
fn borders_fall_into_their_classes() {
    for (scalar, class) in borders() {
        let mut set = ScalarSet::new();
        set.fill(&[scalar], None);
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
    for len in [0, 1, SCALARS_PER_TASK - 1, SCALARS_PER_TASK, SCALARS_PER_TASK + 1, 3 * SCALARS_PER_TASK + 7] {
        let scalars: Vec<_> = (0..len)
            .map(|_| match rng.gen_range(0..3) {
                0 => Scalar::random(&mut rng),
                _ => borders[rng.gen_range(0..borders.len())].0,
            })
            .collect();
        set.fill(&scalars, None);
        assert_eq!(set.len(), len);
        assert_eq!(values(&set), scalars, "{len} scalars");
    }
}

#[test]
fn positions_choose_and_order() {
    let scalars = [7u64, 1, 0, 9].map(Scalar::from);
    let mut set = ScalarSet::new();
    set.fill(&scalars, Some(&[3, 1, 3, 2]));
    assert_eq!(values(&set), [9u64, 1, 9, 0].map(Scalar::from));
    set.fill(&scalars, Some(&[]));
    assert!(set.is_empty());
}

#[test]
fn wiping_erases_and_keeps_the_memory() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let scalars: Vec<_> = (0..100).map(|_| Scalar::random(&mut rng)).collect();
    let mut set = ScalarSet::new();
    set.fill(&scalars, None);
    let bytes = set.bytes();
    assert!(bytes >= 100 * size_of::<Full>());
    set.wipe();
    assert_eq!((set.len(), set.full().len(), set.bytes()), (0, 0, bytes));
}

#[test]
fn its_debug_text_has_no_values() {
    let mut set = ScalarSet::new();
    set.fill(&[Scalar::from(123_456_789)], None);
    assert!(!format!("{set:?}").contains("123456789"));
    assert!(format!("{set:?}").contains("small: 1"));
}
