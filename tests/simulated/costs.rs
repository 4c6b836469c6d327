//! Costs: from traces of real runs, by hand, and for which graphs.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{PHASE12, done, proofline, scratch};

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
    assert!(out.contains("1 row: off by "), "{out}");
    let made = format!("// Made by `proofline calibrate --trace {trace} --graph {graph} --sku laptop --out {costs}`.");
    assert!(fs::read_to_string(&costs).expect("costs").lines().any(|line| line == made), "{made}");
    let simulate = ["sim", graph, "--costs", &costs, "--sku", "laptop", "--jobs", "6", "--concurrency", "4", "--json"];
    let answer: Value = serde_json::from_str(&done(&simulate)).expect("JSON");
    assert!(answer["seconds_per_proof"].as_f64().is_some_and(|seconds| seconds > 0.0), "{answer}");
    assert!(answer["peak_rss_gib"].is_null(), "the graph states no sizes: {answer}");
    let (code, _, error) = proofline(&["calibrate", "--trace", &trace, "--graph", PHASE12]);
    assert!(
        code == 4
            && error.contains("the trace is of graph `host` (digest ")
            && error.contains("is graph `cuzk-phase12` (digest "),
        "{error}"
    );
}

/// Three times the same load: a job that ends is not in flight with the one that takes its place.
#[test]
fn a_trace_has_as_many_jobs_in_flight_as_were_asked_for() {
    let key = scratch("key-for-flight");
    let circom = "tests/data/circom/poseidon_m7";
    let (r1cs, wtns) = (format!("{circom}.r1cs"), format!("{circom}.wtns"));
    done(&["setup", "--r1cs", &r1cs, "--force", "-o", &key]);
    for wanted in ["1", "3"] {
        let trace = scratch(&format!("flight-{wanted}.json"));
        let prove = ["prove", "--r1cs", &r1cs, "--wtns", &wtns, "--count", "8", "--params", &key];
        done(&[&prove[..], &["--concurrency", wanted, "--trace", &trace]].concat());
        let found = proofline::study::read_trace(Path::new(&trace)).expect("a trace").concurrency();
        assert_eq!(found.to_string(), wanted);
    }
}

#[test]
fn a_trace_of_another_state_of_the_graph_is_refused() {
    let trace = scratch("other-digest.json");
    done(&["sim", PHASE12, "--jobs", "2", "--concurrency", "2", "--trace", &trace]);
    let text = fs::read_to_string(&trace).expect("a trace");
    let calibrate = ["calibrate", "--trace", &trace, "--graph", PHASE12];
    let at = text.find("\"digest\":\"").expect("it states the digest") + 10;
    let other = format!("{}0123456789ab{}", &text[..at], &text[at + 12..]);
    fs::write(&trace, other).expect("a scratch file");
    let (code, _, error) = proofline(&calibrate);
    assert_eq!(code, 4, "{error}");
    let (traced, of_file) = ("graph `cuzk-phase12` (digest 0123456789ab)", &text[at..at + 12]);
    assert!(error.contains(traced) && error.contains(of_file), "{error}");
}

#[test]
fn a_stage_without_costs_is_not_free() {
    let graph = "graphs/tr7995wx-rtx5070ti.ron";
    for command in [&["sim", graph][..], &["sweep", graph, "--vary", "workers=1,2"], &["tune", graph]] {
        let (code, out, error) = proofline(&[command, &["--costs", "graphs/study/costs.ron"]].concat());
        assert!(code == 4 && out.is_empty(), "{command:?}: {code}\n{out}{error}");
        assert!(error.contains("`prep_msm`, `gpu_ntt_msm`") && error.contains("as `\"NAME\": ()`"), "{error}");
        assert!(!error.contains("`spmv`"), "that has costs: {error}");
    }
    let text = fs::read_to_string("graphs/study/costs.ron").expect("costs");
    let costs = scratch("misspelt-costs.ron");
    fs::write(&costs, text.replace("\"b_g2_msm\": (", "\"b_g2_mms\": (")).expect("a scratch file");
    let (code, _, error) = proofline(&["sim", PHASE12, "--costs", &costs]);
    assert!(code == 4 && error.contains("`b_g2_msm` (is it `b_g2_mms` in the file?)"), "{error}");
    // What is there and of no stage is told, what is of another graph of the catalogue is not.
    let more = text.replace("    stages: {\n", "    stages: {\n        \"asemble\": (), \"spmv@cuzk-phase12\": (),\n");
    fs::write(&costs, more).expect("a scratch file");
    let (code, _, error) = proofline(&["sim", PHASE12, "--costs", &costs, "--jobs", "2"]);
    let warnings: Vec<&str> = error.lines().collect();
    assert_eq!((code, warnings.len()), (0, 2), "{error}");
    assert_eq!(
        warnings[0],
        "warning: the costs have `asemble`, and the graph's catalogue has no such stage; is it `assemble`?"
    );
    assert_eq!(
        warnings[1],
        "warning: the costs have `spmv@cuzk-phase12`, and the graph has no such stage; is it `spmv`?"
    );
    for entry in fs::read_dir("graphs/study").expect("the studies") {
        let file = entry.expect("an entry").path().display().to_string();
        let text = fs::read_to_string(&file).expect("text");
        if text.contains("\nGraph(") {
            let (code, _, error) = proofline(&["sim", &file, "--jobs", "2", "--concurrency", "1"]);
            assert_eq!((code, error.as_str()), (0, ""), "{file}");
        }
    }
}

