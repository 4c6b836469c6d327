//! Stored queries are the queries that were stored.

use ff::Field;
use group::Group;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::{G1Affine, G1Projective, G2Affine, G2Projective};

/// Points, every fifth of them at infinity if asked for.
fn points<C: Curve>(generator: C::Projective, count: usize, with_infinity: bool) -> Vec<C> {
    let mut rng = ChaCha8Rng::seed_from_u64(count as u64);
    let point = |i| if with_infinity && i % 5 == 2 { C::zero() } else { generator * Scalar::random(&mut rng) };
    affine_many(&(0..count).map(point).collect::<Vec<_>>())
}

fn plain<C: Curve>(points: &[C]) -> Vec<u8> {
    let kept = points.iter().filter(|point| !point.is_infinity());
    kept.flat_map(|point| {
        let mut bytes = vec![0xaa; C::PLAIN_BYTES];
        point.to_plain(&mut bytes);
        assert_eq!(C::from_plain(&bytes), Some(*point));
        bytes
    })
    .collect()
}

fn infinities<C: Curve>(points: &[C]) -> Vec<u32> {
    (0..points.len() as u32).filter(|i| points[*i as usize].is_infinity()).collect()
}

fn load<C: Curve>(
    len: usize,
    infinities: &[u32],
    bytes: &[u8],
    path: Path,
) -> Result<Query<C>, LoadError<&'static str>> {
    Query::load(Stored { len, infinities, points_per_piece: 3 }, path, |first, out| {
        out.copy_from_slice(
            bytes.get(first * C::PLAIN_BYTES..).and_then(|rest| rest.get(..out.len())).ok_or("too short")?,
        );
        Ok(())
    })
}

fn same_sums<C: Curve>(generator: C::Projective) {
    for (count, with_infinity) in [(0, false), (1, false), (4, true), (100, false), (101, true)] {
        let points = points::<C>(generator, count, with_infinity);
        let (bytes, infinities) = (plain(&points), infinities(&points));
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let scalars: Vec<_> = points.iter().map(|_| Scalar::random(&mut rng)).collect();
        for path in Path::all() {
            let loaded = load::<C>(count, &infinities, &bytes, path).unwrap();
            let made = Query::with_path(points.clone(), path);
            let workspace = Workspace::new();
            assert_eq!((loaded.len(), loaded.bytes()), (made.len(), made.bytes()));
            assert_eq!(
                loaded.msm_dense(&scalars, &workspace),
                made.msm_dense(&scalars, &workspace),
                "{count} points, {}",
                path.name()
            );
        }
    }
}

#[test]
fn sums_over_a_stored_query() {
    same_sums::<G1Affine>(G1Projective::generator());
    same_sums::<G2Affine>(G2Projective::generator());
}

#[test]
fn what_is_no_stored_query_is_refused() {
    let points = points::<G1Affine>(G1Projective::generator(), 10, true);
    let (bytes, infinities) = (plain(&points), infinities(&points));
    for path in Path::all() {
        for wrong in [&[7, 2][..], &[2, 2], &[2, 10], &[u32::MAX]] {
            let error = load::<G1Affine>(10, wrong, &bytes, path).unwrap_err();
            assert!(matches!(error, LoadError::Infinities { len: 10 }), "{wrong:?}: {error}");
        }
        let error = load::<G1Affine>(11, &infinities, &bytes, path).unwrap_err();
        assert!(matches!(error, LoadError::Read("too short")), "{error}");
        for coordinate in [8, 9] {
            // p itself, the least number that is not below it.
            let mut bytes = bytes.clone();
            let prime = crate::words::PRIME.map(u64::to_le_bytes).concat();
            bytes[coordinate * 48..][..48].copy_from_slice(&prime);
            let error = load::<G1Affine>(10, &infinities, &bytes, path).unwrap_err();
            assert!(matches!(error, LoadError::NoPoint { index: 4 }), "{error}");
        }
        let mut zero = bytes.clone();
        zero[..96].fill(0);
        let error = load::<G1Affine>(10, &infinities, &zero, path).unwrap_err();
        assert!(matches!(error, LoadError::NoPoint { index: 0 }), "{error}");
    }
    assert_eq!(G1Affine::from_plain(&bytes[..95]), None);
    assert_eq!(G2Affine::from_plain(&[0; 192]), None);
}
