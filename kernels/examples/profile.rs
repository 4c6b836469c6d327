//! One kernel in a loop, for a profiler: `cargo run --release --example profile -- msm-g1 18 5`.

use std::time::Instant;

use ff::Field;
use proofline_kernels::domain::{Convention, Domain};
use proofline_kernels::msm::{Curve, Query, Workspace, affine_many};
use proofline_kernels::{G1Affine, G2Affine, Scalar};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default| arguments.get(at).and_then(|a| a.parse().ok()).unwrap_or(default);
    let (log, runs) = (number(1, 16), number(2, 5));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(number(3, 1) as usize).build().expect("threads");
    let scalars = scalars(1 << log);
    match arguments.first().map(String::as_str) {
        Some("msm-g1") => msm::<G1Affine>(&pool, &scalars, runs),
        Some("msm-g2") => msm::<G2Affine>(&pool, &scalars, runs),
        Some("ntt") => {
            let domain = Domain::for_rows(1 << log).expect("in range");
            let mut x = scalars;
            time(runs, x.len(), || pool.install(|| domain.fft(&mut x)));
        }
        Some("quotient") => {
            let domain = Domain::for_rows(1 << log).expect("in range");
            let (mut a, mut b, mut c) = (scalars.clone(), scalars.clone(), scalars);
            time(runs, 1 << log, || {
                pool.install(|| domain.quotient(Convention::Coefficients, &mut a, &mut b, &mut c));
            });
        }
        _ => eprintln!("usage: profile msm-g1|msm-g2|ntt|quotient [log2 of the size] [runs] [threads]"),
    }
}

fn msm<C: Curve>(pool: &rayon::ThreadPool, scalars: &[Scalar], runs: u32) {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let step = C::from(C::Projective::from(C::standard_generator()) * Scalar::random(&mut rng));
    let mut at = C::Projective::from(C::standard_generator());
    let walk: Vec<_> = scalars
        .iter()
        .map(|_| {
            at += &step;
            at
        })
        .collect();
    let query = Query::<C>::new(affine_many(&walk));
    let workspace = Workspace::new();
    time(runs, scalars.len(), || _ = std::hint::black_box(pool.install(|| query.msm_dense(scalars, &workspace))));
}

fn time(runs: u32, units: usize, mut run: impl FnMut()) {
    for _ in 0..runs {
        let start = Instant::now();
        run();
        println!("{:.1} ns per element", start.elapsed().as_nanos() as f64 / units as f64);
    }
}

fn scalars(n: usize) -> Vec<Scalar> {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    (0..n).map(|_| Scalar::random(&mut rng)).collect()
}
