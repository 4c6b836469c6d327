//! The command as scripts see it: one clear line and a documented exit code, whatever it is given.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::proofline;

/// Runs the command, which must fail with this code and one line that holds every one of `parts`.
fn refused(arguments: &[&str], code: i32, parts: &[&str]) {
    let answer = proofline(arguments);
    assert_eq!(answer.code, Some(code), "{arguments:?}\n{}{}", answer.out, answer.error);
    let line = answer.error.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
    for part in parts {
        assert!(line.contains(part), "`{part}` is not in: {}", answer.error);
    }
    assert!(!answer.error.contains("panicked"), "{}", answer.error);
}

const R1CS: &str = "tests/data/circom/poseidon_m7.r1cs";
const WTNS: &str = "tests/data/circom/poseidon_m7.wtns";
/// Where nothing is to be written.
const NEVER: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/never");

/// A key of `sha256:1`, made once for all tests of this file.
fn key() -> &'static str {
    static KEY: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    KEY.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("key-of-sha256-1").display().to_string();
        let answer = proofline(&["setup", "--circuit", "sha256:1", "--seed", "tests", "--force", "-o", &folder]);
        assert_eq!(answer.code, Some(0), "{}", answer.error);
        assert!(answer.error.contains("this is not a ceremony"), "{}", answer.error);
        folder
    })
}

