//! What goes wrong with Filecoin's proofs: files that are none, keys that would be lost, proofs and statements that were
//! altered. Each ends with one sentence, and nothing is waited for.

mod common;
#[path = "common/filecoin.rs"]
mod shared;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Answer, proofline};
use proofline::filecoin::{Family, Kind};
use shared::{expect, folder, text};

/// The key of the tests' window circuit in a folder, and its verifying key.
fn files_of_key(folder: &Path) -> [PathBuf; 3] {
    let family = Family { kind: Kind::Window, size: "2KiB".parse().expect("a size") };
    let params = family.params_in(folder).expect("there is such a circuit");
    let converted = params.with_extension("params.resident");
    [params, family.vk_in(folder).expect("there is such a circuit"), converted]
}

const META: &str = "tests/data/filecoin/window-2k.meta.json";
const VANILLA: [&str; 2] =
    ["tests/data/filecoin/window-2k.vanilla0.bincode", "tests/data/filecoin/window-2k.vanilla1.bincode"];

/// `prove` of the tests' two sectors, with more arguments.
fn prove(keys: &Path, more: &[&str]) -> Answer {
    let window = ["prove", "--filecoin", "window", "--statement", META, "--vanilla", VANILLA[0], VANILLA[1]];
    proofline(&[&window[..], &["--params", text(keys)], more].concat())
}

fn pipe(file: &Path) {
    assert!(Command::new("mkfifo").arg(file).status().is_ok_and(|status| status.success()));
}

fn make_folder(place: &Path) {
    fs::create_dir(place).expect("a folder can be made");
}

fn link_to_device(place: &Path) {
    std::os::unix::fs::symlink("/dev/zero", place).expect("a link can be made");
}

#[test]
fn altered_proofs_and_foreign_keys_are_told_from_wrong_proofs() {
    let place = folder("altered");
    let [keys, out, other] = ["keys", "out", "other"].map(|name| place.join(name));
    expect(&proofline(&["fil", "params", "window", "--seed", "tests", "-o", text(&keys)]), 0, "written to");
    expect(&prove(&keys, &["--out", text(&out)]), 0, "1 of 1 proofs of window-2KiB verified");
    let good = fs::read(out.join("proof-0.bin")).expect("the proof is there");
    let statement = out.join("statement-0.json");
    let judge = |proof: &[u8], statement: &Path, more: &[&str]| {
        let file = place.join("proof.bin");
        fs::write(&file, proof).expect("it can be written");
        let all = ["verify", "--filecoin", "window", "--proof", text(&file), "--statement", text(statement)];
        proofline(&[&all[..], more].concat())
    };
    let with_keys = ["--params", text(&keys)];
    expect(&judge(&good, &statement, &with_keys), 0, ": valid");
    // A point in its group that is another: the answer is no. Anything else is no proof.
    let mut changed = good.clone();
    changed[0] ^= 0x20;
    expect(&judge(&changed, &statement, &with_keys), 1, "NOT valid");
    let mut changed = good.clone();
    changed[20] ^= 1;
    expect(&judge(&changed, &statement, &with_keys), 3, "proof.bin is not valid at offset 0: partition 0: point A");
    let infinity = [&[0xc0][..], &[0; 47]].concat();
    let changed = [&good[..144], &infinity].concat();
    expect(&judge(&changed, &statement, &with_keys), 3, "point C of the proof");
    expect(&judge(&good[..191], &statement, &with_keys), 3, "it has 191 bytes");
    // The statement is looked at first.
    let twice = place.join("twice.json");
    let said = fs::read_to_string(&statement).expect("it is text");
    fs::write(&twice, said.replace("\"sector_id\": 2", "\"sector_id\": 1")).expect("it can be written");
    expect(&judge(&good, &twice, &with_keys), 4, "sector 1 is given twice");
    expect(&proofline(&["setup", "--circuit", "sha256:1", "--seed", "tests", "-o", text(&other)]), 0, "written to");
    let vk = text(&other.join("circuit.vk")).to_owned();
    expect(&judge(&good, &statement, &["--vk", &vk]), 4, "it is the key of another circuit");
    // What is said twice in two forms is said once.
    let value: serde_json::Value = serde_json::from_str(&said).expect("it is JSON");
    let upper = value["randomness"].as_str().expect("a text").to_uppercase();
    expect(&judge(&good, &statement, &[&with_keys[..], &["--randomness", &upper]].concat()), 0, ": valid");
    expect(&judge(&good, &statement, &[&with_keys[..], &["--ticket", &upper]].concat()), 2, "has no `ticket`");
    fs::write(&twice, "{}").expect("it can be written");
    expect(&judge(&good, &twice, &with_keys), 3, "twice.json has no `registered_proof`");
    let nothing = ["verify", "--filecoin", "window", "--proof", text(&out), "--size", "2KiB"];
    expect(&proofline(&nothing), 2, "give --miner ID, or --statement FILE");
}

