//! The last permit of a pool is for critical jobs: what others want waits while somebody else runs.

use proofline::runtime::event::Event;
use proofline::runtime::mock::{Mock, Run, example_plan, mock_all};
use proofline::runtime::policy::{OldestFirst, Policy, State, Waiting};
use proofline::runtime::stage::Priority;

/// The pool whose last permit is kept.
struct KeepsOneForUrgentJobs(usize);

impl Policy for KeepsOneForUrgentJobs {
    fn name(&self) -> &str {
        "keeps_one_for_urgent_jobs"
    }

    fn choose(&mut self, state: &State<'_>) -> Option<usize> {
        let urgent = |firing: &Waiting| firing.priority == Priority::Critical;
        let legal = || (0..state.waiting.len()).filter(|at| state.waiting[*at].is_legal());
        let spares = |firing: &Waiting| {
            let wants = firing.claim.iter().find(|(pool, _)| *pool == self.0).map_or(0, |(_, weight)| *weight);
            wants == 0 || state.free[self.0] > wants
        };
        let runs_something = state.stages.iter().any(|stage| stage.running > 0);
        legal()
            .find(|at| urgent(&state.waiting[*at]))
            .or_else(|| legal().find(|at| spares(&state.waiting[*at]) || !runs_something))
    }
}

#[test]
fn critical_jobs_come_sooner_and_nobody_starves() {
    use Priority::{Critical, Low};
    let plan = example_plan();
    let mocks = mock_all(&plan)
        .with(Mock::stage("left").core_s(5.0).per_job(&[1.0, 2.0, 1.5]))
        .with(Mock::stage("right").core_s(8.0).spread(0.2))
        .jobs(24, 8)
        .priorities(&[Low, Low, Low, Critical]);
    let latency = |run: &Run| {
        let mut sum = 0.0;
        for (at, event) in &run.events {
            match event {
                Event::Accepted { job, .. } if job.0 % 4 == 3 => sum -= at.as_secs_f64(),
                Event::Finished { job, .. } if job.0 % 4 == 3 => sum += at.as_secs_f64(),
                _ => {}
            }
        }
        sum
    };
    let (by_age, kept) = (mocks.run(&mut OldestFirst).unwrap(), mocks.run(&mut KeepsOneForUrgentJobs(0)).unwrap());
    assert!(latency(&kept) < latency(&by_age), "{} {}", latency(&kept), latency(&by_age));
    assert_eq!(kept.report.jobs, 24);
}

#[test]
fn an_illegal_answer_names_the_policy() {
    struct Last;
    impl Policy for Last {
        fn name(&self) -> &str {
            "last"
        }
        fn choose(&mut self, state: &State<'_>) -> Option<usize> {
            Some(state.waiting.len())
        }
    }
    let plan = example_plan();
    let error = mock_all(&plan).run(&mut Last).unwrap_err().to_string();
    assert_eq!(error, "policy `last` chose firing number 1 of 1 that wait");
}
