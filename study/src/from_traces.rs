//! A cost model from traces of a graph's own runs.

use std::path::Path;

use pipeline_runtime::plan::{Plan, Role, StagePlan};
use pipeline_runtime::sim::{Calibration, Costs, StageCost, Work};
use pipeline_runtime::tags::Tags;

use crate::numbers::Kind;
use crate::{Conditions, Study, StudyError, Submitted, Trace};

/// What a fit to traces is told beside them.
#[derive(Clone, PartialEq, Debug)]
pub struct TracedOn {
    /// The machine's name: a SKU.
    pub sku: String,
    /// Who measured what, when.
    pub source: String,
    /// The constraints of the circuit that was proved; other circuits cost in proportion. 0: any circuit costs the same.
    pub constraints: u64,
}

/// One run of the fit: a trace, and how far the simulator is off.
#[derive(Clone, PartialEq, Debug)]
pub struct TracedRow {
    /// Jobs in all.
    pub jobs: u32,
    /// Jobs in flight.
    pub concurrency: u32,
    /// Measured seconds for each job.
    pub measured_s: f64,
    /// Simulated seconds for each job.
    pub simulated_s: f64,
}

impl TracedRow {
    /// Simulated / measured − 1.
    #[must_use]
    pub fn off(&self) -> f64 {
        self.simulated_s / self.measured_s - 1.0
    }
}

/// Finds what each stage's firings cost alone, such that together they take as long as in the traces.
///
/// A stage is one piece of work: on a device its seconds, on the host core-seconds on the threads of its placement (one
/// thread without). What a firing took in the trace is more than that, as others ran beside it; so the costs are
/// simulated, and moved by what they are off, until they are not. `study` has the machine, and what its costs say of the
/// host (`smt_gain` and so on) stays.
///
/// # Errors
/// A trace is of another graph or takes no time, or a run cannot be simulated.
pub fn fit_traces(
    study: &Study,
    traces: &[Trace],
    told: &TracedOn,
    progress: &dyn Fn(u32, f64),
) -> Result<(Costs, Vec<TracedRow>), StudyError> {
    const ROUNDS: u32 = 40;
    const CLOSE: f64 = 1e-4;
    let plan = study.plan();
    for trace in traces {
        let strange = |stage: &str| plan.stages.iter().all(|other| other.name != stage);
        let other = trace.firings.iter().any(|firing| strange(&firing.stage));
        if other || (&trace.graph, &trace.digest) != (&plan.graph, &plan.digest) {
            return Err(StudyError::OtherGraph {
                traced: trace.graph.clone(),
                traced_digest: trace.digest.clone(),
                graph: plan.graph.clone(),
                digest: plan.digest.clone(),
                file: study.file().to_owned(),
            });
        }
    }
    if let Some(trace) = traces.iter().find(|trace| !Kind::Measured.takes(trace.seconds())) {
        let why = format!("the trace of graph `{}` lasts {} s: there is nothing to fit", trace.graph, trace.seconds());
        return Err(StudyError::NoModel(why));
    }
    let measured: Vec<Option<f64>> = plan.stages.iter().map(|stage| mean(traces, &stage.name)).collect();
    let mut costs = first_guess(study.costs(), &plan, &measured, told);
    for round in 0..ROUNDS {
        let simulated = simulated_means(study, &plan, traces, &costs)?;
        let mut worst = 0.0_f64;
        for ((stage, measured), simulated) in plan.stages.iter().zip(&measured).zip(simulated) {
            let (Some(measured), Some(simulated)) = (measured, simulated) else { continue };
            if simulated <= 0.0 {
                continue;
            }
            let factor = measured / simulated;
            worst = worst.max((factor - 1.0).abs());
            let pieces = costs.stages.get_mut(&stage.name).into_iter().flat_map(|cost| &mut cost.work);
            pieces.for_each(|work| {
                (work.core_s, work.gpu_s, work.wait_s) =
                    (work.core_s * factor, work.gpu_s * factor, work.wait_s * factor)
            });
        }
        progress(round, worst);
        if worst < CLOSE {
            break;
        }
    }
    let rows = traces.iter().map(|trace| row(study, trace, &costs)).collect::<Result<Vec<_>, _>>()?;
    let mut errors: Vec<f64> = rows.iter().map(|row| row.off().abs()).collect();
    errors.sort_by(f64::total_cmp);
    costs.calibration = Some(Calibration {
        source: told.source.clone(),
        sku: told.sku.clone(),
        median_error: errors.get(errors.len() / 2).copied().unwrap_or(0.0),
        worst_error: errors.last().copied().unwrap_or(0.0),
        rows: u32::try_from(rows.len()).unwrap_or(u32::MAX),
        left_out_median: None,
        left_out_worst: None,
    });
    Ok((costs, rows))
}

