//! Multi-scalar multiplications of full-size scalars.

use std::error::Error;
use std::hint::black_box;

use ark_ec::{CurveGroup, VariableBaseMSM};
use blst::MultiPoint;
use blstrs::{G1Affine, G2Affine, Scalar};
use ff::PrimeField;
use proofline_e2e::arkworks;
use proofline_kernels::Path;
use proofline_kernels::msm::{Curve, Query, Workspace, affine_many};
use rayon::prelude::*;

use crate::limits::Limits;
use crate::subject::random_scalars;
use crate::table::{Bar, Contender, Table, rounds};

const AGAINST_ARK: Bar = Bar { required: 5.0, goal: 7.5 };
const AGAINST_BLST: Bar = Bar { required: 3.5, goal: 5.0 };
const AGAINST_ARK_G2: Bar = Bar { required: 5.0, goal: 8.0 };

/// G1 of 2^`log` points, on one thread and on all, against arkworks and blst.
pub fn g1(log: u32, runs: usize, table: &mut Table, limits: &Limits) -> Result<(), Box<dyn Error>> {
    let n = 1 << log;
    let (points, scalars) = (walk::<G1Affine>(n), random_scalars(n, 3));
    let ark_points: Vec<_> = points.par_iter().map(arkworks::g1).collect();
    let ark_scalars: Vec<_> = scalars.par_iter().map(arkworks::scalar).collect();
    let blst_points: Vec<blst::blst_p1_affine> = points.iter().map(|point| *point.as_ref()).collect();
    let bytes: Vec<u8> = scalars.iter().flat_map(Scalar::to_repr).collect();
    let query = Query::with_path(points, Path::best());
    let workspace = Workspace::new();
    let expected = ark_bls12_381::G1Projective::msm(&ark_points, &ark_scalars).map_err(|_| "lengths")?.into_affine();
    let right = |sum: G1Affine| if arkworks::g1(&sum) == expected { Ok(()) } else { Err("a wrong sum") };
    right(query.msm_dense(&scalars, &workspace).into())?;
    for threads in [1, rayon::current_num_threads()] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let blst_run = || if threads == 1 { one_thread(&blst_points, &bytes) } else { blst_points.mult(&bytes, 255) };
        let contenders: Vec<Contender<'_>> = vec![
            ("ours", Box::new(|| Ok(right(pool.install(|| query.msm_dense(&scalars, &workspace)).into())?))),
            (
                "ark-ec",
                Box::new(|| {
                    _ = black_box(pool.install(|| ark_bls12_381::G1Projective::msm(&ark_points, &ark_scalars)));
                    Ok(())
                }),
            ),
            (
                "blst",
                Box::new(|| {
                    black_box(blst_run());
                    Ok(())
                }),
            ),
        ];
        let times = rounds(runs, contenders)?;
        let work = format!("G1 MSM 2^{log}, {}", of_threads(threads));
        let note = limits.note(limits.g1_msm(n) / threads as f64, &times[0]);
        table.times(&work, "ark-ec", (&times[0], &times[1]), Some(AGAINST_ARK), &note);
        table.times(&work, "blst's Pippenger", (&times[0], &times[2]), Some(AGAINST_BLST), "");
    }
    Ok(())
}

/// G2 of 2^`log` points on all threads, against arkworks.
pub fn g2(log: u32, runs: usize, table: &mut Table, limits: &Limits) -> Result<(), Box<dyn Error>> {
    let n = 1 << log;
    let (points, scalars) = (walk::<G2Affine>(n), random_scalars(n, 4));
    let ark_points: Vec<_> = points.par_iter().map(arkworks::g2).collect();
    let ark_scalars: Vec<_> = scalars.par_iter().map(arkworks::scalar).collect();
    let query = Query::with_path(points, Path::best());
    let workspace = Workspace::new();
    let expected = ark_bls12_381::G2Projective::msm(&ark_points, &ark_scalars).map_err(|_| "lengths")?.into_affine();
    let right = |sum: G2Affine| if arkworks::g2(&sum) == expected { Ok(()) } else { Err("a wrong sum") };
    let contenders: Vec<Contender<'_>> = vec![
        ("ours", Box::new(|| Ok(right(query.msm_dense(&scalars, &workspace).into())?))),
        (
            "ark-ec",
            Box::new(|| {
                _ = black_box(ark_bls12_381::G2Projective::msm(&ark_points, &ark_scalars));
                Ok(())
            }),
        ),
    ];
    let times = rounds(runs, contenders)?;
    let threads = rayon::current_num_threads();
    let note = limits.note(limits.g2_msm(n) / threads as f64, &times[0]);
    let work = format!("G2 MSM 2^{log}, {}", of_threads(threads));
    table.times(&work, "ark-ec", (&times[0], &times[1]), Some(AGAINST_ARK_G2), &note);
    Ok(())
}

pub fn of_threads(threads: usize) -> String {
    if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") }
}

/// blst's own Pippenger on the calling thread; its method on slices would take all cores.
fn one_thread(points: &[blst::blst_p1_affine], scalars: &[u8]) -> blst::blst_p1 {
    let mut out = blst::blst_p1::default();
    let pointers = [points.as_ptr(), std::ptr::null()];
    let scalar_pointers = [scalars.as_ptr(), std::ptr::null()];
    // SAFETY: both arrays are null-terminated lists that stand for contiguous inputs of the stated number, scalars of
    // 255 bits take 32 bytes each, and the scratch has the size that blst asks for.
    unsafe {
        let mut scratch = vec![0u64; blst::blst_p1s_mult_pippenger_scratch_sizeof(points.len()) / 8];
        let (points, scalars, count) = (pointers.as_ptr(), scalar_pointers.as_ptr(), points.len());
        blst::blst_p1s_mult_pippenger(&mut out, points, count, scalars, 255, scratch.as_mut_ptr());
    }
    out
}

/// Different points that nobody knows a relation of: multiples of one step from a start.
fn walk<C: Curve>(n: usize) -> Vec<C> {
    let [start, step] = [5, 6].map(|seed| C::Projective::from(C::standard_generator()) * random_scalars(1, seed)[0]);
    let step = C::from(step);
    let mut at = start;
    let points: Vec<_> = (0..n)
        .map(|_| {
            at += &step;
            at
        })
        .collect();
    affine_many(&points)
}
