//! What circom users' command lines and files can do to their keys, proofs and terminals, and must not.

#[path = "common/circom.rs"]
mod circom;
mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use circom::{R1CS, WTNS, done, folder, key, refused, wrong_witness};
use common::proofline;

const WASM: &str = "tests/data/circom/asserting.wasm";
const INPUT: &str = "tests/data/circom/asserting.input.json";

/// What stands in the files of a folder.
fn files_in(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<_> = fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be listed").path())
        .filter(|path| path.is_file())
        .map(|path| (path.display().to_string(), fs::read(&path).expect("it can be read")))
        .collect();
    found.sort();
    found
}

#[test]
fn nothing_is_written_over_a_key_or_what_belongs_to_it() {
    let (folder, zkey, _) = key("over");
    let out = folder.join("proofs").display().to_string();
    let place = folder.display().to_string();
    let prove = ["prove", "--zkey", &zkey, "--wtns", WTNS, "--out", &out];
    done(&prove);
    let before = files_in(&folder);
    assert!(
        before.iter().any(|(name, _)| name.ends_with(".resident"))
            && before.iter().any(|(name, _)| name.ends_with(".pce"))
    );
    let says = ["would be written over", "choose another"];
    for key in [&zkey, &place] {
        refused(&["export-vk", key, "-o", &zkey], 2, &says[..1]);
    }
    for (option, end) in [("--trace", ".resident"), ("--waterfall", ".pce"), ("--trace", "")] {
        refused(&[&prove[..], &["--force", option, &format!("{zkey}{end}")]].concat(), 2, &says);
    }
    // Nor over the proofs of the run itself.
    for (option, name) in [("--trace", "public-0.json"), ("--waterfall", "proof-7.json")] {
        refused(&[&prove[..], &["--force", option, &format!("{out}/{name}")]].concat(), 2, &says);
    }
    let (new, trace) = (format!("{place}/new"), format!("{place}/new/../new/proof-0.json"));
    refused(&["prove", "--zkey", &zkey, "--wtns", WTNS, "--out", &new, "--trace", &trace], 2, &says);
    assert_eq!(files_in(&folder), before);
    assert!(fs::read_to_string(format!("{out}/public-0.json")).is_ok_and(|text| text.starts_with('[')));
}

/// A pattern means the files that fit it, here as well.
#[test]
fn nothing_is_written_over_a_file_that_a_pattern_means() {
    let (folder, zkey, _) = key("pattern");
    fs::copy(WTNS, folder.join("one.wtns")).expect("a scratch file can be written");
    fs::copy(INPUT, folder.join("one.json")).expect("a scratch file can be written");
    let text = |name: &str| folder.join(name).display().to_string();
    let (input, wtns, inputs, witnesses) = (text("one.json"), text("one.wtns"), text("o*.json"), text("*.wtns"));
    let by_input = ["prove", "--zkey", &zkey, "--wasm", WASM, "--input", &inputs, "--trace", &input];
    refused(&by_input, 2, &["--trace would be written over", "which is read as --input"]);
    refused(&["prove", "--zkey", &zkey, "--wtns", &witnesses, "--trace", &wtns], 2, &["which is read as --wtns"]);
    done(&["prove", "--zkey", &zkey, "--wtns", &witnesses]);
    refused(&["prove", "--zkey", &zkey, "--wtns", &wtns, "--input", &input], 2, &["--input"]);
}

#[test]
fn setup_replaces_nothing_without_being_told() {
    for (format, lone) in [("zkey", "verification_key.json"), ("params", "circuit.vk"), ("params", "circuit.pce")] {
        let folder = folder(&format!("lone-{lone}"));
        fs::write(folder.join(lone), "somebody's").expect("a scratch file can be written");
        let setup = ["setup", "--r1cs", R1CS, "--format", format, "-o", &folder.display().to_string()];
        refused(&setup, 2, &[lone, "is there already", "--force"]);
        assert_eq!(fs::read_to_string(folder.join(lone)).expect("it is there"), "somebody's");
    }
    let folder = folder("own-circuit");
    let circuit = folder.join("circuit.pce").display().to_string();
    fs::copy(R1CS, &circuit).expect("a scratch file can be written");
    let setup = ["setup", "--r1cs", &circuit, "--force", "-o", &folder.display().to_string()];
    refused(&setup, 2, &["would be written over", "which is read"]);
    assert_eq!(fs::read(&circuit).expect("it is there"), fs::read(R1CS).expect("it is there"));
}

