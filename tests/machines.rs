//! Machines and graphs through the command: those that are described, those that are wrong, and those that are not there.

mod common;
#[path = "common/scratch.rs"]
mod scratch;

use std::fs;

use common::{Answer, proofline};
use scratch::scratch;

const PHASE12: &str = "graphs/study/cuzk-phase12.ron";
const H200: &str = "tests/data/machines/h200.xml";

/// The command, which must end with this code and say each of `parts` on standard error.
fn refused(arguments: &[&str], code: i32, parts: &[&str]) -> Answer {
    let answer = proofline(arguments);
    assert_eq!(answer.code, Some(code), "{arguments:?}\n{}{}", answer.out, answer.error);
    for part in parts {
        assert!(answer.error.contains(part), "{arguments:?}: `{part}` is not in: {}", answer.error);
    }
    assert!(!answer.error.contains("panicked"), "{}", answer.error);
    answer
}

#[test]
fn a_file_that_is_not_there_does_not_hide_the_others() {
    let faulty = "graphs/fail/weight-above-pool.ron";
    let answer =
        refused(&["check", "graphs/host.ron", "missing.ron", faulty, "graphs/laptop.ron"], 6, &["missing.ron"]);
    for verdict in ["graphs/host.ron: legal", "weight-above-pool.ron: 1 error", "graphs/laptop.ron: legal"] {
        assert!(answer.out.contains(verdict), "{}", answer.out);
    }
    let answer = refused(&["check", "missing.ron", "nor-this.ron"], 6, &["missing.ron", "nor-this.ron"]);
    assert_eq!(answer.error.lines().filter(|line| line.starts_with("error: ")).count(), 2, "{}", answer.error);
    refused(&["check", faulty, "graphs/host.ron"], 1, &[]);
}

#[test]
fn a_sku_that_is_none_says_where() {
    let laptop = fs::read_to_string("graphs/skus/laptop.ron").expect("it is there");
    for (old, new, parts) in [
        ("numa_nodes: 1", "numa_nodes: 3", ["sku-none.ron:4:17", "write `numa_nodes: 1`", "PL0010"]),
        ("\"76.8 GB/s\"", "\"0 GB/s\"", ["sku-none.ron:11:20", "\"1 MB/s\" to \"1000 TB/s\"", "PL0004"]),
        ("threads_per_core: 2", "threads_per_core: 0", ["sku-none.ron:7:23", "0 is outside 1 to 8", "PL0004"]),
        ("cores_per_ccd: 8", "cores_per_ccd: ", ["sku-none.ron:6", "error", "PL0001"]),
    ] {
        assert!(laptop.contains(old), "{laptop}");
        let file = scratch("sku-none.ron", &laptop.replace(old, new));
        refused(&["sku", "synthetic", &file], 1, &parts);
    }
    refused(&["sku", "synthetic", "graphs/host.ron"], 1, &["this is a graph, not a SKU"]);
    refused(&["sku", "synthetic", "missing.ron"], 6, &["missing.ron"]);
}

/// The same fault has the same words and the same code, whatever is to be done on the machine.
#[test]
fn a_machine_that_is_none_says_why() {
    let commands: [&[&str]; 4] = [
        &["plan"],
        &["plan", "--graph", "graphs/laptop.ron"],
        &["sim", PHASE12],
        &["sweep", PHASE12, "--vary", "workers=1,2"],
    ];
    let no_topology = scratch("no-topology.xml", "<html></html>");
    for (machine, code, part) in [
        ("pack:x", 2, "`pack:x`: `x` is no count"),
        ("", 2, "it has no levels"),
        ("ccd:4 pu:1", 2, "`ccd` is no part of a machine"),
        ("core:4", 2, "say how many hardware threads each has"),
        ("pack:64 l3:64 core:64 pu:2", 2, "64 × 64 × 64 × 2 are more than the 8192 hardware threads"),
        ("missing.xml", 6, "missing.xml"),
        ("graphs", 6, "is not a regular file"),
        ("/dev/zero", 6, "is not a regular file"),
        ("README.md", 3, "hwloc cannot read README.md"),
        (no_topology.as_str(), 3, "hwloc cannot read"),
    ] {
        for command in commands {
            refused(&[command, &["--machine", machine]].concat(), code, &[part]);
        }
    }
    for command in [&["plan"][..], &["sim", PHASE12]] {
        refused(&[command, &["--sku", "nope"]].concat(), 2, &["there is no SKU `nope`", "laptop"]);
        refused(&[command, &["--sku", "../host"]].concat(), 2, &["there is no SKU `../host`"]);
    }
}

