//! `sweep` and `tune`: settings that are tried, and the graphs that come of it.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{PHASE12, demanding, done, proofline, scratch};

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
