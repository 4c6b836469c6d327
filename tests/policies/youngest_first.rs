//! A policy of mine.

use proofline::prelude::*;

#[test]
fn some_proof_waits_longer_when_the_youngest_goes_first() {
    let plan = Pipeline::plan();
    let spmv = Mock::stage("spmv").core_s(30.0).threads(8).spread(0.2);
    let mocks = mock_all(&plan).with(spmv).jobs(20, 15);
    let mut youngest_first =
        from_fn("youngest_first", |state| state.waiting.iter().rposition(|firing| firing.is_legal()));
    let old = mocks.run(&mut OldestFirst).unwrap().report;
    let young = mocks.run(&mut youngest_first).unwrap().report;
    assert!(young.worst_latency_s > old.worst_latency_s);
}
