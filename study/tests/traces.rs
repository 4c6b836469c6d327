//! Traces: written by the simulator and by threads, read by one reader, fitted to, and the same byte for byte.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pipeline_runtime::event::Observer;
use pipeline_runtime::exec::Options;
use pipeline_runtime::mock::{Gate, Mock, example_plan, mock_all};
use pipeline_runtime::policy::OldestFirst;
use pipeline_runtime::sim::{Costs, StageCost, Work};
use pipeline_runtime::trace::TraceWriter;
use proofline_study::{Conditions, Study, Submitted, TracedOn, fit_traces, no_costs, read_trace};

fn phase12(costs: Costs) -> Study {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../graphs/study/cuzk-phase12.ron");
    Study::with_costs(&file, costs).expect("the graph is lawful")
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn piece(core_s: f64, threads: u32, gpu_s: f64, wait_s: f64) -> StageCost {
    StageCost { work: vec![Work { core_s, threads, gpu_s, wait_s, ..Work::default() }], ..StageCost::default() }
}

fn trace_of(study: &Study, jobs: u32, concurrency: u32, seed: u64) -> Vec<u8> {
    let writer = TraceWriter::new(&study.plan(), Vec::new()).expect("memory can be written");
    let submitted = Submitted { jobs, concurrency, partitions: None };
    study.run(submitted, &Conditions { seed, observer: Some(&writer), ..Conditions::default() }).expect("it runs");
    writer.finish().expect("memory can be written")
}

#[test]
fn a_fit_to_traces_finds_the_costs_that_made_them() {
    let truth = [
        ("synthesize", piece(900.0, 0, 0.0, 0.0)),
        ("gpu_prove", piece(0.0, 0, 1.7, 0.0)),
        ("b_g2_msm", piece(40.0, 0, 0.0, 0.0)),
        ("assemble", piece(0.6, 1, 0.0, 0.0)),
        ("dealloc", piece(0.0, 0, 0.0, 0.2)),
    ];
    let stages = truth.iter().map(|(name, cost)| ((*name).to_owned(), cost.clone())).collect();
    let study = phase12(Costs { stages, ..no_costs() });
    let traces: Vec<_> = [(3, 1), (8, 6)]
        .into_iter()
        .map(|(jobs, concurrency)| {
            let file = scratch(&format!("truth-{concurrency}.json"));
            std::fs::write(&file, trace_of(&study, jobs, concurrency, 0)).expect("a scratch file can be written");
            read_trace(&file).expect("what was written can be read")
        })
        .collect();
    assert_eq!((traces[1].jobs.len(), traces[1].concurrency(), traces[1].firings.len()), (8, 6, 8 * 10 * 7));
    let told = TracedOn { sku: "tr-pro-7995wx-rtx5070ti".into(), source: "a test".into(), constraints: 0 };
    let (costs, rows) = fit_traces(&phase12(no_costs()), &traces, &told, &|_, _| ()).expect("the fit runs");
    for (name, cost) in truth {
        let (made, found) = (&cost.work[0], &costs.stages[name].work[0]);
        for (made, found) in [(made.core_s, found.core_s), (made.gpu_s, found.gpu_s), (made.wait_s, found.wait_s)] {
            assert!((found - made).abs() <= 0.01 * made, "{name}: {found} for {made}");
        }
    }
    assert!(rows.iter().all(|row| row.off().abs() < 0.01), "{rows:?}");
    let calibration = costs.calibration.expect("a fit is a calibration");
    assert!(calibration.rows == 2 && calibration.worst_error < 0.01);
}

#[test]
fn the_same_input_is_the_same_trace_byte_for_byte() {
    let study = || {
        let mut study = phase12(no_costs());
        let stages = [("synthesize", piece(900.0, 0, 0.0, 0.0)), ("gpu_prove", piece(0.0, 0, 1.7, 0.0))];
        let spread = |cost: StageCost| StageCost { spread: 0.4, ..cost };
        study = phase12(Costs {
            stages: stages.into_iter().map(|(name, cost)| (name.to_owned(), spread(cost))).collect(),
            ..study.costs().clone()
        });
        study.set("policy=random_legal(3)").expect("there is such a policy");
        study
    };
    let first = trace_of(&study(), 6, 4, 7);
    assert!(first.len() > 10_000);
    assert!(first == trace_of(&study(), 6, 4, 7));
    assert!(first != trace_of(&study(), 6, 4, 8), "another seed is another trace");
}

#[test]
fn threads_and_simulator_write_what_one_reader_reads() {
    let plan = example_plan();
    let mocked = mock_all(&plan).with(Mock::stage("left").core_s(2.0).fails_on(1, 0)).jobs(3, 3).partitions(2);
    let simulated = scratch("simulated.json");
    let writer = TraceWriter::new(&plan, Vec::new()).expect("memory can be written");
    let run = mocked.run(&mut OldestFirst).expect("it runs");
    run.events.iter().for_each(|(at, event)| writer.event(*at, event));
    std::fs::write(&simulated, writer.finish().expect("memory")).expect("a scratch file can be written");

    let threaded = scratch("threaded.json");
    let file = std::fs::File::create(&threaded).expect("a scratch file can be written");
    let writer = Arc::new(TraceWriter::new(&plan, file).expect("it can be written"));
    let observer: Arc<dyn Observer> = Arc::<TraceWriter<_>>::clone(&writer);
    let running = mocked.start_plan(&Gate::opened(), Options { observer, ..Options::default() }).expect("they start");
    let handles: Vec<_> = mocked.any_jobs().map(|job| running.submit(job).expect("it fits")).collect();
    handles.into_iter().for_each(|handle| drop(handle.wait()));
    running.drain();
    writer.close().expect("it can be written");

    let ends = |file: &Path| {
        let trace = read_trace(file).expect("a trace");
        assert_eq!((trace.graph.as_str(), trace.jobs.len()), ("example", 3));
        assert!(trace.jobs.iter().all(|job| job.end_s.is_some()));
        let failed = trace.firings.iter().filter(|firing| !firing.succeeded && !firing.skipped).count();
        let mut sinks: Vec<_> = trace
            .firings
            .iter()
            .filter(|firing| firing.stage == "sink" && firing.succeeded)
            .map(|firing| (firing.job, firing.partition))
            .collect();
        sinks.sort_unstable();
        (failed, sinks)
    };
    assert_eq!(ends(&simulated), (1, vec![(0, 0), (0, 1), (2, 0), (2, 1)]));
    assert_eq!(ends(&simulated), ends(&threaded));
}

#[test]
fn what_is_no_trace_says_where() {
    let file = scratch("no-trace.json");
    std::fs::write(&file, "[\n{\"ph\":7}\n]").expect("a scratch file can be written");
    let error = read_trace(&file).expect_err("it is none").to_string();
    assert!(error.contains("no-trace.json:2: no trace: "), "{error}");
    std::fs::write(&file, "[]").expect("a scratch file can be written");
    assert!(read_trace(&file).expect_err("it is empty").to_string().contains("no firings"));
}
