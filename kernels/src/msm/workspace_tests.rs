//! Memory of multiplications: it stops growing, it is enough when it was prepared, and it is shared.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ff::Field;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::mix_tests::Known;
use super::tests::{mixed_scalars, naive, random_points};
use super::*;
use crate::G1Affine;

/// A multiplication after others of the same sizes finds all memory that it needs.
#[test]
fn a_workspace_stops_growing() {
    let mut rng = ChaCha8Rng::seed_from_u64(10);
    let points = random_points::<G1Affine>(&mut rng, 700);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for path in Path::all() {
        let query = Query::with_path(points.clone(), path);
        let workspace = Workspace::new();
        let mut kept = Vec::new();
        for _ in 0..4 {
            let scalars = mixed_scalars(&mut rng, points.len());
            let mut set = ScalarSet::new();
            set.fill(&scalars);
            let dense: Vec<Scalar> = (0..points.len()).map(|_| Scalar::random(&mut rng)).collect();
            let sums =
                pool.install(|| (query.msm(&set, Density::FULL, &workspace), query.msm_dense(&dense, &workspace)));
            assert_eq!(sums, (naive(&points, &scalars), naive(&points, &dense)), "{}", path.name());
            kept.push(workspace.bytes());
        }
        assert!(kept[1] > 0 && kept[1..].iter().all(|bytes| *bytes <= kept[1] + kept[1] / 8), "{kept:?}");
    }
}

/// The memory of a batch, which the workspace does not count among its own.
fn scratch<C: Curve>(path: Path) -> usize {
    let lists = match path {
        Path::Portable => <C::Portable as Adder<C>>::SCRATCH_LISTS,
        #[cfg(target_arch = "x86_64")]
        Path::Ifma(_) => <C::Ifma as Adder<C>>::SCRATCH_LISTS,
    };
    lists.iter().map(|bytes| proofline_memory::taken(*bytes)).sum()
}

/// The lists that a preparation makes are those that it says, in their order: they have room in arrays of their lengths.
#[test]
fn a_workspace_in_lent_memory_maps_nothing() {
    use proofline_memory::{Arena, Lender, Pages, have_room};
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    let n = 1 << 12;
    let points = random_points::<G1Affine>(&mut rng, n);
    let scalars = mixed_scalars(&mut rng, n);
    let want = naive(&points, &scalars);
    for (path, threads) in Path::all().into_iter().flat_map(|path| [(path, 1), (path, 3)]) {
        let query = Query::with_path(points.clone(), path);
        let whole = |bytes: &usize| bytes.next_multiple_of(64);
        let room: usize = query.prepared_lists(threads).iter().map(whole).sum();
        assert!(have_room(&[room], query.prepared_lists(threads)));
        assert!(!have_room(&[room - 64], query.prepared_lists(threads)));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for (room, maps) in [(room, false), (room / 2, true)] {
            let arena = Arena::default();
            let lender = Lender::new(vec![Pages::filled(room / 8, 0xdead_beef_u64)]);
            let before = arena.counts();
            let workspace = Workspace::in_arena(&lender.arena(&arena));
            let sum = pool.install(|| {
                query.prepare(&workspace, threads);
                query.msm_dense(&scalars, &workspace)
            });
            assert_eq!(G1Affine::from(sum), G1Affine::from(want), "{}", path.name());
            assert_eq!(arena.counts().maps > before.maps, maps, "{}, {threads} threads", path.name());
            drop(workspace);
            assert!(lender.take_back(0u64).is_some());
        }
    }
}

