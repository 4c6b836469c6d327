//! Real proofs through the compiled pipeline, among delays, failures and cancellations.

use std::sync::Arc;
use std::time::Duration;

use bellpepper_core::SynthesisError;
use blstrs::Scalar;
use ff::Field;
use proofline::runtime::event::{Event, Observer};
use proofline::setup::{Entropy, generate};
use proofline::{Cause, CircuitShape, Error, Job, Options, Prover, ProvingKey, WitnessSource, unwatched};
use proofline_e2e::bellman;
use proofline_e2e::circuits::{LateInputs, Squarings};
use proofline_stages::params::{PARAMS_FILE, Parameters};

/// Holds each firing up for a time that looks random, so that tokens overtake one another.
struct Delays {
    seed: u64,
}

impl Observer for Delays {
    fn event(&self, _: Duration, event: &Event) {
        if let Event::Started { stage, worker, key, .. } = event {
            let parts = [*stage as u64, u64::from(*worker), key.job.0, u64::from(key.partition)];
            let mixed = parts.iter().fold(self.seed, |sum, part| (sum ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            std::thread::sleep(Duration::from_micros(mixed >> 54));
        }
    }
}

/// A circuit with a key, and bellperson's view of the key.
struct Subject {
    shape: Arc<CircuitShape>,
    key: Arc<ProvingKey>,
    theirs: bellperson::groth16::Parameters<blstrs::Bls12>,
}

impl Subject {
    fn new(name: &str, shape: CircuitShape) -> Self {
        let parameters: Parameters = generate(&shape, &Entropy::Seed(name), &unwatched).unwrap();
        let folder = tempfile::tempdir().unwrap();
        parameters.write(folder.path()).unwrap();
        let theirs = bellman::read(&folder.path().join(PARAMS_FILE));
        Self { shape: Arc::new(shape), key: Arc::new(ProvingKey::new(parameters)), theirs }
    }

    fn job(&self, witnesses: Vec<WitnessSource>) -> Job {
        Job::new(Arc::clone(&self.shape), Arc::clone(&self.key), witnesses).unwrap()
    }

    fn accepts(&self, proof: &[u8], public: &[Scalar]) -> bool {
        bellman::accepts(&self.theirs.vk, proof, public)
    }
}

const SQUARINGS: usize = 30;
const POWERS: usize = 5;

fn squarings(x: u64) -> (Vec<Scalar>, WitnessSource) {
    let x = Scalar::from(x);
    let public = Squarings::public(x, SQUARINGS);
    (public.clone(), WitnessSource::circuit(public, Squarings { x: Some(x), squarings: SQUARINGS }))
}

fn late_inputs(x: u64) -> (Vec<Scalar>, WitnessSource) {
    let x = Scalar::from(x);
    let public = LateInputs::public(x, POWERS);
    (public.clone(), WitnessSource::circuit(public, LateInputs { x: Some(x), powers: POWERS }))
}

#[test]
fn every_other_proof_is_right_and_nothing_leaks() {
    let first = Subject::new(
        "first",
        CircuitShape::from_circuit("squarings", Squarings { x: None, squarings: SQUARINGS }).unwrap(),
    );
    let second = Subject::new(
        "second",
        CircuitShape::from_circuit("late inputs", LateInputs { x: None, powers: POWERS }).unwrap(),
    );
    for seed in 0..12 {
        let observer = Arc::new(Delays { seed });
        let prover = Prover::with(Options { observer, ..Options::default() }).unwrap();
        let mut expected = Vec::new();
        let mut handles = Vec::new();
        for number in 0..3 {
            let (publics, sources): (Vec<_>, Vec<_>) = (0..3).map(|x| squarings(2 + 10 * number + x)).unzip();
            expected.push((&first, publics));
            handles.push(prover.submit(first.job(sources)).unwrap());
            let (publics, sources): (Vec<_>, Vec<_>) = (0..2).map(|x| late_inputs(3 + 10 * number + x)).unzip();
            expected.push((&second, publics));
            handles.push(prover.submit(second.job(sources)).unwrap());
        }
        let (public, good) = squarings(5);
        let unable = WitnessSource::synthesis(public, |_| Err(SynthesisError::AssignmentMissing));
        let failing = prover.submit(first.job(vec![good, unable])).unwrap();
        let panicking = WitnessSource::synthesis(late_inputs(1).0, |_| panic!("a gadget's own panic"));
        let panicking = prover.submit(second.job(vec![panicking])).unwrap();
        let cancelled = prover.submit(first.job((0..4).map(|x| squarings(x).1).collect())).unwrap();
        cancelled.cancel();

        for (handle, (subject, publics)) in handles.into_iter().zip(expected) {
            let proofs = handle.wait().unwrap();
            assert_eq!(proofs.len(), publics.len());
            for (proof, public) in proofs.iter().zip(&publics) {
                assert!(subject.accepts(&proof.bytes, public), "seed {seed}: bellperson refuses a proof");
            }
        }
        let failure = failing.wait().unwrap_err();
        assert_eq!((failure.stage.as_deref(), failure.key.partition), (Some("synthesize"), 1), "{failure}");
        let Cause::Failed(cause) = &failure.cause else { panic!("{failure}") };
        assert!(matches!(cause.source_as::<Error>(), Some(Error::Synthesis { .. })), "{failure}");
        let failure = panicking.wait().unwrap_err();
        assert_eq!(failure.cause, Cause::Panicked("a gadget's own panic".into()));
        assert_eq!(cancelled.wait().unwrap_err().cause, Cause::Cancelled);
        prover.drain();
        assert!(prover.is_idle(), "seed {seed}");
    }
}

#[test]
fn an_unsatisfied_witness_fails_alone_and_its_row_is_named() {
    let shape = CircuitShape::from_circuit("squarings", Squarings { x: None, squarings: SQUARINGS }).unwrap();
    let subject = Subject::new("first", shape);
    let mut values = proofline_e2e::comparison::witness(
        &subject.shape,
        Squarings { x: Some(Scalar::from(3)), squarings: SQUARINGS },
    );
    let wrong = values.len() - 4;
    values[wrong] += Scalar::ONE;
    let wrong = WitnessSource::values(&subject.shape, values).unwrap();
    let prover = Prover::start().unwrap();
    let refused = prover.submit(subject.job(vec![squarings(2).1, wrong])).unwrap();
    let (public, right) = squarings(4);
    let accepted = prover.submit(subject.job(vec![right])).unwrap();
    let failure = refused.wait().unwrap_err();
    let Cause::Failed(cause) = &failure.cause else { panic!("{failure}") };
    assert!(matches!(cause.source_as::<Error>(), Some(Error::Unsatisfied { row, .. }) if *row > 0), "{failure}");
    assert!(subject.accepts(&accepted.wait().unwrap()[0].bytes, &public));
}

#[test]
fn a_key_of_another_circuit_of_the_same_shape_gives_no_proof() {
    // Equal numbers of everything, another constraint: only the verification can tell.
    let shape = |squarings| CircuitShape::from_circuit("squarings", Squarings { x: None, squarings }).unwrap();
    let subject = Subject::new("first", shape(SQUARINGS));
    let other = Subject::new("another", shape(SQUARINGS));
    let own = generate(&subject.shape, &Entropy::Seed("first"), &unwatched).unwrap();
    let mixed = ProvingKey::new(Parameters { vk: other.key.verifying_key().clone(), ..own });
    let job = Job::new(Arc::clone(&subject.shape), Arc::new(mixed), vec![squarings(2).1]).unwrap();
    let prover = Prover::start().unwrap();
    let failure = prover.submit(job).unwrap().wait().unwrap_err();
    assert_eq!(failure.stage.as_deref(), Some("assemble"));
    let Cause::Failed(cause) = &failure.cause else { panic!("{failure}") };
    assert!(matches!(cause.source_as::<Error>(), Some(Error::ProofRefused { .. })), "{failure}");
}