/// A file of this test's own.
fn file(name: &str, bytes: &[u8]) -> String {
    let path = scratch(name);
    fs::write(&path, bytes).expect("a scratch file can be written");
    path.display().to_string()
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn proofs_are_made_verified_and_written() {
    let (out, picture) = (scratch("proofs").display().to_string(), scratch("waterfall.svg").display().to_string());
    let answer = proofline(&[
        "prove",
        "--circuit",
        "sha256:1",
        "--params",
        key(),
        "--count",
        "3",
        "--concurrency",
        "2",
        "--out",
        &out,
        "--force",
        "--waterfall",
        &picture,
    ]);
    assert_eq!(answer.code, Some(0), "{}", answer.error);
    assert!(answer.out.contains("3 of 3 proofs of sha256:1 verified"), "{}", answer.out);
    assert!(answer.out.contains("gpu_ntt_msm"), "{}", answer.out);
    assert!(fs::read_to_string(picture).expect("the picture is there").starts_with("<svg"));
    let vk = format!("{}/circuit.vk", key());
    for number in 0..3 {
        let proof = format!("{out}/proof-{number}.bin");
        assert_eq!(fs::read(&proof).expect("the proof is there").len(), 192);
        let public = format!("{out}/public-{number}.json");
        let valid = proofline(&["verify", "--vk", &vk, "--public", &public, "--proof", &proof]);
        assert_eq!((valid.code, valid.out.contains("valid")), (Some(0), true), "{}", valid.error);
        let other = format!("{out}/public-{}.json", (number + 1) % 3);
        let invalid = proofline(&["verify", "--vk", &vk, "--public", &other, "--proof", &proof]);
        assert_eq!((invalid.code, invalid.out.contains("NOT valid")), (Some(1), true), "{}", invalid.error);
    }
}

#[test]
fn a_circom_circuit_is_proved() {
    let folder = scratch("key-of-poseidon").display().to_string();
    assert_eq!(proofline(&["setup", "--r1cs", R1CS, "--force", "-o", &folder]).code, Some(0));
    let answer = proofline(&["prove", "--r1cs", R1CS, "--wtns", WTNS, WTNS, "--params", &folder]);
    assert_eq!(answer.code, Some(0), "{}", answer.error);
    assert!(answer.out.contains("2 of 2 proofs of poseidon_m7 verified"), "{}", answer.out);

    let mut wrong = fs::read(scratch_copy(WTNS)).expect("the witness is there");
    let last = wrong.len() - 32;
    wrong[last] ^= 1;
    let wrong = file("unsatisfied.wtns", &wrong);
    refused(&["prove", "--r1cs", R1CS, "--wtns", &wrong, "--params", &folder], 5, &["does not satisfy", "constraint "]);
    let wtns = fs::read(scratch_copy(WTNS)).expect("the witness is there");
    let cut = file("cut.wtns", &wtns[..wtns.len() - 7]);
    refused(&["prove", "--r1cs", R1CS, "--wtns", &cut, "--params", &folder], 3, &[&cut, "offset"]);
    // One proof's failure is that proof's alone: the others are made, and the exit code says that one was not.
    let mixed = proofline(&["prove", "--r1cs", R1CS, "--wtns", WTNS, &wrong, WTNS, "--params", &folder]);
    assert_eq!(mixed.code, Some(5), "{}", mixed.error);
    assert!(mixed.out.contains("2 of 3 proofs of poseidon_m7 verified"), "{}", mixed.out);
    assert!(mixed.out.contains(&format!("proof-1 ({wrong}) failed: ")), "{}", mixed.out);
    refused(&["prove", "--circuit", "sha256:1", "--params", &folder], 4, &["sha256:1"]);
    refused(&["prove", "--r1cs", R1CS, "--wtns", WTNS, "--params", key()], 4, &["poseidon_m7"]);
}

fn scratch_copy(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

#[test]
fn damaged_files_are_named_with_the_place() {
    let r1cs = fs::read(scratch_copy(R1CS)).expect("the circuit is there");
    let cut = file("cut.r1cs", &r1cs[..1000]);
    refused(&["setup", "--r1cs", &cut, "-o", &scratch("never").display().to_string()], 3, &[&cut, "offset"]);
    let mut counts = r1cs.clone();
    counts[8..12].fill(0xff);
    let counts = file("counts.r1cs", &counts);
    refused(&["setup", "--r1cs", &counts, "-o", &scratch("never").display().to_string()], 3, &[&counts]);
    let text = file("text.r1cs", b"not a circuit");
    refused(&["setup", "--r1cs", &text, "-o", &scratch("never").display().to_string()], 3, &[&text]);
    let params = fs::read(format!("{}/circuit.params", key())).expect("the key is there");
    for (name, bytes) in [("cut.params", &params[..params.len() / 2]), ("empty.params", &[][..])] {
        let cut = file(name, bytes);
        refused(&["prove", "--circuit", "sha256:1", "--params", &cut], 3, &[&cut, "offset"]);
    }
    let mut bent = params.clone();
    let middle = bent.len() / 2;
    bent[middle] ^= 1;
    let bent = file("bent.params", &bent);
    refused(&["prove", "--circuit", "sha256:1", "--params", &bent], 3, &[&bent]);
}

#[test]
fn nothing_is_overwritten_unasked_and_outputs_are_tried_before_the_work() {
    let key = key();
    refused(&["setup", "--circuit", "sha256:1", "-o", key], 2, &["circuit.params", "--force"]);
    let out = scratch("old-proofs").display().to_string();
    let prove = |more: &[&str]| {
        let arguments = [&["prove", "--circuit", "sha256:1", "--params", key][..], more].concat();
        proofline(&arguments)
    };
    assert_eq!(prove(&["--count", "2", "--out", &out, "--force"]).code, Some(0));
    refused(&["prove", "--circuit", "sha256:1", "--params", key, "--out", &out], 2, &["earlier run", "--force"]);
    assert_eq!(prove(&["--out", &out, "--force"]).code, Some(0));
    assert!(!scratch("old-proofs/proof-1.bin").exists(), "the proofs of the earlier run are gone");
    let file = file("no-folder", b"");
    refused(&["prove", "--circuit", "sha256:1", "--params", key, "--out", &file], 6, &["not a folder"]);
    refused(&["setup", "--circuit", "sha256:1", "-o", &file], 6, &["not a folder"]);
    let nowhere = scratch("nowhere/w.svg").display().to_string();
    refused(&["prove", "--circuit", "sha256:1", "--params", key, "--waterfall", &nowhere], 6, &["nowhere"]);
    let folder = env!("CARGO_TARGET_TMPDIR");
    refused(&["prove", "--circuit", "sha256:1", "--params", key, "--waterfall", folder], 6, &[folder]);
    refused(&["setup", "--circuit", "sha256:1", "--seed", "", "-o", &out], 2, &["--seed"]);
}

#[test]
fn a_reader_that_leaves_early_is_no_fault() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_proofline"))
        .args(["plan"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the command starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the command ends");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    if let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") {
        let status = Command::new(env!("CARGO_BIN_EXE_proofline")).arg("plan").stdout(full).status();
        assert_eq!(status.expect("the command starts").code(), Some(6));
    }
}

#[test]
fn an_error_that_nobody_reads_has_its_exit_code() {
    let costs = file("a-cost-model-that-is-none.ron", b"(");
    for (arguments, code) in [
        (&["check", "nowhere.ron"][..], 6),
        (&["sim", "nowhere.ron"], 6),
        (&["plan", "--graph", "graphs/fail/phase12-permit-before-send.ron"], 1),
        (&["explain", "PL9"], 3),
        (&["sim", "graphs/host.ron", "--costs", &costs], 3),
        (&["sku", "synthetic", "graphs/host.ron"], 1),
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_proofline"))
            .args(arguments)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("the command starts");
        drop(child.stderr.take());
        assert_eq!(child.wait().expect("the command ends").code(), Some(code), "{arguments:?}");
    }
}

#[test]
fn what_is_no_text_file_cannot_be_read() {
    let bytes = file("no-utf-8.ron", b"Graph(\xff)");
    let (vk, proof) = (format!("{}/circuit.vk", key()), file("all-zero.bin", &[0; 192]));
    let (params, public) = (key(), file("public-of-none.json", b"[]"));
    let poseidon = scratch("key-of-poseidon-for-kinds").display().to_string();
    assert_eq!(proofline(&["setup", "--r1cs", R1CS, "--force", "-o", &poseidon]).code, Some(0));
    // A folder with a key in it is a key; one without has no file to be read.
    for place in ["src", "/dev/null", "/dev/zero", "nowhere.at.all"] {
        for arguments in [
            &["check", place][..],
            &["plan", "--graph", place],
            &["sim", place],
            &["sku", "synthetic", place],
            &["sim", "graphs/host.ron", "--costs", place],
            &["calibrate", place],
            &["calibrate", "--trace", place, "--graph", "graphs/host.ron"],
            &["prove", "--circuit", "sha256:1", "--params", place],
            &["prove", "--zkey", place, "--wtns", WTNS],
            &["prove", "--r1cs", place, "--wtns", WTNS, "--params", params],
            &["prove", "--r1cs", R1CS, "--wtns", place, "--params", &poseidon],
            &["verify", "--vk", place, "--public", place, "--proof", place],
            &["verify", "--vk", &vk, "--public", place, "--proof", place],
            &["verify", "--vk", &vk, "--public", &public, "--proof", place],
            &["export-vk", place],
            &["params", "inspect", place],
            &["plan", "--machine", if place == "nowhere.at.all" { "nowhere.xml" } else { place }],
        ] {
            let answer = proofline(arguments);
            assert_eq!(answer.code, Some(6), "{arguments:?}: {}{}", answer.out, answer.error);
        }
    }
    // What was read and is no text has a fault, as if it had any other.
    for (arguments, code) in [
        (&["check", &bytes][..], 1),
        (&["plan", "--graph", &bytes], 1),
        (&["sim", &bytes], 1),
        (&["sku", "synthetic", &bytes], 1),
        (&["sim", "graphs/host.ron", "--costs", &bytes], 3),
        (&["calibrate", &bytes], 3),
        (&["verify", "--vk", &vk, "--public", &bytes, "--proof", &proof], 3),
    ] {
        let answer = proofline(arguments);
        assert_eq!(answer.code, Some(code), "{arguments:?}: {}{}", answer.out, answer.error);
    }
}

#[test]
fn what_is_not_there_is_said() {
    refused(&["prove", "--circuit", "sha256:1", "--params", "nowhere"], 6, &["nowhere"]);
    refused(&["setup", "--r1cs", "nowhere.r1cs", "-o", NEVER], 6, &["nowhere.r1cs"]);
    refused(&["setup", "--circuit", "sha257:1", "-o", NEVER], 3, &["sha257:1", "sha256:N"]);
    refused(&["setup", "--circuit", "sha256:0", "-o", NEVER], 3, &["sha256:0"]);
    refused(&["check", "nowhere.ron"], 6, &["nowhere.ron"]);
    refused(&["explain", "PL9999"], 3, &["PL9999"]);
}

#[test]
fn proofs_that_are_no_proofs_are_refused() {
    let vk = format!("{}/circuit.vk", key());
    let public = file("public.json", b"[\"1\", \"2\"]");
    let verify = |proof: &str, public: &str, code, parts: &[&str]| {
        refused(&["verify", "--vk", &vk, "--public", public, "--proof", proof], code, parts);
    };
    verify(&file("short.bin", &[0; 191]), &public, 3, &["191", "192"]);
    verify(&file("long.bin", &[0; 193]), &public, 3, &["193"]);
    verify(&file("zeros.bin", &[0; 192]), &public, 3, &["zeros.bin"]);
    verify(&file("short2.bin", &[0; 192]), &file("bad.json", b"[\"1\", \"x\"]"), 3, &["bad.json"]);
    verify(&vk, &public, 3, &["192"]);
}

#[test]
fn the_command_line_is_checked() {
    for arguments in [
        &["prove", "--params", "x"][..],
        &["prove", "--circuit", "sha256:1", "--r1cs", "x", "--params", "x"],
        &["prove", "--r1cs", "x", "--params", "x"],
        &["prove", "--circuit", "sha256:1", "--params", "x", "--count", "0"],
        &["prove", "--circuit", "sha256:1", "--params", "x", "--concurrency", "0"],
        &["frobnicate"],
    ] {
        assert_eq!(proofline(arguments).code, Some(2), "{arguments:?}");
    }
}

#[test]
fn every_subcommand_has_an_example_and_the_codes_are_documented() {
    let help = proofline(&["--help"]);
    let (_, codes) = help.out.split_once("Exit codes:\n").expect("it ends with them");
    let readme = fs::read_to_string("README.md").expect("the readme");
    // Lines are broken at the terminal's width.
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(codes.contains("internal fault") && words(&readme).contains(&words(codes)), "{codes}");
    for command in ["setup", "prove", "verify", "plan", "check", "explain", "sku", "params"] {
        assert!(help.out.contains(command), "{}", help.out);
        let help = proofline(&[command, "--help"]);
        assert!(help.out.contains("Example"), "{}", help.out);
    }
}

#[test]
fn the_plan_is_printed_and_the_binding_read_back() {
    let plan = proofline(&["plan", "--binding"]);
    assert_eq!(plan.code, Some(0), "{}", plan.error);
    for part in ["synthesize", "spmv", "prep_msm", "b_g2_msm", "gpu_ntt_msm", "assemble", "dealloc", "holds ("] {
        assert!(plan.out.contains(part), "`{part}` is not in:\n{}", plan.out);
    }
    // What is compiled in and what is read are shown alike.
    let compiled = proofline(&["plan"]);
    for read in [&["plan", "graphs/host.ron"][..], &["plan", "--graph", "graphs/host.ron"]] {
        assert_eq!(proofline(read).out, compiled.out, "{read:?}");
    }
    assert_eq!(proofline(&["plan", "graphs/host.ron", "--graph", "graphs/host.ron"]).code, Some(2));
    let described = proofline(&["plan", "--machine", "pack:1 l3:12 core:8 pu:2(indexes=2*96:1*2)"]);
    assert!(described.out.contains("12 CCDs, 96 cores"), "{}", described.out);
    refused(&["plan", "--machine", "pack:x"], 2, &["pack:x"]);
}

/// Text without what colours it: `ESC [ … m`.
fn uncoloured(text: &str) -> String {
    let mut pieces = text.split('\u{1b}');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |plain, piece| plain + piece.split_once('m').map_or(piece, |(_, rest)| rest))
}

#[test]
fn faulty_graphs_are_shown_the_same_in_colour_and_exit_with_1() {
    let in_folder = |folder: &str| {
        let entries = fs::read_dir(scratch_copy(folder)).expect("the folder is there");
        let names = entries.map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into_owned());
        names.filter(|name| name.ends_with(".ron")).map(|name| format!("{folder}/{name}")).collect::<Vec<_>>()
    };
    let mut graphs = in_folder("graphs/fail");
    graphs.extend(in_folder("graphs/fail/machines"));
    graphs.sort();
    for name in &graphs {
        let text = fs::read_to_string(scratch_copy(name)).expect("it is there");
        let (code, title) = text[3..text.find('\n').expect("it has lines")].split_once(' ').expect("a code, a title");
        let plain = proofline(&["check", name]);
        let coloured = proofline(&["check", "--color", "always", name]);
        if code == "PL0213" {
            assert_eq!(plain.code, Some(0), "{name}");
            assert!(
                plain.out.contains(&format!("for study only: it cannot be built\n  because {title}")),
                "{}",
                plain.out
            );
            continue;
        }
        assert!(coloured.out.contains('\u{1b}') && !plain.out.contains('\u{1b}'), "{name}");
        assert_eq!(uncoloured(&coloured.out), plain.out, "{name}");
        // Warnings alone are no reason to fail.
        let is_error = plain.out.lines().any(|line| line.starts_with("error: "));
        assert_eq!(plain.code, Some(i32::from(is_error)), "{name}");
        let severity = if is_error { "error" } else { "warning" };
        let shown = plain.out.lines().any(|line| line == format!("{severity}: {title} [{code}]"));
        assert!(shown, "{name}:\n{}", plain.out);
    }
    assert!(graphs.len() > 50, "{}", graphs.len());
    let lawful = proofline(&["check", "graphs/host.ron", "graphs/h200.ron"]);
    assert_eq!(lawful.code, Some(0), "{}", lawful.out);
}