#[test]
fn old_proofs_stay_until_there_is_a_new_one() {
    let (folder, zkey, _) = key("stay");
    let out = folder.join("proofs");
    let out_text = out.display().to_string();
    done(&["prove", "--zkey", &zkey, "--wtns", WTNS, "--out", &out_text]);
    let before = files_in(&out);
    let nowhere = folder.join("nowhere.zkey").display().to_string();
    refused(&["prove", "--zkey", &nowhere, "--wtns", WTNS, "--out", &out_text, "--force"], 6, &["nowhere.zkey"]);
    let wasm = ["prove", "--zkey", &zkey, "--wasm", R1CS, "--input", INPUT, "--out", &out_text, "--force"];
    refused(&wasm, 3, &["not a WebAssembly module"]);
    let other = ["prove", "--zkey", &zkey, "--wasm", WASM, "--input", INPUT, "--out", &out_text, "--force"];
    refused(&other, 4, &["the calculator of another circuit"]);
    assert_eq!(files_in(&out), before);
    done(&["prove", "--zkey", &zkey, "--wtns", WTNS, "--out", &out_text, "--force"]);
    assert_ne!(files_in(&out), before, "another proof of the same statement");
}

/// The good one of two witnesses is proved, and the other, a sparse file, is not read.
#[test]
fn a_witness_of_another_size_is_refused_before_it_takes_memory() {
    const VALUES: u32 = 1 << 27;
    let (folder, zkey, _) = key("size");
    let mut head = fs::read(WTNS).expect("the witness")[..76 + 32].to_vec();
    head[60..64].copy_from_slice(&VALUES.to_le_bytes());
    head[68..76].copy_from_slice(&(32 * u64::from(VALUES)).to_le_bytes());
    let large = folder.join("large.wtns");
    fs::write(&large, head).expect("a scratch file can be written");
    let file = fs::OpenOptions::new().write(true).open(&large).expect("it is there");
    file.set_len(76 + 32 * u64::from(VALUES)).expect("it can have a hole");
    let answer = limited(4_000_000, &["prove", "--zkey", &zkey, "--wtns", &large.display().to_string(), WTNS]);
    assert_eq!(answer.0, Some(4), "{}", answer.1);
    assert!(answer.1.contains("1 of 2 proofs") && answer.1.contains("134217728 values"), "{}", answer.1);
}

/// The command with so many KiB of address space: its code, and all that it says.
fn limited(kibibytes: u32, arguments: &[&str]) -> (Option<i32>, String) {
    let command = format!("ulimit -v {kibibytes}; exec \"$0\" \"$@\"");
    let mut shell = Command::new("sh");
    shell.args(["-c", &command, env!("CARGO_BIN_EXE_proofline")]).args(arguments);
    shell.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR")).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = shell.output().expect("the shell starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout) + &text(&output.stderr))
}

#[test]
fn too_little_address_space_for_a_calculator_is_no_fault_of_its_file() {
    let (folder, zkey, _) = key("space");
    drop(folder);
    let (code, said) = limited(4_000_000, &["prove", "--zkey", &zkey, "--wasm", WASM, "--input", INPUT]);
    assert_eq!(code, Some(6), "{said}");
    assert!(said.contains("4 GiB of address space") && said.contains("ulimit -v"), "{said}");
}

/// A sparse circuit of four GiB of empty constraints.
#[test]
fn a_circuit_that_cannot_be_held_is_refused_before_it_is_read() {
    let folder = folder("no-room");
    let whole = fs::read(R1CS).expect("the circuit");
    let large = folder.join("large.r1cs");
    fs::write(&large, &whole[..1024]).expect("a scratch file can be written");
    let file = fs::OpenOptions::new().write(true).open(&large).expect("it is there");
    file.set_len(4 << 30).expect("it can have a hole");
    let (large, out) = (large.display().to_string(), folder.join("key").display().to_string());
    let (code, said) = limited(4_000_000, &["setup", "--r1cs", &large, "-o", &out]);
    assert_eq!(code, Some(7), "{said}");
    assert!(said.contains("constraints of") && said.contains("`ulimit -v`"), "{said}");
}

