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
    let line = format!("<desc>Made by `proofline sweep {PHASE12} {} {}`.</desc>", vary.join(" "), files.join(" "));
    assert!(picture.contains(&line), "{line}\n{picture}");
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
    let line = format!("// Tuned by `proofline tune {PHASE12} --out {graph} {}`: ", slow.join(" "));
    assert!(text.starts_with(&line) && text.contains(": without it +"), "{text}");
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
fn tune_writes_no_graph_beyond_the_limits() {
    let out = scratch("beyond.ron");
    drop(fs::remove_file(&out));
    let load = ["--vary", "workers=1..4", "--jobs", "4", "--concurrency", "4", "--out", &out];
    for limit in ["50", "1.5"] {
        let (code, printed, error) = proofline(&[&["tune", PHASE12, "--ram", limit][..], &load].concat());
        assert!(code == 1 && printed.is_empty(), "{code}\n{printed}{error}");
        let allowed = format!("{:.1} are allowed", limit.parse::<f64>().expect("a number"));
        assert!(error.contains(" is within the limits: ") && error.contains(&allowed), "{error}");
        assert!(!Path::new(&out).exists(), "it is over the limit");
    }
}

#[test]
fn a_tuned_graph_is_lawful_where_it_is_written() {
    // A folder of its own, so that no other test's SKUs lie beside it.
    let above = scratch("tuned-elsewhere");
    drop(fs::remove_dir_all(&above));
    let folder = format!("{above}/graphs");
    fs::create_dir_all(format!("{folder}/deep")).expect("a folder");
    let load = ["--vary", "workers=1,2", "--jobs", "2", "--concurrency", "2"];
    for graph in [format!("{folder}/near.ron"), format!("{folder}/deep/far.ron")] {
        done(&[&["tune", PHASE12, "--out", &graph][..], &load].concat());
        let verdict = done(&["check", &graph]);
        assert!(verdict.contains(": legal"), "{verdict}");
        // And by a bare name, from its own folder.
        let (own, name) = graph.rsplit_once('/').expect("it has a folder");
        let output = Command::new(env!("CARGO_BIN_EXE_proofline")).args(["check", name]).current_dir(own).output();
        assert!(output.expect("the command starts").status.success(), "{graph}");
        done(&["sim", &graph, "--costs", "graphs/study/costs.ron", "--jobs", "2"]);
        // Once more: what it names is there, and is the same.
        done(&[&["tune", PHASE12, "--out", &graph][..], &load].concat());
    }
    // In the graphs' own folder tree nothing is copied.
    let beside = "graphs/study/tuned-in-a-test.ron";
    let out = done(&[&["tune", PHASE12, "--out", beside][..], &load].concat());
    let text = fs::read_to_string(beside);
    fs::remove_file(beside).expect("it was written");
    assert!(text.expect("a graph").contains("catalogue: \"catalogue.ron\"") && !out.contains("with it"), "{out}");
    // Another SKU of that name is not overwritten.
    let sku = format!("{folder}/skus/tr-pro-7995wx-rtx5070ti.ron");
    fs::write(&sku, "Sku()").expect("a file");
    let (code, _, error) = proofline(&[&["tune", PHASE12, "--out", &format!("{folder}/near.ron")][..], &load].concat());
    assert!(code == 2 && error.contains("another ") && error.contains(&sku), "{error}");
    assert_eq!(fs::read_to_string(&sku).expect("a file"), "Sku()");
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

#[test]
fn short_names_of_fields_are_taken_everywhere() {
    let sim = ["sim", PHASE12, "--jobs", "2", "--json"];
    let short = done(&[&sim[..], &["--set", "workers=3", "--set", "permits.mem_heavy=1"]].concat());
    let full = done(&[&sim[..], &["--set", "stages.synthesize.workers=3", "--set", "pools.mem_heavy=1"]].concat());
    assert_eq!(short, full);
    let tune = ["tune", PHASE12, "--vary", "policy=oldest_first", "--jobs", "2", "--concurrency", "1"];
    assert!(
        done(&[&tune[..], &["--set", "workers=3"]].concat()).contains("Stage(\"synthesize\", on: \"all\", workers: 3")
    );
    let (code, _, error) = proofline(&["sim", PHASE12, "--set", "worker=3"]);
    assert!(code == 2 && error.contains("workers (the source's), permits.NAME"), "{error}");
}

/// Where the answer goes is asked before the work, which would fail: there are no costs.
#[test]
fn outputs_are_asked_for_before_the_work() {
    for output in [["--csv", "not-there/x.csv"], ["--plot", "not-there/x.svg"]] {
        let (code, _, error) =
            proofline(&[&["sweep", "graphs/host.ron", "--vary", "workers=1,2"][..], &output].concat());
        assert!(code == 6 && error.contains("not-there"), "{error}");
    }
    let (code, _, error) = proofline(&["sim", "graphs/host.ron", "--trace", "not-there/x.json"]);
    assert!(code == 6 && error.contains("not-there"), "{error}");
}

#[test]
fn a_cost_model_is_no_fit() {
    let (code, _, error) = proofline(&["calibrate", "graphs/study/costs.ron"]);
    assert!(code == 3 && error.contains("it is a cost model") && error.contains("--costs"), "{error}");
}

#[test]
fn a_page_is_found_by_its_number_alone() {
    let page = done(&["explain", "PL0107"]);
    for code in ["107", "0107", "pl0107"] {
        assert_eq!(done(&["explain", code]), page, "{code}");
    }
    let (code, _, error) = proofline(&["explain", "9999999"]);
    assert!(code != 0 && error.contains("`9999999`"), "{error}");
}

/// That a graph is legal says nothing of its memory where nobody knows how large its tokens are.
#[test]
fn check_says_when_memory_was_not_checked() {
    assert_eq!(done(&["check", "graphs/host.ron"]), "graphs/host.ron: legal; memory not checked: no `sizes`\n");
    let text = fs::read_to_string("graphs/host.ron").expect("a graph");
    let sized = scratch("sized.ron");
    let sizes = "sku: any,\n    sizes: { \"c\": (constraints: 9, aux: 9, inputs: 1, domain: 16) },";
    fs::write(&sized, text.replacen("sku: any,", sizes, 1)).expect("a scratch file");
    let verdict = done(&["check", &sized]);
    assert!(
        verdict.ends_with(": legal; memory not checked: `sku: any`, it is compared when the pipeline starts\n"),
        "{verdict}"
    );
    let verdict = done(&["check", "graphs/tr7995wx-rtx5070ti.ron"]);
    assert!(!verdict.contains("memory"), "{verdict}");
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
fn a_field_is_given_once_and_is_in_the_file() {
    let twice = "`stages.synthesize.workers` is given twice";
    for (arguments, part) in [
        (&["sweep", PHASE12, "--vary", "workers=1,2", "--vary", "stages.synthesize.workers=3"][..], twice),
        (&["tune", PHASE12, "--vary", "workers=1,2", "--vary", "workers=3"], twice),
        (&["sweep", PHASE12, "--vary", "workers=1,2", "--set", "stages.synthesize.workers=3"], twice),
        (&["sweep", PHASE12, "--vary", "workers=,"], "`workers=,` has no values to try; write PATH=1..16, "),
        (&["sweep", PHASE12, "--vary", "workers=1..99999999999"], "has no values to try; write PATH=1..16, "),
        (&["sim", PHASE12, "--set", "workers=1", "--set", "stages.synthesize.workers=2"], twice),
        (
            &["tune", PHASE12, "--vary", "stages.synthesize.needs.dealloc=1,2"],
            "has nothing at `stages.synthesize.needs.dealloc`; is it `stages.dealloc.needs.dealloc`?",
        ),
        (&["tune", PHASE12, "--vary", "costs.host.smt_gain=0.1,0.2"], "costs stand in a file of their own"),
    ] {
        let (code, out, error) = proofline(arguments);
        assert!(code == 2 && out.is_empty() && error.contains(part), "{arguments:?}: {code}\n{out}{error}");
    }
}

/// A field that the graph leaves to the stage is tried with each value, the first one too.
#[test]
fn a_field_that_the_graph_does_not_state_is_tried() {
    let tune = ["tune", PHASE12, "--vary", "stages.b_g2_msm.in_flight=1", "--vary", "stages.assemble.threads=1"];
    let out = done(&[&tune[..], &["--jobs", "2", "--concurrency", "2"]].concat());
    assert!(!out.contains(": 1 graphs tried"), "{out}");
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

/// A file in the place of another is told in a sentence, not by all that it lacks.
#[test]
fn a_file_of_another_kind_is_told_in_a_sentence() {
    let (sku, catalogue) = ("graphs/skus/laptop.ron", "graphs/study/catalogue.ron");
    let (costs, fit) = ("graphs/study/costs.ron", "graphs/study/cuzk-fit.ron");
    for (arguments, code, part) in [
        (&["sku", "synthetic", "graphs/host.ron"][..], 1, "this is a graph, not a SKU"),
        (&["sku", "synthetic", catalogue], 1, "this is a catalogue, not a SKU"),
        (&["sku", "synthetic", costs], 1, "this is a cost model, not a SKU"),
        (&["check", sku], 1, "this is a SKU, not a graph"),
        (&["check", costs], 1, "this is a cost model, not a graph"),
        (&["check", fit], 1, "this is a table of measurements to fit to, not a graph"),
        (&["sim", catalogue], 1, "this is a catalogue, not a graph"),
        (&["sim", PHASE12, "--costs", "graphs/host.ron"], 3, "it is a graph: a cost model"),
        (&["sim", PHASE12, "--costs", fit], 3, "it is a table of measurements to fit to: a cost model"),
        (&["calibrate", sku], 3, "it is a SKU: what is fitted"),
        (&["calibrate", PHASE12], 3, "it is a graph: what is fitted"),
    ] {
        let (found, out, error) = proofline(arguments);
        let both = out + &error;
        assert!(found == code && both.contains(part), "{arguments:?}: {found}\n{both}");
        assert_eq!(both.matches("error: ").count(), 1, "{arguments:?}\n{both}");
    }
}

/// What stands where a number should be is told with the number to write.
#[test]
fn a_wrong_capacity_says_what_to_write() {
    let text = fs::read_to_string("graphs/host.ron").expect("a graph");
    let edge = "Edge(\"synthesize\", \"spmv\")";
    assert!(text.contains(edge));
    let help = |capacity: &str| {
        let new = format!("Edge(\"synthesize\", \"spmv\", capacity: {capacity})");
        let file = scratch("wrong-capacity.ron");
        fs::write(&file, text.replace(edge, &new)).expect("a scratch file");
        let (code, out, error) = proofline(&["check", &file]);
        assert_eq!((code, out.matches("error: ").count()), (1, 1), "{capacity}\n{out}{error}");
        let line = out.lines().find_map(|line| line.split_once("= help: ")).map(|(_, help)| help.to_owned());
        line.unwrap_or_else(|| panic!("no help: {out}"))
    };
    assert_eq!(help("0"), "write 1 or more, or leave it out: as many as the stages before it can work on");
    assert_eq!(help("65537"), "write 65536 or less");
    assert_eq!(help(""), "write the value here, or remove the name and the colon before it");
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

/// Virtual time has memory and cores without end; whoever reads the figures is told what the machine has not.
#[test]
fn what_the_machine_would_not_run_is_said() {
    let run = ["sim", PHASE12, "--jobs", "8", "--concurrency", "8", "--set", "workers=60"];
    let (code, out, error) = proofline(&run);
    assert!(code == 0 && out.contains(" s/proof"), "{code}\n{out}{error}");
    let warning = "warning: the machine would not run this: it takes ";
    assert!(error.starts_with(warning) && error.contains(" GiB of memory at its peak, there are 512.0"), "{error}");
    let answer: Value = serde_json::from_str(&done(&[&run[..], &["--json"]].concat())).expect("JSON");
    assert!(answer["would_not_run"].as_str().is_some_and(|why| why.contains("GiB of memory")), "{answer}");
    let answer: Value = serde_json::from_str(&done(&[&run[..6], &["--json"]].concat())).expect("JSON");
    assert!(answer.get("would_not_run").is_none(), "{answer}");
    let table = done(&["sweep", PHASE12, "--jobs", "8", "--concurrency", "8", "--vary", "workers=10,60"]);
    let rows: Vec<&str> = table.lines().skip(1).collect();
    assert!(rows[0].starts_with("10,") && rows[0].ends_with(','), "{table}");
    assert!(
        rows[1].starts_with("60,") && rows[1].ends_with(" GiB of memory at its peak, there are 512.0\""),
        "{table}"
    );
}

/// A graph for any machine, with numbers that the simulated one has not the cores for.
fn demanding(place: &str) -> (String, String) {
    let folder = scratch(place);
    fs::create_dir_all(format!("{folder}/skus")).expect("a folder");
    fs::copy("graphs/skus/laptop.ron", format!("{folder}/skus/laptop.ron")).expect("a copy");
    let text = fs::read_to_string("graphs/host.ron").expect("a graph");
    let text = text
        .replace(", insist: Prefer", "")
        .replace("\"synthesize\", on: \"all\", workers: 2", "\"synthesize\", on: \"all\", workers: 2, threads: 1");
    let (graph, costs) = (format!("{folder}/graph.ron"), format!("{folder}/costs.ron"));
    fs::write(&graph, text).expect("a scratch file");
    let stage =
        |(name, core_s): (&str, f64)| format!("\"{name}\": (work: [(name: \"all\", core_s: {core_s:?}, threads: 1)]),");
    let costs_of = [("synthesize", 40.0), ("spmv", 1.0), ("prep_msm", 1.0), ("b_g2_msm", 1.0), ("gpu_ntt_msm", 1.0)];
    let stages: String = costs_of.into_iter().map(stage).collect();
    let text = format!("(version: 1, constraints: 0, stages: {{ {stages} \"assemble\": (), \"dealloc\": () }})");
    fs::write(&costs, text).expect("a scratch file");
    (graph, costs)
}

#[test]
fn what_is_not_simulated_as_it_is_written_is_said() {
    let (graph, costs) = demanding("unbounded");
    let text = fs::read_to_string(&graph).expect("a graph").replace("sku: any,", "sku: any, dealloc: unbounded_free,");
    let freeing = format!("{graph}.freeing.ron");
    fs::write(&freeing, text).expect("a scratch file");
    let on = ["--costs", &costs, "--sku", "laptop", "--jobs", "2"];
    let (code, _, error) = proofline(&[&["sim", &freeing][..], &on].concat());
    assert!(code == 0 && error.contains("`dealloc: unbounded_free` frees on threads that nobody counts"), "{error}");
    let (code, _, error) = proofline(&[&["sim", &graph][..], &on].concat());
    assert!(code == 0 && error.is_empty(), "{error}");
}

/// What is tuned for a machine starts on it, also where the graph itself is for any.
#[test]
fn what_is_tuned_for_a_machine_would_start_on_it() {
    let (graph, costs) = demanding("demanding");
    let on = ["--costs", &costs, "--sku", "laptop", "--jobs", "64", "--concurrency", "64"];
    let (code, _, error) = proofline(&[&["sim", &graph][..], &on, &["--set", "workers=64"]].concat());
    let why = "stage `synthesize` puts 64 workers × 1 threads";
    assert!(code == 0 && error.contains("would not run this: ") && error.contains(why), "{code} {error}");
    let tuned = format!("{graph}.tuned.ron");
    let out = done(&[&["tune", &graph, "--vary", "workers=1..64", "--out", &tuned][..], &on].concat());
    assert!(out.contains("stages.synthesize.workers 2 → "), "more workers are better: {out}");
    let plan = done(&["plan", "--graph", &tuned, "--sku", "laptop"]);
    assert!(plan.contains("placement on "), "{plan}");
    let (code, _, error) =
        proofline(&[&["tune", &graph, "--vary", "workers=60,64", "--set", "workers=64"][..], &on].concat());
    assert!(
        code == 1 && error.contains("as it is, the machine would not start it: stage `synthesize`"),
        "{code} {error}"
    );
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
