//! cuzk's history in virtual time: the cost model that is in the repository is the one that the fit makes, and reproduces
//! what was measured.

use std::path::{Path, PathBuf};

use proofline_study::{Axis, Conditions, Study, Submitted, fit, judge_rows, read_costs, read_fit, sweep};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../graphs/study")
}

fn study(phase: u32, settings: &[&str]) -> Study {
    let mut study = Study::read(&folder().join(format!("cuzk-phase{phase}.ron")), None).expect("the graph is lawful");
    settings.iter().for_each(|setting| study.set(setting).expect("the setting fits"));
    study
}

fn seconds(study: &Study, jobs: u32, concurrency: u32) -> f64 {
    let submitted = Submitted { jobs, concurrency, partitions: None };
    study.run(submitted, &Conditions::default()).expect("it runs").seconds_per_job()
}

#[test]
fn the_stored_costs_reproduce_the_rows_that_they_were_fitted_to() {
    let file = folder().join("cuzk-fit.ron");
    let what = read_fit(&file).expect("the fit can be read");
    let stored = read_costs(&folder().join("costs.ron")).expect("the costs can be read");
    let calibration = stored.calibration.clone().expect("a fit is a calibration");
    let rows = judge_rows(&file, &what, &stored).expect("every row runs");
    let mut errors: Vec<f64> = rows.iter().filter_map(|row| row.of_seconds().map(f64::abs)).collect();
    errors.sort_by(f64::total_cmp);
    assert_eq!(calibration.rows as usize, errors.len());
    let close = |stored: f64, now: f64| assert!((stored - now).abs() < 1e-9, "{MAKE}: {stored} is {now} now");
    close(calibration.median_error, errors[errors.len() / 2]);
    close(calibration.worst_error, *errors.last().expect("there are rows"));
    assert!(calibration.median_error <= 0.03, "median {}", calibration.median_error);
    assert!(calibration.worst_error <= 0.08, "worst {}", calibration.worst_error);
    let left_out = calibration.left_out_worst.expect("each row was predicted by the others");
    assert!(left_out <= 0.08, "worst prediction {left_out}");
    for row in &rows {
        let memory = row.of_memory().unwrap_or(0.0);
        assert!(memory.abs() <= 0.08, "{}: memory is off by {memory}", row.row.name);
    }
}

/// How the costs are made.
const MAKE: &str = "run `proofline calibrate graphs/study/cuzk-fit.ron --leave-one-out --out graphs/study/costs.ron`";

#[test]
fn a_fit_comes_nearer_to_its_rows() {
    // A few rows by their seconds alone, from where the fit of all ended.
    let file = folder().join("cuzk-fit.ron");
    let mut what = read_fit(&file).expect("the fit can be read");
    what.start = "costs.ron".into();
    what.rows.retain(|row| row.seconds_per_proof.is_some());
    what.rows.truncate(4);
    what.rows.iter_mut().for_each(|row| (row.busy, row.peak_rss_gib) = (None, None));
    what.seeds = 1;
    what.free.truncate(2);
    let before = judge_rows(&file, &what, &read_costs(&folder().join("costs.ron")).expect("costs")).expect("rows run");
    let after = fit(&file, &what, &|_, _| ()).expect("every row runs");
    let sum = |rows: &[proofline_study::RowError]| -> f64 {
        rows.iter().filter_map(|row| row.of_seconds()).map(|off| off * off).sum()
    };
    assert!(sum(&after.rows) < sum(&before), "{} → {}", sum(&before), sum(&after.rows));
}

#[test]
fn each_phase_is_faster_than_the_one_before_it_where_cuzk_was() {
    let at = |phase| seconds(&study(phase, &[]), 20, 15);
    let (seven, eight, nine, eleven) = (at(7), at(8), at(9), at(11));
    assert!(seven > eight, "two workers for the device: {seven} → {eight}");
    assert!(eight > nine, "pinned memory: {eight} → {nine}");
    assert!(nine > eleven, "a pool of 32 threads: {nine} → {eleven}");
}

#[test]
fn fewer_syntheses_at_once_are_slower_and_need_less_memory() {
    let study = study(12, &[]);
    let axis = Axis::parse("workers=1..10:3", &study).expect("an axis");
    assert_eq!(axis.path, "stages.synthesize.workers");
    let submitted = Submitted { jobs: 5, concurrency: 5, partitions: None };
    let points = sweep(&study, &[axis], submitted, &Conditions::default(), &|_, _| ()).expect("every point runs");
    let figures: Vec<(f64, f64)> = points
        .iter()
        .map(|point| point.outcome.as_ref().expect("it runs"))
        .map(|report| (report.seconds_per_job(), report.peak_ram_bytes))
        .collect();
    assert_eq!(figures.len(), 4);
    for pair in figures.windows(2) {
        assert!(pair[0].0 > pair[1].0 && pair[0].1 < pair[1].1, "{figures:?}");
    }
}

#[test]
fn a_setting_that_does_not_fit_says_what_there_is() {
    let mut study = study(12, &[]);
    let mut error = |setting: &str| study.set(setting).unwrap_err().to_string();
    assert_eq!(
        error("stages.spmv.workers=2"),
        "there is no stage `spmv`; there is synthesize, gpu_prove, b_g2_msm, assemble, dealloc"
    );
    assert_eq!(
        error("stages.synthesize.workers=0"),
        "`stages.synthesize.workers` cannot be `0`: write a whole number, 1 to 65536"
    );
    assert_eq!(error("workers"), "`workers` is no setting; write PATH=VALUE, stages.spmv.workers=7 say");
}

#[test]
fn another_machine_has_no_seconds() {
    let mut study = study(12, &[]);
    assert_eq!(study.uncalibrated(), None);
    let laptop = proofline_study::read_sku(&folder().join("x.ron"), "laptop").expect("the SKU is lawful");
    study.on_sku(laptop);
    assert_eq!(
        study.uncalibrated().as_deref(),
        Some("the costs were measured on tr-pro-7995wx-rtx5070ti, this is laptop")
    );
}