#[test]
fn values_of_files_do_not_command_the_terminal() {
    let (folder, zkey, vk) = key("terminal");
    let out = folder.join("proofs").display().to_string();
    done(&["prove", "--zkey", &zkey, "--wtns", WTNS, "--out", &out]);
    let forged = folder.join("forged\u{1b}[2K\u{202e}.json").display().to_string();
    fs::write(&forged, "[\"1\r\u{1b}[2K\nproof.json: valid\u{1b}[8m\"]").expect("a scratch file can be written");
    let answer = proofline(&["verify", "--vk", &vk, "--public", &forged, "--proof", &format!("{out}/proof-0.json")]);
    assert_eq!(answer.code, Some(3));
    for bad in ['\u{1b}', '\r', '\u{202e}'] {
        assert!(!answer.error.contains(bad), "{:?}", answer.error);
    }
    assert_eq!(answer.error.lines().count(), 1, "{}", answer.error);
    assert!(answer.error.contains("forged\\u{1b}[2K\\u{202e}.json"), "{}", answer.error);
    // With colours, which are escape sequences, neither does a name or a text of a graph.
    let graph = folder.join("g\u{1b}[2K\u{9b}.ron").display().to_string();
    fs::write(&graph, "(pipeline: \"a\u{9b}2K\u{1b}[2K\")").expect("a scratch file can be written");
    let answer = proofline(&["check", "--color", "always", &graph]);
    assert_eq!(answer.code, Some(1));
    assert!(answer.out.contains('\u{1b}') && !answer.out.contains("\u{1b}[2K"), "{:?}", answer.out);
    assert!(!answer.out.contains('\u{9b}'), "{:?}", answer.out);
}

#[test]
fn what_is_left_out_is_asked_for() {
    let (_, zkey, _) = key("left-out");
    refused(&["prove", "--zkey", &zkey], 2, &["--wtns FILE..., or --wasm FILE and --input FILE..."]);
    let input_alone = proofline(&["prove", "--zkey", &zkey, "--input", INPUT]);
    assert_eq!(input_alone.code, Some(2));
    assert!(input_alone.error.contains("--wasm") && !input_alone.error.contains("--wtns"), "{}", input_alone.error);
    assert!(done(&["prove", "--zkey", &zkey, "--wtns", WTNS]).out.contains("not written to files: --out DIR does"));
}

#[test]
fn what_a_failed_proof_is_of_is_said() {
    let (folder, zkey, _) = key("of");
    let wrong = wrong_witness(&folder);
    refused(
        &["prove", "--zkey", &zkey, "--wtns", &wrong],
        5,
        &[&format!("error: proof-0 ({wrong}): the proof does not")],
    );
    // Of several the first proof's counts, though the second is known to fail before anything is proved.
    let nowhere = folder.join("nowhere.wtns").display().to_string();
    refused(&["prove", "--zkey", &zkey, "--wtns", &wrong, &nowhere], 5, &[&format!("error: proof-0 ({wrong})")]);
}

/// Who may not read what another user kept beside a key proves all the same.
#[test]
fn what_is_kept_and_cannot_be_read_is_done_without() {
    let (folder, zkey, _) = key("unreadable");
    for end in ["resident", "pce"] {
        fs::create_dir(folder.join(format!("circuit.zkey.{end}"))).expect("a scratch folder can be made");
    }
    let answer = done(&["prove", "--zkey", &zkey, "--wtns", WTNS]);
    assert!(answer.error.contains("circuit.zkey.resident is not a regular file"), "{}", answer.error);
    assert!(answer.error.contains("is checked instead; remove that"), "{}", answer.error);
    fs::remove_dir(folder.join("circuit.zkey.resident")).expect("it is there");
    let answer = done(&["prove", "--zkey", &zkey, "--wtns", WTNS]);
    assert!(answer.error.contains("the circuit is taken from the key instead"), "{}", answer.error);
}
