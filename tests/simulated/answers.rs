//! What `sim` answers.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{PHASE12, done, proofline, scratch};

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

/// The lines of the readme that simulate work in a fresh clone, and show that what they vary matters.
#[test]
fn the_readme_s_simulations_work() {
    let readme = fs::read_to_string("README.md").expect("the readme");
    let lines = readme.lines().filter_map(|line| line.strip_prefix("    proofline "));
    let lines: Vec<&str> = lines.filter(|line| line.starts_with("sim ") || line.starts_with("sweep ")).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let out = done(&[&words[..], &["--jobs", "4"]].concat());
        if words[0] == "sweep" {
            let times: std::collections::BTreeSet<&str> =
                out.lines().skip(1).filter_map(|row| row.split(',').nth(1)).collect();
            assert!(times.len() > 1, "what is varied changes nothing: {out}");
        }
    }
    for file in ["README.md", "ARCHITECTURE.md"] {
        let text = fs::read_to_string(file).expect("a page");
        assert!(text.contains("(graphs/README.md)"), "{file} does not lead to the language");
    }
}

/// The plan's table says what memory there is room for; the simulator says what is used of it.
#[test]
fn the_peak_of_a_run_is_the_plan_s_figure() {
    const GIB: f64 = (1_u64 << 30) as f64;
    let folder = scratch("peak");
    fs::create_dir_all(format!("{folder}/skus")).expect("a folder");
    fs::copy("graphs/skus/laptop.ron", format!("{folder}/skus/laptop.ron")).expect("a copy");
    let write = |name: &str, text: &str| {
        let file = format!("{folder}/{name}.ron");
        fs::write(&file, text).expect("a scratch file");
        file
    };
    write(
        "catalogue",
        r#"Catalogue(version: 1, tokens: { "A": (bytes: "32 * aux"), "B": (bytes: "8 * aux") }, stages: [
            Implementation(stage: "make", backend: "host", tags: [], inputs: [], output: "A"),
            Implementation(stage: "use", backend: "host", tags: [], inputs: [("a", "A")], output: "B"),
            Implementation(stage: "dealloc", backend: "host", tags: ["unmaps"], inputs: [("dead", "Dead")], output: None),
        ])"#,
    );
    let graph = write(
        "graph",
        r#"Graph(version: 1, catalogue: "catalogue.ron", sku: "laptop", sizes: { "c": (constraints: 1000000, aux: 16777216) },
            resident: { "key": "64 * aux" }, pools: { "dealloc": 1 },
            stages: [Stage("make", workers: 2), Stage("use", workers: 3), Stage("dealloc", needs: { "dealloc": 1 })],
            edges: [Edge("make", "use", capacity: 4)])"#,
    );
    // What is used is slow, so that all places fill up.
    let one =
        |name: &str, seconds: f64| format!("\"{name}\": (work: [(name: \"w\", threads: 1, core_s: {seconds:?})]),");
    let costs = |stages: &str| format!("Costs(version: 1, stages: {{ {stages} }})");
    let slow_end = write("costs", &costs(&format!("{} {} \"dealloc\": (),", one("make", 1.0), one("use", 100.0))));
    let peak = |graph: &str, costs: &str| {
        let sim = ["sim", graph, "--costs", costs, "--jobs", "40", "--concurrency", "40", "--json"];
        let answer: Value = serde_json::from_str(&done(&sim)).expect("JSON");
        answer["peak_rss_gib"].as_f64().expect("the sizes are known")
    };
    let planned = |graph: &str| {
        let study = proofline::study::Study::with_costs(Path::new(graph), proofline::study::no_costs());
        let plan = study.expect("it is lawful").plan();
        plan.memory.iter().map(|table| table.sum()).max().expect("it has a table") as f64 / GIB
    };
    // Four places and three firings, each with its output, and the key.
    assert_eq!(planned(&graph), (7.0 * 32.0 + 3.0 * 8.0 + 64.0) * 16_777_216.0 / GIB);
    assert!((peak(&graph, &slow_end) - planned(&graph)).abs() < 1e-9, "{}", peak(&graph, &slow_end));

    // Where ways part, what is on the one is not on the other: the plan is a bound.
    let graph = "graphs/tr7995wx-rtx5070ti.ron";
    let names = ["synthesize", "spmv", "prep_msm", "b_g2_msm", "assemble"].map(|name| one(name, 10.0)).concat();
    let device = "\"gpu_ntt_msm\": (work: [(name: \"w\", gpu_s: 100.0)]), \"dealloc\": (),";
    let slow_device = write("costs-of-device", &costs(&format!("{names} {device}")));
    let (peak, planned) = (peak(graph, &slow_device), planned(graph));
    assert!(peak <= planned && peak > 0.8 * planned, "{peak} of {planned}");
}

/// Time without a permit is told beside all the time that firings waited.
#[test]
fn waits_for_permits_are_told_apart() {
    let sim = ["sim", "graphs/study/permits.ron", "--jobs", "6", "--concurrency", "4", "--json", "--set"];
    let waited = |permits: &str| {
        let answer: Value = serde_json::from_str(&done(&[&sim[..], &[permits]].concat())).expect("JSON");
        let stages = answer["stages"].as_array().expect("stages");
        let of = |stage: &Value, field: &str| stage[field].as_f64().unwrap_or_else(|| panic!("no {field} in {stage}"));
        let without = |stage: &Value| of(stage, "waited_for_permits_s");
        assert!(stages.iter().all(|stage| without(stage) <= of(stage, "waited_s") + 1e-6), "{answer}");
        stages.iter().filter(|stage| stage["stage"] != "dealloc").map(without).sum::<f64>()
    };
    let (few, many) = (waited("permits.mem_heavy=1"), waited("permits.mem_heavy=64"));
    assert!(few > 0.0 && many == 0.0, "{few} {many}");
}

#[test]
fn a_run_counts_once() {
    let trace = scratch("counts-once.json");
    done(&["sim", PHASE12, "--jobs", "2", "--concurrency", "2", "--trace", &trace]);
    let copy = scratch("counts-once-again.json");
    fs::copy(&trace, &copy).expect("a copy");
    for other in [&trace, &copy] {
        let (code, _, error) = proofline(&["calibrate", "--trace", &trace, other, "--graph", PHASE12]);
        assert!(code == 2 && error.contains(&format!("{trace} and {other} are the same run")), "{code} {error}");
    }
}

#[test]
fn a_number_of_jobs_says_what_it_may_be() {
    for (option, value) in [("--jobs", "-1"), ("--concurrency", "0"), ("--partitions", "99999999999999999999")] {
        let (code, _, error) = proofline(&["sim", PHASE12, option, value]);
        assert!(code == 2 && error.contains("write a whole number, 1 to 65536"), "{option} {value}: {code} {error}");
    }
    let (code, _, error) = proofline(&["sim", PHASE12, "--seed", "-1"]);
    assert!(code == 2 && !error.contains("-- -1"), "{code} {error}");
    let (code, _, error) = proofline(&["sim", PHASE12, "--set", "costs.spmv.a.b.c=1"]);
    assert!(code == 2 && error.contains("there is costs.host.FIELD, "), "{code} {error}");
}
