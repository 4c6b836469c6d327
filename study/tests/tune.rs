//! The search finds a better graph that is lawful, keeps its limits, and finds the same one again.

use std::path::{Path, PathBuf};

use proofline_study::{Axis, Conditions, Goal, Limits, Study, StudyError, Submitted, Tuned, Wanted, free_fields, tune};

const GIB: f64 = (1_u64 << 30) as f64;

fn graph() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../graphs/study/cuzk-phase12.ron")
}

fn tuned(axes: &[&str], fixed: &[(&str, &str)], goal: Goal, ram_gib: f64) -> Result<Tuned, StudyError> {
    let study = Study::read(&graph(), None)?;
    let axes = match axes {
        [] => free_fields(&study),
        some => some.iter().map(|text| Axis::parse(text, &study)).collect::<Result<_, _>>()?,
    };
    let fixed: Vec<_> = fixed.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    let limits = Limits { ram_bytes: ram_gib * GIB, vram_bytes: 16.0 * GIB };
    let submitted = Submitted { jobs: 6, concurrency: 4, partitions: None };
    let wanted = Wanted { goal, limits, submitted, conditions: Conditions::default() };
    tune(&study, &axes, &fixed, wanted, &|_, _| ())
}

#[test]
fn it_finds_the_workers_back_and_says_what_they_are_good_for() {
    let slow = [("stages.synthesize.workers", "2"), ("edges.synthesize.gpu_prove.capacity", "2")];
    let found = tuned(&[], &slow, Goal::Throughput, 512.0).unwrap();
    let before = found.before.as_ref().unwrap();
    assert!(found.after.seconds < 0.5 * before.seconds, "{} → {}", before.seconds, found.after.seconds);
    let workers = found.changes.iter().find(|change| change.path == "stages.synthesize.workers").unwrap();
    assert_eq!(workers.from, "2");
    assert!(workers.to.parse::<u32>().unwrap() > 4 && workers.without.unwrap() > 1.2, "{workers:?}");
    assert!(found.text.contains(&format!("workers: {}, send: Blocking", workers.to)), "{}", found.text);
    assert!(found.text.contains("// cuzk pins nothing"), "comments stay");
    // What is not changed back would be a change without a reason.
    assert!(found.changes.iter().all(|change| change.without.is_none_or(|without| without > 1.0)), "{found:?}");
    assert_eq!(found, tuned(&[], &slow, Goal::Throughput, 512.0).unwrap(), "the same again");
}

#[test]
fn it_keeps_the_memory_s_limit() {
    let found = tuned(&[], &[], Goal::Throughput, 200.0).unwrap();
    assert!(!found.fitted_before);
    assert!(found.after.peak_ram_bytes <= 200.0 * GIB, "{}", found.after.peak_ram_bytes / GIB);
}

#[test]
fn latency_is_another_goal() {
    let latency = tuned(&["workers=1..16:3"], &[], Goal::Latency, 512.0).unwrap();
    let throughput = tuned(&["workers=1..16:3"], &[], Goal::Throughput, 512.0).unwrap();
    assert!(latency.after.mean_latency_s <= throughput.after.mean_latency_s);
    assert!(latency.changes.iter().all(|change| change.path == "stages.synthesize.workers"), "nothing else was free");
}

#[test]
fn a_field_that_the_file_has_not_is_refused() {
    let error = tuned(&["workers=1..4"], &[("stages.spmv.workers", "2")], Goal::Throughput, 512.0).unwrap_err();
    assert!(error.to_string().starts_with("the graph file has nothing at `stages.spmv.workers`; "), "{error}");
}