#[test]
fn fields_beside_a_c1_output_may_have_any_form() {
    let place = folder("forms");
    let c1 = "tests/data/filecoin/porep-2k-sector1.c1.json";
    let meta = fs::read("tests/data/filecoin/porep-2k-sector1.meta.json").expect("the test data is there");
    let meta: serde_json::Value = serde_json::from_slice(&meta).expect("it is JSON");
    let ticket = format!("0x{}", meta["ticket"].as_str().expect("a text").to_uppercase());
    let porep = ["prove", "--filecoin", "porep", "--c1", c1, "--sector", "1", "--miner", "f01000"];
    let with = |more: &[&str]| proofline(&[&porep[..], &["--params", text(&place)], more].concat());
    // Only the key is missing.
    expect(&with(&["--ticket", &ticket]), 6, "proofline fil params porep --size 2KiB");
    expect(&with(&["--ticket", "77"]), 3, "--ticket: `ticket`: 2 hexadecimal digits");
    expect(&with(&["--randomness", &ticket]), 2, "--randomness: a statement of the kind porep has no `randomness`");
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let place = folder("no-files");
    let [keys, out] = ["keys", "out"].map(|name| place.join(name));
    expect(&proofline(&["fil", "params", "window", "--seed", "tests", "-o", text(&keys)]), 0, "written to");
    let [params, vk, _] = files_of_key(&keys);
    expect(&prove(&params, &[]), 6, "it is not a folder");
    fs::remove_file(&params).expect("it can be removed");
    // The converted key alone does, but nothing is published of it.
    expect(&prove(&keys, &[]), 0, "1 of 1 proofs");
    expect(&prove(&keys, &["--published"]), 4, "only the converted key");
    for (number, make) in [pipe as fn(&Path), make_folder, link_to_device].into_iter().enumerate() {
        make(&params);
        for more in [&[][..], &["--published"]] {
            expect(&prove(&keys, more), 6, "is not a regular file");
        }
        fs::rename(&params, place.join(number.to_string())).expect("it can be moved");
    }
    fs::remove_file(&vk).expect("it can be removed");
    pipe(&vk);
    let verify = ["verify", "--filecoin", "window", "--statement", META, "--proof", META, "--params", text(&keys)];
    expect(&proofline(&verify), 6, "is not a regular file");
    // The lock of a folder, too: neither waited for nor written through.
    fs::create_dir(&out).expect("a folder");
    let lock = out.join(".proofline.lock");
    pipe(&lock);
    expect(&prove(&keys, &["--out", text(&out)]), 6, ".proofline.lock is not a regular file");
    fs::remove_file(&lock).expect("it can be removed");
    let theirs = place.join("theirs");
    fs::write(&theirs, "theirs").expect("it can be written");
    std::os::unix::fs::symlink(&theirs, &lock).expect("a link");
    expect(&prove(&keys, &["--out", text(&out)]), 6, ".proofline.lock is not a regular file");
    assert_eq!(fs::read_to_string(&theirs).expect("it is there"), "theirs");
}

#[test]
fn keys_and_vanilla_proofs_are_not_replaced_unasked() {
    let place = folder("replaced");
    for file in files_of_key(&place) {
        fs::write(&file, "a key").expect("it can be written");
        let make = ["fil", "params", "window", "--seed", "tests", "-o", text(&place)];
        expect(&proofline(&make), 2, &format!("{} is there already", file.display()));
        assert_eq!(fs::read_to_string(&file).expect("it is there"), "a key");
        fs::remove_file(&file).expect("it can be removed");
    }
    let made_up = place.join("made-up");
    let fabricate = |more: &[&str]| {
        proofline(&[&["fil", "fabricate", "window", "--size", "2KiB", "-o", text(&made_up)], more].concat())
    };
    expect(&fabricate(&[]), 0, "window-1.vanilla.bincode");
    let first = fs::read(made_up.join("window-1.vanilla.bincode")).expect("it is there");
    expect(&fabricate(&["--seed", "other"]), 2, "is there already");
    assert!(fs::read(made_up.join("window-1.vanilla.bincode")).expect("it is there") == first);
    expect(&fabricate(&["--seed", "other", "--force"]), 0, "window-1.vanilla.bincode");
    let none = place.join("none");
    let winning = ["fil", "fabricate", "winning", "-n", "2", "-o", text(&none)];
    expect(&proofline(&winning), 3, "one sector of winning");
    assert!(!none.exists(), "a folder for nothing");
}

#[test]
fn options_that_would_be_passed_over_are_refused() {
    let place = folder("options");
    for other in [
        ["--circuit", "sha256:1"],
        ["--r1cs", "x"],
        ["--zkey", "x"],
        ["--wtns", "x"],
        ["--wasm", "x"],
        ["--input", "x"],
    ] {
        expect(&prove(&place, &other), 2, "cannot be used with");
    }
    let out = text(&place.join("out")).to_owned();
    expect(&prove(&place, &["--out", &out, "--format", "json"]), 2, "192 bytes for each partition");
}

#[test]
fn the_plan_says_where_its_graph_is_looked_for() {
    let elsewhere = folder("plan");
    let output = Command::new(env!("CARGO_BIN_EXE_proofline"))
        .args(["plan", "--sizes", "porep_32g"])
        .current_dir(&elsewhere)
        .output()
        .expect("the command starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(6), "{error}");
    assert!(error.contains("the root of the repository") && error.contains("--graph"), "{error}");
}
