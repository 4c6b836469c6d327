//! Whole proofs. All have the same key, witness, r and s, and must have the same bytes.

use std::cell::RefCell;
use std::error::Error;

use proofline::VerifyingKey;
use proofline::verify::{PreparedKey, ProofPoints};
use proofline_kernels::Scalar;
use proofline_kernels::scalars::{Counts, ScalarSet};

use crate::limits::Limits;
use crate::provers::{self, BELLPERSON, OURS, PORTABLE};
use crate::subject::Subject;
use crate::table::{Bar, Contender, Table, rounds};

/// The portable path has no peer to beat but arkworks.
const PORTABLE_AGAINST_ARK: Bar = Bar { required: 1.5, goal: 1.5 };

/// What a circuit must reach against arkworks and bellperson.
fn bars(circuit: &str) -> [Bar; 2] {
    if circuit.starts_with("poseidon") {
        [Bar { required: 4.5, goal: 6.5 }, Bar { required: 5.0, goal: 7.5 }]
    } else {
        [Bar { required: 3.5, goal: 5.5 }, Bar { required: 6.0, goal: 9.0 }]
    }
}

/// A circuit proved with each of the provers, the portable path too if it is wanted.
pub fn proofs(
    subject: &Subject,
    portable: bool,
    runs: usize,
    table: &mut Table,
    limits: &Limits,
) -> Result<(), Box<dyn Error>> {
    let key = PreparedKey::new(&VerifyingKey::read(&subject.key)?);
    let public = subject.public();
    let expected: RefCell<Option<Vec<u8>>> = RefCell::new(None);
    let mut contenders: Vec<Contender<'_>> = Vec::new();
    for name in [OURS, "ark-groth16", BELLPERSON, PORTABLE].into_iter().filter(|name| portable || *name != PORTABLE) {
        let prover = provers::open(name, subject)?;
        let (key, public, expected) = (&key, &public, &expected);
        contenders.push((
            name,
            Box::new(move || {
                let proof = prover.prove()?;
                // The check of the first proof, some milliseconds, is in the round that is not counted.
                let mut expected = expected.borrow_mut();
                if expected.is_none() && !key.verify(&ProofPoints::parse(&proof)?, public)? {
                    return Err("a proof does not verify".into());
                }
                if *expected.get_or_insert_with(|| proof.clone()) != proof {
                    return Err("the provers' proofs differ".into());
                }
                Ok(())
            }),
        ));
    }
    let times = rounds(runs, contenders)?;
    let work = format!("proof of {} ({} constraints)", subject.name, subject.shape.constraints());
    let [ark, bellperson] = bars(&subject.name);
    let limit = limit(subject, limits) / rayon::current_num_threads() as f64;
    table.times(&work, "ark-groth16", (&times[0], &times[1]), Some(ark), &limits.note(limit, &times[0]));
    table.times(&work, BELLPERSON, (&times[0], &times[2]), Some(bellperson), "");
    if let Some(portable) = times.get(3) {
        let work = format!("{work}, portable path");
        table.times(&work, "ark-groth16", (portable, &times[1]), Some(PORTABLE_AGAINST_ARK), "");
    }
    Ok(())
}

/// Seconds of one thread for the transforms and additions of a proof, at the rate of the multipliers alone.
fn limit(subject: &Subject, limits: &Limits) -> f64 {
    let [a, b, _] = subject.shape.matrices().column_densities();
    let of = |scalars: &[Scalar]| {
        let mut set = ScalarSet::new();
        set.fill(scalars);
        set.counts()
    };
    let [a, b] = [a, b].map(|map| of(&map.ones().map(|column| subject.witness[column]).collect::<Vec<_>>()));
    let l = of(&subject.witness[subject.shape.inputs()..]);
    let units = |counts: &Counts| counts.ones + counts.minus_ones + 4 * counts.small;
    let g1 = |counts: &Counts| limits.g1_msm(counts.full) + limits.g1_additions(units(counts));
    let domain = subject.shape.domain();
    7.0 * limits.ntt(domain.log_size())
        + limits.g1_msm(domain.size() - 1)
        + g1(&l)
        + g1(&a)
        + g1(&b)
        + limits.g2_msm(b.full)
        + limits.g2_additions(units(&b))
}