/// After [`Query::prepare`] no multiplication maps anything, whatever the classes of its scalars.
#[test]
fn a_prepared_workspace_has_room_for_any_scalars() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let n = 1 << 15;
    let points = random_points::<G1Affine>(&mut rng, n);
    let threads = 3;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    for path in Path::all() {
        let query = Query::with_path(points.clone(), path);
        let arena = proofline_memory::Arena::default();
        let workspace = Workspace::in_arena(&arena);
        pool.install(|| query.prepare(&workspace, threads));
        let prepared = arena.counts();
        assert!(prepared.maps > 0);
        assert_eq!(
            workspace.bytes() + threads * scratch::<G1Affine>(path),
            query.prepared_bytes(threads),
            "{}",
            path.name()
        );
        let full: Vec<Scalar> = (0..n).map(|_| Scalar::random(&mut rng)).collect();
        let small: Vec<Scalar> = (0..n).map(|_| Scalar::from(rng.r#gen::<u64>())).collect();
        for scalars in [&full, &small, &vec![Scalar::ONE; n], &vec![-Scalar::ONE; n], &mixed_scalars(&mut rng, n)] {
            let mut set = ScalarSet::new();
            set.fill(scalars);
            let sums =
                pool.install(|| (query.msm(&set, Density::FULL, &workspace), query.msm_dense(scalars, &workspace)));
            assert_eq!(sums.0, sums.1, "{}", path.name());
            assert_eq!(arena.counts(), prepared, "{}", path.name());
        }
    }
}

/// One workspace, used by several multiplications of several queries at once, on pools of one thread and of many, in turn
/// with calls that panic: sums are right, and what panicked has taken nothing away.
#[test]
fn a_workspace_is_shared_at_once_and_survives_panics() {
    let mut rng = ChaCha8Rng::seed_from_u64(23);
    for path in Path::all() {
        let workspace = Workspace::new();
        let long = Known::<G1Affine>::of((0..3000).map(|_| Scalar::random(&mut rng)).collect());
        let short = Known::<G1Affine>::of((0..70).map(|_| Scalar::random(&mut rng)).collect());
        let queries = [&long, &short].map(|known| Query::with_path(known.points.clone(), path));
        let scalars: Vec<Scalar> = (0..3000).map(|_| Scalar::random(&mut rng)).collect();
        let wants = [&long, &short].map(|known| known.sum(&scalars));
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let multiply = |which: usize| {
                let scalars = &scalars[..queries[which].len()];
                let mut set = ScalarSet::new();
                set.fill(scalars);
                let sums = [
                    queries[which].msm(&set, Density::FULL, &workspace),
                    queries[which].msm_dense(scalars, &workspace),
                ];
                assert!(sums.into_iter().all(|sum| G1Affine::from(sum) == wants[which]), "{} threads", threads);
            };
            std::thread::scope(|scope| {
                for which in [0, 1, 0] {
                    let (pool, multiply) = (&pool, &multiply);
                    scope.spawn(move || pool.install(|| rayon::join(|| multiply(which), || multiply(1 - which))));
                }
            });
            let broken = catch_unwind(AssertUnwindSafe(|| {
                pool.install(|| match path {
                    Path::Portable => panics_inside(&workspace.portable, &G1Affine::portable(short.points.clone())),
                    #[cfg(target_arch = "x86_64")]
                    Path::Ifma(proof) => panics_inside(&workspace.ifma, &G1Affine::ifma(proof, &short.points)),
                })
            }));
            assert!(broken.is_err());
            let before = workspace.bytes();
            pool.install(|| multiply(0));
            assert!(before > 0 && workspace.bytes() >= before);
        }
    }
}

/// Panics with memory of every kind in its hands.
fn panics_inside<A: Adder<G1Affine>>(pool: &Pool<G1Affine, A>, adder: &A) {
    pool.with_terms(|terms| {
        let _room = terms.room(9, 36);
        pool.with_window((9, 9), |window| {
            window.sorted.entries.extend([1, 2, 3]);
            pool.with_pieces(3, |_| pool.with_task(adder, |_| panic!("in the middle")))
        })
    })
}

/// After [`Query::prepare`] nothing is mapped, also where buckets are so large that they are cut into pieces, and many of them
/// are to be summed: a thread that waits for the pieces of one takes up no other.
#[test]
fn a_prepared_workspace_has_room_for_many_huge_buckets() {
    let n = 1 << 18;
    let threads = 3;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let step = G1Affine::standard_generator();
    let points = vec![step; n];
    for path in Path::all() {
        let query = Query::with_path(points.clone(), path);
        let arena = proofline_memory::Arena::default();
        let workspace = Workspace::in_arena(&arena);
        pool.install(|| query.prepare(&workspace, threads));
        let prepared = arena.counts();
        // The same digits in every window, two of them.
        let scalars: Vec<Scalar> =
            (0..n).map(|k| Scalar::from([u64::MAX / 0xffff, u64::MAX / 0xffff * 2][k % 2])).collect();
        let mut set = ScalarSet::new();
        set.fill(&scalars);
        let want = G1Affine::from(crate::G1Projective::from(step) * scalars.iter().sum::<Scalar>());
        for round in 0..3 {
            assert_eq!(
                G1Affine::from(pool.install(|| query.msm(&set, Density::FULL, &workspace))),
                want,
                "{}",
                path.name()
            );
            assert_eq!(arena.counts(), prepared, "round {round}, {}", path.name());
        }
    }
}