#[test]
fn no_color_wins_over_a_terminal_that_is_none() {
    let with = |variable: &str, value: &str, more: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_proofline"))
            .args(["check", "graphs/fail/cycle.ron"])
            .args(more)
            .env(variable, value)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .expect("the command starts");
        String::from_utf8(output.stdout).expect("the command writes text").contains('\u{1b}')
    };
    assert!(!with("NO_COLOR", "1", &[]));
    assert!(with("NO_COLOR", "1", &["--color", "always"]), "who asks for it gets it");
    assert!(!with("NO_COLOR", "", &["--color", "never"]));
}

#[test]
fn a_machine_that_was_probed_is_a_sku() {
    let probed = proofline(&["sku", "probe", "--ram-bandwidth", "20 GB/s"]);
    assert_eq!(probed.code, Some(0), "{}", probed.error);
    fs::create_dir_all(scratch("probed/skus")).expect("a scratch folder can be made");
    file("probed/skus/mine.ron", probed.out.as_bytes());
    let graph = fs::read_to_string(scratch_copy("graphs/host.ron")).expect("it is there");
    let graph = file("probed/graph.ron", graph.replace("sku: any", "sku: \"mine\"").as_bytes());
    let answer = proofline(&["check", &graph]);
    assert_eq!(answer.code, Some(0), "{}", answer.out);
    assert!(answer.out.contains("legal"), "{}", answer.out);
    // hwloc reads its description as the same machine.
    let notation = proofline(&["sku", "synthetic", &scratch("probed/skus/mine.ron").display().to_string()]);
    assert_eq!(notation.code, Some(0), "{}", notation.error);
    let placed = proofline(&["plan", "--machine", notation.out.trim()]);
    assert_eq!(placed.code, Some(0), "{}", placed.error);
    assert!(placed.out.contains("placement on"), "{}", placed.out);
}

