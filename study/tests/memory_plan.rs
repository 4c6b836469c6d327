//! What a run takes is never more than the plan's table, whatever becomes of slots and however long that takes.

use std::path::{Path, PathBuf};

use pipeline_runtime::sim::{Costs, StageCost, Work};
use proofline_study::{Conditions, Study, Submitted, no_costs};

/// `host.ron` on a named machine with a circuit, and what becomes of slots.
fn graph(dealloc: &str) -> PathBuf {
    let graphs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../graphs");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("memory-plan");
    std::fs::create_dir_all(folder.join("skus")).expect("a scratch folder");
    std::fs::copy(graphs.join("skus/laptop.ron"), folder.join("skus/laptop.ron")).expect("a copy");
    let sizes = "sizes: { \"c\": (constraints: 1000000, aux: 1000000, inputs: 10, domain: 1048576) }";
    let text = std::fs::read_to_string(graphs.join("host.ron")).expect("a graph");
    let text = text.replacen("sku: any,", &format!("sku: \"laptop\", {sizes}, dealloc: {dealloc},"), 1);
    let file = folder.join(format!("{dealloc}.ron"));
    std::fs::write(&file, text).expect("a scratch file");
    file
}

#[test]
fn a_run_takes_no_more_than_the_plan_s_table() {
    let cost =
        |wait_s| StageCost { work: vec![Work { wait_s, ..Work::default() }], spread: 0.5, ..StageCost::default() };
    let stages = [
        ("synthesize", 1.0),
        ("spmv", 2.0),
        ("prep_msm", 1.0),
        ("b_g2_msm", 3.0),
        ("gpu_ntt_msm", 4.0),
        ("assemble", 0.1),
    ];
    for dealloc in ["recycle", "bounded_free", "unbounded_free"] {
        let file = graph(dealloc);
        for slow in [0.01, 30.0] {
            let stages = stages.into_iter().chain([("dealloc", slow)]);
            let stages = stages.map(|(name, wait_s)| (name.to_owned(), cost(wait_s))).collect();
            let study = Study::with_costs(&file, Costs { stages, ..no_costs() }).expect("the graph is lawful");
            let planned: u64 = study.plan().memory[0].rows.iter().map(|row| row.bytes).sum();
            for policy in ["oldest_first", "critical_path", "random_legal(1)", "random_legal(2)"] {
                let mut study = study.clone();
                study.set(&format!("policy={policy}")).expect("there is such a policy");
                let submitted = Submitted { jobs: 30, concurrency: 30, partitions: None };
                let report = study.run(submitted, &Conditions::default()).expect("it runs");
                assert_eq!((report.jobs, report.firings), (30, 30 * 11));
                assert!(
                    report.peak_ram_bytes <= planned as f64 && report.peak_ram_bytes > 0.5 * planned as f64,
                    "{dealloc}, {slow} s, {policy}: {} of {planned}",
                    report.peak_ram_bytes
                );
            }
        }
    }
}
