//! What is said of what cannot be, was not checked, or would not run.

use std::fs;

use serde_json::Value;

use super::{PHASE12, demanding, done, proofline, scratch};

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