#[test]
fn the_plan_shows_how_often_each_stage_fires() {
    let plan = proofline(&["plan"]);
    let stages = plan.out.split("\nstages\n").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap_or_default();
    let column = stages.lines().next().and_then(|line| line.find("fires")).expect("the table has the column");
    let fires: Vec<&str> = stages.lines().skip(1).filter_map(|line| line.get(column..)?.split(' ').next()).collect();
    assert_eq!(fires, ["1", "1", "1", "1", "1", "1", "0"], "{}", plan.out);
}

/// What is asked for is removed and replaced, and nothing else.
#[test]
fn files_of_others_and_links_stay() {
    let folder = scratch("files-of-others");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a scratch folder can be made");
    let path = |name: &str| folder.join(name).display().to_string();
    for name in ["proof-of-identity.json", "public-notes.json", "proof-draft.bin", "proof-7.bin"] {
        fs::write(path(name), "keep").unwrap();
    }
    let out = folder.display().to_string();
    let prove = ["prove", "--circuit", "sha256:1", "--params", key(), "--out", &out, "--force"];
    assert_eq!(proofline(&prove).code, Some(0));
    for name in ["proof-of-identity.json", "public-notes.json", "proof-draft.bin"] {
        assert_eq!(fs::read_to_string(path(name)).unwrap(), "keep", "{name}");
    }
    assert!(!Path::new(&path("proof-7.bin")).exists());

    fs::write(path("target.json"), "old").unwrap();
    std::os::unix::fs::symlink("target.json", path("link.json")).unwrap();
    assert_eq!(proofline(&["export-vk", key(), "-o", &path("link.json")]).code, Some(0));
    assert!(fs::symlink_metadata(path("link.json")).unwrap().is_symlink());
    assert!(fs::read_to_string(path("target.json")).unwrap().contains("vk_alpha_1"));
}

