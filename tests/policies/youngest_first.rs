use proofline::Pipeline;
use proofline::runtime::export::Graph;
use proofline::runtime::mock::{Mock, mock_all};
use proofline::runtime::policy::{OldestFirst, Policy, State};

struct YoungestFirst;
impl Policy for YoungestFirst {
    fn name(&self) -> &str {
        "youngest_first"
    }
    fn choose(&mut self, state: &State<'_>) -> Option<usize> {
        state.waiting.iter().rposition(|firing| firing.is_legal())
    }
}

#[test]
fn some_proof_waits_longer_when_the_youngest_goes_first() {
    let plan = Pipeline::plan();
    let mocks = mock_all(&plan).with(Mock::stage("spmv").core_s(30.0).threads(8).spread(0.2)).jobs(20, 15);
    let (old, young) = (mocks.run(&mut OldestFirst).unwrap(), mocks.run(&mut YoungestFirst).unwrap());
    assert!(young.report.worst_latency_s > old.report.worst_latency_s);
}