pub(crate) fn mean(traces: &[Trace], stage: &str) -> Option<f64> {
    let means: Vec<f64> = traces.iter().filter_map(|trace| trace.mean_s(stage)).collect();
    (!means.is_empty()).then(|| means.iter().sum::<f64>() / means.len() as f64)
}

fn first_guess(start: &Costs, plan: &Plan, measured: &[Option<f64>], told: &TracedOn) -> Costs {
    let guess = |(stage, measured): (&StagePlan, &Option<f64>)| {
        let seconds = measured.unwrap_or(0.0);
        let mut work = Work { name: stage.name.clone(), ..Work::default() };
        if stage.device.is_some() {
            work.gpu_s = seconds;
        } else if stage.role == Role::Dealloc {
            work.wait_s = seconds;
        } else if stage.tags.contains(Tags::CCD_PINNED) {
            // On all threads of its placement.
            (work.core_s, work.threads) = (seconds, 0);
        } else {
            (work.core_s, work.threads) = (seconds, 1);
        }
        (stage.name.clone(), StageCost { work: vec![work], ..StageCost::default() })
    };
    let stages = plan.stages.iter().zip(measured).map(guess).collect();
    Costs { version: 1, calibration: None, constraints: told.constraints, stages, ..start.clone() }
}

fn report_of(study: &Study, trace: &Trace, costs: &Costs) -> Result<pipeline_runtime::sim::Report, StudyError> {
    let study = Study { costs: Costs { constraints: 0, ..costs.clone() }, ..study.clone() };
    let submitted = Submitted {
        jobs: u32::try_from(trace.jobs.len()).unwrap_or(u32::MAX),
        concurrency: trace.concurrency(),
        partitions: trace.jobs.iter().map(|job| job.partitions).max(),
    };
    study.run(submitted, &Conditions::default())
}

fn simulated_means(
    study: &Study,
    plan: &Plan,
    traces: &[Trace],
    costs: &Costs,
) -> Result<Vec<Option<f64>>, StudyError> {
    let mut sums: Vec<(f64, u32)> = vec![(0.0, 0); plan.stages.len()];
    for trace in traces {
        for (stage, (sum, count)) in report_of(study, trace, costs)?.stages.iter().zip(&mut sums) {
            if stage.firings > 0 && trace.mean_s(&stage.name).is_some() {
                (*sum, *count) = (*sum + stage.busy_s / stage.firings as f64, *count + 1);
            }
        }
    }
    Ok(sums.into_iter().map(|(sum, count)| (count > 0).then(|| sum / f64::from(count))).collect())
}

fn row(study: &Study, trace: &Trace, costs: &Costs) -> Result<TracedRow, StudyError> {
    let report = report_of(study, trace, costs)?;
    let jobs = u32::try_from(trace.jobs.len()).unwrap_or(u32::MAX);
    let measured_s = trace.seconds() / f64::from(jobs.max(1));
    Ok(TracedRow { jobs, concurrency: trace.concurrency(), measured_s, simulated_s: report.seconds_per_job() })
}

/// The cost model that traces start from where the user gives none: a host as most are, and no stages.
#[must_use]
pub fn no_costs() -> Costs {
    Costs { version: 1, ..Costs::default() }
}

/// The name of a machine that the user did not name: that of the graph's SKU, or of the graph.
#[must_use]
pub fn name_of_machine(study: &Study, graph: &Path) -> String {
    let plan = study.plan();
    plan.sku.map_or_else(|| graph.file_stem().unwrap_or_default().to_string_lossy().into_owned(), |sku| sku.name)
}
