//! This crate against arkworks and blst in one run: `cargo bench -p proofline-kernels [-- ROW…]`.
//!
//! One thread, its own CPU time (so that neighbours on a shared machine weigh less), contenders interleaved, medians.
//! `-- msm-g1 18` runs one row at 2^18, `-- msm-g1 18 portable` those of its contenders whose names say so.

use std::hint::black_box;
use std::time::Duration;

use ark_ec::{CurveGroup, VariableBaseMSM};
use ark_ff::{AdditiveGroup, PrimeField as _, UniformRand};
use ark_poly::EvaluationDomain as _;
use ff::{Field, PrimeField};
use proofline_kernels::Path;
use proofline_kernels::domain::Domain;
use proofline_kernels::msm::{Curve, Query, Workspace, affine_many};
use proofline_kernels::{G1Affine, G1Projective, G2Affine, Scalar};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

const RUNS: usize = 7;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let wanted = arguments.first().map(String::as_str);
    let log = |default: u32| arguments.get(1).and_then(|a| a.parse().ok()).unwrap_or(default);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    println!("{:<28} {:>12}   contenders and how many times slower they are", "row", "ours");
    for (name, row) in [
        ("field", (|_| field()) as fn(u32)),
        ("mixed-add", |_| mixed_add()),
        ("ntt", ntt),
        ("msm-g1", msm_g1),
        ("msm-g2", msm_g2),
    ] {
        if wanted.is_none_or(|wanted| wanted == name) {
            pool.install(|| row(log(if name == "ntt" { 18 } else { 16 })));
        }
    }
}