#[test]
fn a_cost_model_is_no_fit() {
    let (code, _, error) = proofline(&["calibrate", "graphs/study/costs.ron"]);
    assert!(code == 3 && error.contains("it is a cost model") && error.contains("--costs"), "{error}");
}

/// Costs that were set by hand were not measured, whoever measured the others.
#[test]
fn costs_that_are_changed_are_calibrated_no_more() {
    let load = ["--jobs", "2", "--concurrency", "2"];
    let changed = ["--set", "costs.host.smt_gain=0.1"];
    let answer: Value =
        serde_json::from_str(&done(&[&["sim", PHASE12, "--json"][..], &load, &changed].concat())).expect("JSON");
    let why = "costs.host.smt_gain was changed and is not as it was fitted";
    assert!(answer["uncalibrated"] == why && answer["seconds_per_proof"].is_null(), "{answer}");
    let vary = ["--vary", "costs.host.smt_gain=0.1,0.2"];
    for more in [&changed[..], &[]] {
        let vary = if more.is_empty() { &vary[..] } else { &["--vary", "workers=2,4"] };
        let table = done(&[&["sweep", PHASE12][..], &load, more, vary].concat());
        assert!(table.contains("times_the_best") && !table.contains("seconds"), "{table}");
    }
    let tuned = done(&[&["tune", PHASE12, "--vary", "workers=7,8"][..], &load, &changed].concat());
    assert!(tuned.contains(&format!("// No seconds: {why}.")) && !tuned.contains(" s."), "{tuned}");
    // What is set to what it was is not changed.
    let costs = proofline::study::read_costs(Path::new("graphs/study/costs.ron")).expect("costs");
    let same = format!("costs.host.smt_gain={}", costs.host.smt_gain);
    let text = done(&[&["sim", PHASE12, "--set", &same][..], &load].concat());
    assert!(text.contains(" s/proof"), "{text}");
}

#[test]
fn costs_of_a_circuit_are_for_graphs_that_state_one() {
    let folder = scratch("without-constraints");
    fs::create_dir_all(format!("{folder}/skus")).expect("a folder");
    for file in ["catalogue.ron", "costs.ron"] {
        fs::copy(format!("graphs/study/{file}"), format!("{folder}/{file}")).expect("a copy");
    }
    let sku = "tr-pro-7995wx-rtx5070ti.ron";
    fs::copy(format!("graphs/skus/{sku}"), format!("{folder}/skus/{sku}")).expect("a copy");
    let text = fs::read_to_string(PHASE12).expect("a graph");
    let at = text.find("constraints: ").expect("it states them");
    let end = at + text[at..].find(", ").expect("others follow") + 2;
    let graph = format!("{folder}/graph.ron");
    fs::write(&graph, format!("{}{}", &text[..at], &text[end..])).expect("a scratch file");
    let (code, out, error) = proofline(&["sim", &graph, "--jobs", "2"]);
    assert!(code == 2 && out.is_empty(), "{code}\n{out}{error}");
    assert!(error.contains("state no `constraints`, and the costs are those of 130278869"), "{error}");
}

#[test]
fn a_log_that_cannot_go_on_says_where_and_what() {
    let log = "policy=replay(0:0.0 4:1.0)";
    let (code, _, error) = proofline(&["sim", PHASE12, "--jobs", "2", "--concurrency", "2", "--set", log]);
    assert_eq!(code, 4, "{error}");
    let wish = "it waits for decision 1 of its log, `4:1.0`: stage `dealloc` for job 1 partition 0";
    assert!(error.contains("policy `replay` chose nothing") && error.contains(wish), "{error}");
}
