//! `sim`, `sweep`, `tune` and `calibrate` as scripts see them.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn proofline(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_proofline"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("the command starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the command writes text");
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

fn done(arguments: &[&str]) -> String {
    let (code, out, error) = proofline(arguments);
    assert_eq!(code, 0, "{arguments:?}\n{out}{error}");
    out
}

fn scratch(name: &str) -> String {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).display().to_string()
}

const PHASE12: &str = "graphs/study/cuzk-phase12.ron";

#[test]
fn sim_answers_in_json() {
    let out =
        done(&["sim", PHASE12, "--jobs", "6", "--concurrency", "4", "--set", "stages.synthesize.workers=7", "--json"]);
    let answer: Value = serde_json::from_str(&out).expect("JSON");
    let number = |name: &str| answer[name].as_f64().unwrap_or_else(|| panic!("no {name} in {answer}"));
    assert!(number("seconds_per_proof") > 20.0 && number("peak_rss_gib") > 100.0);
    assert_eq!(number("jobs"), 6.0);
    assert!(answer["gpu_utilisation"][0].as_f64().is_some_and(|part| (0.0..=1.0).contains(&part)), "{answer}");
    assert!(answer["peak_vram_gib"][0].as_f64().is_some(), "{answer}");
    let stage = &answer["stages"][0];
    assert_eq!((stage["stage"].as_str(), stage["workers"].as_u64()), (Some("synthesize"), Some(7)));
    assert!(
        stage["inflation"].as_f64().is_some_and(|inflation| inflation >= 1.0) && stage["waited_s"].as_f64().is_some()
    );
    assert!(answer["calibration"]["worst_error"].as_f64().is_some_and(|error| error < 0.08));
}

#[test]
fn seconds_are_for_the_calibrated_machine_alone() {
    let out = done(&["sim", PHASE12, "--sku", "h200", "--jobs", "3", "--json"]);
    let answer: Value = serde_json::from_str(&out).expect("JSON");
    assert!(answer["uncalibrated"].as_str().is_some_and(|why| why.contains("tr-pro-7995wx")), "{answer}");
    assert!(answer["units_per_proof"].as_f64().is_some());
    let keys: Vec<&String> = answer.as_object().expect("an object").keys().collect();
    assert!(keys.iter().all(|key| !key.contains("second") && !key.ends_with("_s")), "{keys:?}");
    let text = done(&["sim", PHASE12, "--sku", "h200", "--jobs", "3"]);
    assert!(text.starts_with("no seconds: ") && !text.contains(" s/proof") && !text.contains(" s "), "{text}");
    let table = done(&["sweep", PHASE12, "--sku", "h200", "--jobs", "3", "--vary", "workers=2,4"]);
    assert!(table.contains("times_the_best") && !table.contains("seconds"), "{table}");
}

#[test]
fn sweep_writes_a_table_and_a_plot() {
    let (csv, plot) = (scratch("sweep.csv"), scratch("sweep.svg"));
    let vary = ["--vary", "workers=2..6:2", "--vary", "permits.mem_heavy=2,4"];
    let files = ["--jobs", "4", "--csv", &csv, "--plot", &plot];
    done(&[&["sweep", PHASE12][..], &vary, &files].concat());
    let table = fs::read_to_string(&csv).expect("a table");
    assert_eq!(table.lines().count(), 1 + 3 * 2, "{table}");
    assert!(table.starts_with("stages.synthesize.workers,pools.mem_heavy,seconds_per_proof,peak_rss_gib,"), "{table}");
    let picture = fs::read_to_string(&plot).expect("a plot");
    assert!(picture.starts_with("<svg") && picture.matches("<polyline").count() == 2 * 2, "{picture}");
}

#[test]
fn tune_writes_a_graph_that_check_lets_pass() {
    let folder = scratch("tuned");
    fs::create_dir_all(&folder).expect("a folder");
    for file in ["catalogue.ron", "costs.ron"] {
        fs::copy(format!("graphs/study/{file}"), format!("{folder}/{file}")).expect("a copy");
    }
    let skus = format!("{folder}/skus");
    fs::create_dir_all(&skus).expect("a folder");
    fs::copy("graphs/skus/tr-pro-7995wx-rtx5070ti.ron", format!("{skus}/tr-pro-7995wx-rtx5070ti.ron")).expect("a copy");
    let graph = format!("{folder}/tuned.ron");
    let slow = ["--set", "stages.synthesize.workers=3", "--jobs", "4", "--concurrency", "4"];
    let out = done(&[&["tune", PHASE12, "--out", &graph][..], &slow].concat());
    assert!(out.contains("stages.synthesize.workers 3 → "), "{out}");
    let text = fs::read_to_string(&graph).expect("a graph");
    assert!(text.starts_with("// Tuned by `proofline tune") && text.contains(": without it +"), "{text}");
    assert!(done(&["check", &graph]).is_empty() || !done(&["check", &graph]).contains("error"));
    done(&["sim", &graph, "--jobs", "4", "--concurrency", "4"]);
}

#[test]
fn a_real_run_s_trace_becomes_costs_and_the_costs_seconds() {
    let (key, trace, costs) = (scratch("key-for-trace"), scratch("run.json"), scratch("run-costs.ron"));
    let circom = "tests/data/circom/poseidon_m7";
    let (r1cs, wtns) = (format!("{circom}.r1cs"), format!("{circom}.wtns"));
    done(&["setup", "--r1cs", &r1cs, "--force", "-o", &key]);
    done(&["prove", "--r1cs", &r1cs, "--wtns", &wtns, "--count", "6", "--params", &key, "--trace", &trace]);
    let events: Vec<Value> = serde_json::from_str(&fs::read_to_string(&trace).expect("a trace")).expect("JSON");
    assert!(events.iter().filter(|event| event["name"] == "gpu_ntt_msm" && event["ph"] == "X").count() == 6);

    let graph = "graphs/host.ron";
    let out = done(&["calibrate", "--trace", &trace, "--graph", graph, "--sku", "laptop", "--out", &costs]);
    assert!(out.contains("1 rows: off by "), "{out}");
    let simulate = ["sim", graph, "--costs", &costs, "--sku", "laptop", "--jobs", "6", "--concurrency", "4", "--json"];
    let answer: Value = serde_json::from_str(&done(&simulate)).expect("JSON");
    assert!(answer["seconds_per_proof"].as_f64().is_some_and(|seconds| seconds > 0.0), "{answer}");
    assert!(answer["peak_rss_gib"].is_null(), "the graph states no sizes: {answer}");
    let (code, _, error) = proofline(&["calibrate", "--trace", &trace, "--graph", PHASE12]);
    assert!(code == 4 && error.contains("the trace is of graph `host`: it has a stage `"), "{error}");
}