/// A pipe that nobody writes to would be waited for, a range without end would fill the memory.
#[test]
fn nothing_is_waited_for_without_end() {
    let pipe = scratch("pipe");
    let _ = fs::remove_file(&pipe);
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let pipe = pipe.display().to_string();
    refused(&["verify", "--vk", &pipe, "--public", &pipe, "--proof", &pipe], 6, &["is not a regular file"]);
    refused(&["prove", "--circuit", "sha256:1", "--params", &pipe], 6, &["is not a regular file"]);
    refused(&["sim", "graphs/host.ron", "--sku", "laptop", "--costs", &pipe], 6, &["not a regular file"]);
    let study = "graphs/study/cuzk-phase12.ron";
    refused(&["sweep", study, "--vary", "workers=1..1000000000"], 2, &["more than 1,000,000 values"]);
    refused(&["sweep", study, "--vary", "workers=5..1"], 2, &["a range goes up"]);
    refused(&["sim", study, "--jobs", "4294967295"], 2, &[]);
    let faulty = proofline(&["sim", "graphs/fail/cycle.ron"]);
    assert!(faulty.error.starts_with("error: ") && !faulty.error.contains("error: error"), "{}", faulty.error);
}

/// Whoever asks for one of Filecoin's proofs is told what is missing, not that the option is unknown.
#[cfg(not(feature = "filecoin"))]
#[test]
fn a_build_without_filecoin_says_so() {
    for arguments in [
        &["prove", "--filecoin", "porep", "--c1", "c1.json", "--sector", "1", "--miner", "f01000"][..],
        &["verify", "--filecoin", "porep", "--proof", "proof.bin"],
        &["fil", "seal", "-o", "out"],
        &["fil", "params", "window", "-o", "out"],
    ] {
        let answer = proofline(arguments);
        assert_eq!(answer.code, Some(2), "{}", answer.error);
        assert!(answer.error.contains("feature `filecoin`") && answer.error.contains("make build"), "{}", answer.error);
    }
}

/// What a partition of a production size would take, planned on a machine that has never seen one.
#[test]
fn memory_is_planned_for_circuits_of_known_sizes() {
    let planned = proofline(&["plan", "--sizes", "porep_32g,winning_32g"]);
    assert_eq!(planned.code, Some(0), "{}", planned.error);
    for said in ["porep_32g", "winning_32g", "`Witness` of `synthesize`", "porep_32g: beside it, the proving key takes"]
    {
        assert!(planned.out.contains(said), "`{said}` is not in:\n{}", planned.out);
    }
    let refused = proofline(&["plan", "--sizes", "porep_3g"]);
    assert_eq!(refused.code, Some(2), "{}", refused.error);
    assert!(refused.error.contains("`porep_3g`"), "{}", refused.error);
}