/// CPU time of the calling thread.
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live timespec; the clock exists on every Linux.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(status, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// One contender: its name and one run.
type Contender<'a> = (&'a str, Box<dyn FnMut() + 'a>);

/// Whether a contender is asked for.
fn is_wanted(name: &str) -> bool {
    std::env::args().skip(1).filter(|a| !a.starts_with("--")).nth(2).is_none_or(|wanted| name.contains(&wanted))
}

/// Runs all contenders in turn, and prints medians per unit and ratios to the first.
fn compare(row: &str, units: usize, mut contenders: Vec<Contender<'_>>) {
    contenders.retain(|(name, _)| is_wanted(name));
    if contenders.is_empty() {
        return;
    }
    let mut times = vec![Vec::new(); contenders.len()];
    for run in 0..=RUNS {
        for ((_, contender), times) in contenders.iter_mut().zip(&mut times) {
            let start = cpu_time();
            contender();
            // The first run warms up.
            if run > 0 {
                times.push(cpu_time() - start);
            }
        }
    }
    let medians: Vec<f64> = times
        .iter_mut()
        .map(|times| {
            times.sort();
            times[times.len() / 2].as_nanos() as f64 / units as f64
        })
        .collect();
    let peers: Vec<String> = contenders[1..]
        .iter()
        .zip(&medians[1..])
        .map(|((name, _), time)| format!("{name} {time:.1} (×{:.2})", time / medians[0]))
        .collect();
    println!("{row:<28} {:>9.1} ns   {}", medians[0], peers.join(", "));
}

fn field() {
    const N: usize = 200_000;
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (a, b) = (Scalar::random(&mut rng), Scalar::random(&mut rng));
    let (c, d) = (ark_bls12_381::Fr::rand(&mut rng), ark_bls12_381::Fr::rand(&mut rng));
    let chain = |mut x: Scalar| {
        (0..N).for_each(|_| x *= b);
        black_box(x);
    };
    let ark_chain = |mut x: ark_bls12_381::Fr| {
        (0..N).for_each(|_| x *= d);
        black_box(x);
    };
    compare("Fr product (blst)", N, vec![("blst", Box::new(|| chain(a))), ("ark", Box::new(|| ark_chain(c)))]);
    let e = ark_bls12_381::Fq::rand(&mut rng);
    let mut x = blst::blst_fp { l: e.0.0 };
    let f = x;
    let ours = || {
        // SAFETY: operands are live, and blst allows the result to alias an operand.
        (0..N).for_each(|_| unsafe { blst::blst_fp_mul(&mut x, &x, &f) });
        black_box(x);
    };
    let theirs = || {
        let mut x = e;
        (0..N).for_each(|_| x *= e);
        black_box(x);
    };
    compare("Fp product (blst)", N, vec![("blst", Box::new(ours)), ("ark", Box::new(theirs))]);
}

fn mixed_add() {
    const N: usize = 50_000;
    let points = walk::<G1Affine>(64);
    let ark: Vec<_> = points.iter().map(ark_g1).collect();
    let ours = || {
        let mut sum = G1Projective::from(points[0]);
        (0..N).for_each(|i| sum += &points[i % 64]);
        black_box(sum);
    };
    let theirs = || {
        let mut sum = ark_bls12_381::G1Projective::ZERO;
        (0..N).for_each(|i| sum += ark[i % 64]);
        _ = black_box(sum);
    };
    compare("G1 mixed addition (blst)", N, vec![("blst", Box::new(ours)), ("ark", Box::new(theirs))]);
}

fn ntt(log: u32) {
    let domain = Domain::for_rows(1 << log).expect("in range");
    let theirs = ark_poly::Radix2EvaluationDomain::<ark_bls12_381::Fr>::new(1 << log).expect("in range");
    let portable = Domain::with_path(1 << log, Path::Portable).expect("in range");
    let scalars = scalars(1 << log);
    let mut x = scalars.clone();
    let mut z = scalars.clone();
    let mut y: Vec<_> = scalars.iter().map(ark_fr).collect();
    compare(
        &format!("NTT 2^{log}, per value"),
        1 << log,
        vec![
            ("ours", Box::new(|| domain.fft(&mut x))),
            ("ark", Box::new(|| theirs.fft_in_place(&mut y))),
            ("ours, portable", Box::new(|| portable.fft(&mut z))),
        ],
    );
    let (mut a, mut b, mut c) = (scalars.clone(), scalars.clone(), scalars.clone());
    let (mut d, mut e, mut f) = (scalars.clone(), scalars.clone(), scalars);
    compare(
        &format!("quotient 2^{log}, per value"),
        1 << log,
        vec![
            (
                "ours",
                Box::new(|| {
                    domain.quotient(proofline_kernels::domain::Convention::Coefficients, &mut a, &mut b, &mut c);
                }),
            ),
            (
                "ours, portable",
                Box::new(|| {
                    portable.quotient(proofline_kernels::domain::Convention::Coefficients, &mut d, &mut e, &mut f);
                }),
            ),
        ],
    );
}

fn msm_g1(log: u32) {
    let points = walk::<G1Affine>(1 << log);
    let scalars = scalars(1 << log);
    let query = Query::new(points.clone());
    let portable = Query::with_path(points.clone(), Path::Portable);
    let workspace = Workspace::new();
    let ark_points: Vec<_> = points.iter().map(ark_g1).collect();
    let ark_scalars: Vec<_> = scalars.iter().map(ark_fr).collect();
    let blst_points: Vec<_> = points.iter().map(|p| *p.as_ref()).collect();
    let bytes: Vec<u8> = scalars.iter().flat_map(|x| x.to_repr()).collect();
    let theirs = ark_bls12_381::G1Projective::msm(&ark_points, &ark_scalars).expect("equal lengths").into_affine();
    assert_eq!(
        ark_g1(&query.msm_dense(&scalars, &workspace).into()),
        theirs,
        "times mean nothing if the results differ"
    );
    compare(
        &format!("MSM G1 2^{log}, per point"),
        1 << log,
        vec![
            ("ours", Box::new(|| _ = black_box(query.msm_dense(&scalars, &workspace)))),
            ("ark", Box::new(|| _ = black_box(ark_bls12_381::G1Projective::msm(&ark_points, &ark_scalars)))),
            ("blst", Box::new(|| _ = black_box(blst_g1(&blst_points, &bytes)))),
            ("ours, portable", Box::new(|| _ = black_box(portable.msm_dense(&scalars, &workspace)))),
        ],
    );
}

fn msm_g2(log: u32) {
    let points = walk::<G2Affine>(1 << log);
    let scalars = scalars(1 << log);
    let query = Query::new(points.clone());
    let portable = Query::with_path(points.clone(), Path::Portable);
    let workspace = Workspace::new();
    let ark_points: Vec<_> = points.iter().map(ark_g2).collect();
    let ark_scalars: Vec<_> = scalars.iter().map(ark_fr).collect();
    let theirs = ark_bls12_381::G2Projective::msm(&ark_points, &ark_scalars).expect("equal lengths").into_affine();
    assert_eq!(
        ark_g2(&query.msm_dense(&scalars, &workspace).into()),
        theirs,
        "times mean nothing if the results differ"
    );
    compare(
        &format!("MSM G2 2^{log}, per point"),
        1 << log,
        vec![
            ("ours", Box::new(|| _ = black_box(query.msm_dense(&scalars, &workspace)))),
            ("ark", Box::new(|| _ = black_box(ark_bls12_381::G2Projective::msm(&ark_points, &ark_scalars)))),
            ("ours, portable", Box::new(|| _ = black_box(portable.msm_dense(&scalars, &workspace)))),
        ],
    );
}

/// blst's own Pippenger on one thread.
fn blst_g1(points: &[blst::blst_p1_affine], scalars: &[u8]) -> blst::blst_p1 {
    let mut out = blst::blst_p1::default();
    let pointers = [points.as_ptr(), std::ptr::null()];
    let scalar_pointers = [scalars.as_ptr(), std::ptr::null()];
    // SAFETY: both arrays are null-terminated lists that stand for contiguous inputs of the stated number, scalars of
    // 255 bits take 32 bytes each, and the scratch has the size that blst asks for.
    unsafe {
        let words = blst::blst_p1s_mult_pippenger_scratch_sizeof(points.len()) / 8;
        let mut scratch = vec![0u64; words];
        blst::blst_p1s_mult_pippenger(
            &mut out,
            pointers.as_ptr(),
            points.len(),
            scalar_pointers.as_ptr(),
            255,
            scratch.as_mut_ptr(),
        );
    }
    out
}

fn walk<C: Curve>(n: usize) -> Vec<C> {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let step = C::from(C::Projective::from(C::standard_generator()) * Scalar::random(&mut rng));
    let mut at = C::Projective::from(C::standard_generator()) * Scalar::random(&mut rng);
    let points: Vec<_> = (0..n)
        .map(|_| {
            at += &step;
            at
        })
        .collect();
    affine_many(&points)
}

fn scalars(n: usize) -> Vec<Scalar> {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    (0..n).map(|_| Scalar::random(&mut rng)).collect()
}

fn ark_fr(x: &Scalar) -> ark_bls12_381::Fr {
    ark_bls12_381::Fr::from_le_bytes_mod_order(&x.to_repr())
}

fn ark_fq(bytes: &[u8]) -> ark_bls12_381::Fq {
    ark_bls12_381::Fq::from_be_bytes_mod_order(bytes)
}

fn ark_g1(p: &G1Affine) -> ark_bls12_381::G1Affine {
    let bytes = p.to_uncompressed();
    ark_bls12_381::G1Affine::new_unchecked(ark_fq(&bytes[..48]), ark_fq(&bytes[48..]))
}

fn ark_g2(p: &G2Affine) -> ark_bls12_381::G2Affine {
    // The encoding puts c1 before c0.
    let bytes = p.to_uncompressed();
    let field2 = |bytes: &[u8]| ark_bls12_381::Fq2::new(ark_fq(&bytes[48..]), ark_fq(&bytes[..48]));
    ark_bls12_381::G2Affine::new_unchecked(field2(&bytes[..96]), field2(&bytes[96..]))
}