/// What the start compares, on machines that are described: the numbers of CCDs, cores and devices, and their memory.
#[test]
fn a_described_machine_is_compared_with_the_sku() {
    let graph = "graphs/h200.ron";
    let plan = |graph: &str, machine: &str| proofline(&["plan", "--graph", graph, "--machine", machine]);
    let described = fs::read_to_string(H200).expect("it is there");
    let device = described.lines().find(|line| line.contains("[10de:2335]")).expect("it has a device");

    let fits = plan(graph, H200);
    assert_eq!(fits.code, Some(0), "{}{}", fits.out, fits.error);
    assert!(fits.out.contains("placement on 1 CCDs, 16 cores"), "{}", fits.out);
    assert!(fits.out.contains("does not tell the memory and architecture of device 0"), "{}", fits.out);

    let told = |kib: u64| {
        let info = format!(
            "<object type=\"OSDev\" gp_index=\"95\" name=\"cuda0\" subtype=\"CUDA\" osdev_type=\"5\">\
             <info name=\"GPUModel\" value=\"NVIDIA H200\"/><info name=\"CUDAGlobalMemorySize\" value=\"{kib}\"/></object>"
        );
        described.replace(device, &format!("{}>{info}</object>", device.trim_end().trim_end_matches("/>")))
    };
    let large = plan(graph, &scratch("h200-told.xml", &told(146_590_720)));
    assert_eq!(large.code, Some(0), "{}{}", large.out, large.error);
    assert!(large.out.contains("does not tell the architecture of device 0"), "{}", large.out);

    let of = |name: &str, text: &str| scratch(name, text);
    for (name, text, what) in [
        ("h200-none.xml", described.replace(device, ""), "it has 0 devices of NVIDIA's instead of 1"),
        ("h200-amd.xml", described.replace("10de", "1002"), "it has 0 devices of NVIDIA's instead of 1"),
        ("h200-small.xml", told(8 << 20), "device 0, NVIDIA H200, has 8192 MiB of memory instead of 143155 MiB"),
        ("h200-less.xml", described.replace("137438953472", "68719476736"), "it has 64 GiB of memory instead of 128"),
        ("h200-l3.xml", described.replace("314572800", "33554432"), "its L3 has 32 MiB instead of 300 MiB"),
    ] {
        let file = of(name, &text);
        refused(&["plan", "--graph", graph, "--machine", &file], 7, &["this machine is not the SKU `h200`", what]);
    }
    refused(&["plan", "--graph", "graphs/h200x4.ron", "--machine", H200], 7, &["has 16 cores instead of 64"]);
    refused(
        &["plan", "--graph", "graphs/tr7995wx-rtx5070ti.ron", "--sku", "h200"],
        7,
        &["it has 1 CCDs instead of 12"],
    );
    let own = proofline(&["plan", "--graph", "graphs/h200x4.ron", "--sku", "h200x4"]);
    assert_eq!(own.code, Some(0), "{}{}", own.out, own.error);

    let silent = proofline(&["sku", "probe", "--xml", H200, "--ram-bandwidth", "307.2 GB/s"]);
    assert_eq!(silent.code, Some(3), "{}", silent.out);
    assert!(silent.error.contains("does not tell its memory and architecture"), "{}", silent.error);
    let without = of("h200-no-io.xml", &described.replace(device, ""));
    let probed = proofline(&["sku", "probe", "--xml", &without, "--ram-bandwidth", "307.2 GB/s"]);
    assert!(probed.code == Some(0) && probed.out.contains("cores_per_ccd: 16"), "{}{}", probed.out, probed.error);
}
