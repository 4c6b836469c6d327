//! Among the firings that could start now, the one whose CCD has least to do; equals by age.

use proofline::runtime::mock::{Mock, mock_all};
use proofline::runtime::policy::{OldestFirst, Policy, State, first_by};

struct QuietCcdFirst;

impl Policy for QuietCcdFirst {
    fn name(&self) -> &str {
        "quiet_ccd_first"
    }

    fn choose(&mut self, state: &State<'_>) -> Option<usize> {
        first_by(state, |firing| firing.ccd.map_or(0, |ccd| state.ccds[ccd as usize]))
    }
}

#[test]
fn a_machine_of_twelve_ccds_that_is_not_there_runs_both_alike() {
    let plan = super::threadripper();
    let mocks = mock_all(&plan)
        .with(Mock::stage("synthesize").core_s(29.0).dram(40e9, 0.3))
        .with(Mock::stage("spmv").core_s(70.0).threads(8).dram(74e9, 0.5).spread(0.2))
        .with(Mock::stage("gpu_ntt_msm").gpu_s(1.5).vram(0.4e9).locked())
        .jobs(10, 5)
        .partitions(4);
    let (by_age, by_ccd) = (mocks.run(&mut OldestFirst).unwrap(), mocks.run(&mut QuietCcdFirst).unwrap());
    assert_eq!((by_age.report.jobs, by_ccd.report.jobs), (10, 10));
    let ratio = by_ccd.report.seconds / by_age.report.seconds;
    assert!((0.7..1.3).contains(&ratio), "the products have two workers, so little is to be won: {ratio}");
    assert!(by_ccd != by_age, "but it decides otherwise");
}
