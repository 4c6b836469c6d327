//! `sim`, `sweep`, `tune` and `calibrate` as scripts see them.

mod answers;
#[path = "../common/mod.rs"]
mod common;
mod costs;
mod search;
mod told;

use std::fs;
use std::path::Path;

use common::Answer;

fn proofline(arguments: &[&str]) -> (i32, String, String) {
    let Answer { code, out, error } = common::proofline(arguments);
    (code.unwrap_or(-1), out, error)
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
