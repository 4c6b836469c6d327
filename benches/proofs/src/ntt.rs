//! Transforms over Fr.

use std::error::Error;

use ark_poly::EvaluationDomain as _;
use bellperson::domain::EvaluationDomain;
use ec_gpu_gen::threadpool::Worker;
use proofline_e2e::arkworks;
use proofline_kernels::domain::Domain;

use crate::limits::Limits;
use crate::msm::of_threads;
use crate::subject::random_scalars;
use crate::table::{Bar, Contender, Table, rounds};

const AGAINST_ARK: Bar = Bar { required: 5.0, goal: 7.0 };
const AGAINST_BELLPERSON: Bar = Bar { required: 8.0, goal: 12.0 };

/// One transform of 2^`log` values; against bellperson on all threads, for its pool has no other number.
pub fn ntt(log: u32, runs: usize, table: &mut Table, limits: &Limits) -> Result<(), Box<dyn Error>> {
    let domain = Domain::for_rows(1 << log)?;
    let peer = ark_poly::Radix2EvaluationDomain::<ark_bls12_381::Fr>::new(1 << log).ok_or("a domain too large")?;
    let values = random_scalars(1 << log, 7);
    let (mut x, mut y): (_, Vec<_>) = (values.clone(), values.iter().map(arkworks::scalar).collect());
    domain.fft(&mut x);
    peer.fft_in_place(&mut y);
    let mut third = EvaluationDomain::from_coeffs(values)?;
    let worker = Worker::new();
    third.fft(&worker, &mut None)?;
    if x.iter().map(arkworks::scalar).ne(y.iter().copied()) || x.as_slice() != third.as_ref() {
        return Err("the transforms differ".into());
    }
    for threads in [1, rayon::current_num_threads()] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let mut contenders: Vec<Contender<'_>> = vec![
            (
                "ours",
                Box::new(|| {
                    pool.install(|| domain.fft(&mut x));
                    Ok(())
                }),
            ),
            (
                "ark-poly",
                Box::new(|| {
                    pool.install(|| peer.fft_in_place(&mut y));
                    Ok(())
                }),
            ),
        ];
        if threads > 1 {
            contenders.push(("bellperson", Box::new(|| Ok(third.fft(&worker, &mut None)?))));
        }
        let times = rounds(runs, contenders)?;
        let work = format!("NTT 2^{log}, {}", of_threads(threads));
        let note = limits.note(limits.ntt(log) / threads as f64, &times[0]);
        table.times(&work, "ark-poly", (&times[0], &times[1]), Some(AGAINST_ARK), &note);
        if let Some(theirs) = times.get(2) {
            table.times(&work, "bellperson", (&times[0], theirs), Some(AGAINST_BELLPERSON), "");
        }
    }
    Ok(())
}
