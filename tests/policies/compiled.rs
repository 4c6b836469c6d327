//! The compiled pipeline itself with mocked stages: its types, its wiring, its workers and edges, and no proofs.

use std::path::Path;
use std::sync::Arc;

use proofline::runtime::exec::Options;
use proofline::runtime::export::Graph;
use proofline::runtime::mock::{Gate, Mock, lockstep, mock_all};
use proofline::runtime::policy::OldestFirst;
use proofline::{Cause, CircuitShape, Job, Pipeline, ProvingKey, WitnessSource, setup, unwatched};

#[test]
fn the_compiled_pipeline_grants_what_the_simulator_grants() {
    let circom = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/circom");
    let shape = Arc::new(CircuitShape::from_r1cs(&circom.join("poseidon_m7.r1cs")).unwrap());
    let parameters = setup::generate(&shape, &setup::Entropy::Seed("mocked"), &unwatched).unwrap();
    let key = Arc::new(ProvingKey::new(parameters));
    let job = || {
        let witness = || WitnessSource::from_wtns(&shape, &circom.join("poseidon_m7.wtns")).unwrap();
        Job::new(Arc::clone(&shape), Arc::clone(&key), vec![witness(), witness(), witness()]).unwrap()
    };

    let plan = Pipeline::plan();
    let mocked = mock_all(&plan)
        .with(Mock::stage("synthesize").core_s(20.0).spread(0.3))
        .with(Mock::stage("spmv").core_s(9.0).per_job(&[1.0, 2.0]))
        .with(Mock::stage("gpu_ntt_msm").core_s(7.0).panics_on(1, 1))
        .with(Mock::stage("assemble").core_s(0.5).fails_on(2, 0))
        .jobs(4, 4)
        .partitions(3);
    let run = mocked.run(&mut OldestFirst).unwrap();
    let gate = Gate::new();
    let running = mocked.start::<Pipeline>(&gate, Options::default()).unwrap();
    let handles: Vec<_> = (0..4).map(|_| running.submit(job()).unwrap()).collect();
    let ends = lockstep(&run, &running, &gate).unwrap_or_else(|divergence| panic!("{divergence}"));
    assert!(ends > 40, "{ends} firings ended in the same order");

    let outcomes: Vec<_> = handles.into_iter().map(|handle| handle.wait()).collect();
    let cause = |number: usize| outcomes[number].as_ref().unwrap_err().cause.clone();
    assert!(matches!(cause(1), Cause::Panicked(_)), "{:?}", cause(1));
    assert!(matches!(cause(2), Cause::Failed(_)), "{:?}", cause(2));
    for number in [0, 3] {
        let proofs = outcomes[number].as_ref().unwrap();
        assert!(proofs.len() == 3 && proofs.iter().all(|proof| proof.bytes == [0; 192]), "nothing was proved");
    }
    running.drain();
    assert!(running.is_idle());
}
