//! Filecoin's proofs, as a storage provider's scripts make them.

mod common;
#[path = "common/filecoin.rs"]
mod shared;

use std::fs;
use std::path::{Path, PathBuf};

use common::proofline;
use shared::{expect, folder, text};

const DATA: &str = "tests/data/filecoin";

/// The only file in a folder whose name ends so.
fn file_in(folder: &Path, end: &str) -> PathBuf {
    let files = fs::read_dir(folder).expect("the folder can be read").map(|entry| entry.expect("an entry").path());
    let mut found = files.filter(|file| text(file).ends_with(end));
    found.next().unwrap_or_else(|| panic!("no file …{end} in {}", folder.display()))
}

#[test]
fn from_nothing_to_a_verified_window_post() {
    let place = folder("window");
    let [sectors, keys, out] = ["sectors", "keys", "out"].map(|name| place.join(name));
    let seal = proofline(&["fil", "seal", "--size", "2KiB", "-n", "3", "-o", text(&sectors)]);
    expect(&seal, 0, "porep-3.c1.json");
    expect(&proofline(&["fil", "seal", "-o", text(&sectors)]), 2, "has sectors already");
    let make = ["fil", "params", "window", "--size", "2KiB", "--seed", "tests", "-o", text(&keys)];
    expect(&proofline(&make), 0, "21866 constraints, 23 inputs, 22128 aux, domain 32768");
    expect(&proofline(&make), 2, "is there already");
    assert_eq!(fs::read_to_string(file_in(&keys, ".meta")).expect("it is text"), r#"{"sector_size":2048}"#);

    let at = |name: &str| text(&sectors.join(name)).to_owned();
    let statement = at("window.statement.json");
    let vanilla = [1, 2, 3].map(|number| at(&format!("window-{number}.vanilla.bincode")));
    let mut prove = vec!["prove", "--filecoin", "window", "--statement", &statement, "--params", text(&keys)];
    prove.extend(["--out", text(&out), "--vanilla"]);
    prove.extend(vanilla.iter().map(String::as_str));
    expect(&proofline(&prove), 0, "1 of 1 proofs of window-2KiB verified");
    // Two partitions: two sectors in the first, one in the second.
    let proof = out.join("proof-0.bin");
    assert_eq!(fs::read(&proof).expect("the proof is there").len(), 2 * 192);
    let written = text(&out.join("statement-0.json")).to_owned();
    let verify = |more: &[&str]| {
        let all =
            [&["verify", "--filecoin", "window", "--proof", text(&proof), "--params", text(&keys)], more].concat();
        proofline(&all)
    };
    expect(&verify(&["--statement", &written]), 0, ": valid");
    expect(&verify(&["--statement", &statement]), 0, ": valid");

    // Any other statement is refused; one that contradicts itself is not looked at.
    let good: serde_json::Value =
        serde_json::from_slice(&fs::read(&written).expect("it is there")).expect("it is JSON");
    let field = |name: &str| good[name].as_str().expect("a text").to_owned();
    let flipped = |hex: &str| format!("{}{}", if hex.starts_with('0') { '1' } else { '0' }, &hex[1..]);
    let sector = |n: usize| (good["sectors"][n]["sector_id"].as_u64(), good["sectors"][n]["comm_r"].as_str());
    let comm_rs = (0..3).map(|n| match sector(n) {
        (Some(number), Some(comm_r)) => format!("{number}={comm_r}"),
        other => panic!("{other:?}"),
    });
    let comm_rs: Vec<String> = comm_rs.collect();
    let randomness = field("randomness");
    let by_hand = |randomness: &str, comm_rs: &[String]| {
        let mut more = vec!["--size", "2KiB", "--miner", "f01000", "--randomness", randomness, "--comm-r"];
        more.extend(comm_rs.iter().map(String::as_str));
        verify(&more)
    };
    expect(&by_hand(&randomness, &comm_rs), 0, ": valid");
    expect(&by_hand(&flipped(&randomness), &comm_rs), 1, "NOT valid");
    let mut others = comm_rs.clone();
    others[1] = others[1].replacen("2=", "9=", 1);
    expect(&by_hand(&randomness, &others), 1, "NOT valid");
    others[1] = format!("2={}", flipped(&comm_rs[1][2..]));
    expect(&by_hand(&randomness, &others), 1, "NOT valid");
    expect(&by_hand(&randomness, &comm_rs[..2]), 3, "it has 384 bytes");
    expect(&by_hand(&randomness[2..], &comm_rs), 3, "`randomness`: 62 hexadecimal digits");
    expect(&by_hand(&format!("{}ff", &randomness[..62]), &comm_rs), 3, "not below the field's prime");
    expect(&verify(&["--statement", &written, "--randomness", &flipped(&randomness)]), 2, "give it once");
}

#[test]
fn what_cannot_be_proved_is_refused_before_any_work() {
    let place = folder("refused");
    let keys = text(&place.join("keys")).to_owned();
    let prove = |arguments: &[&str]| proofline(&[&["prove"], arguments, &["--params", &keys]].concat());
    let c1 = format!("{DATA}/porep-2k-sector1.c1.json");
    let window = [0, 1].map(|number| format!("{DATA}/window-2k.vanilla{number}.bincode"));
    let meta = format!("{DATA}/window-2k.meta.json");
    let porep = |more: &[&str]| prove(&[&["--filecoin", "porep", "--c1", &c1], more].concat());
    expect(&porep(&["--sector", "2", "--miner", "f01000"]), 4, "is not of sector 2 of this miner");
    expect(&porep(&["--sector", "1", "--miner", "f01001"]), 4, "--miner");
    expect(&porep(&["--sector", "1", "--miner", "bob"]), 3, "`bob`");
    expect(&porep(&["--sector", "1"]), 2, "--miner ID");
    expect(&porep(&["--sector", "1", "--miner", "f01000", "--seed", &"00".repeat(32)]), 4, "`seed`");
    let ticket = ["--sector", "1", "--miner", "f01000", "--ticket", &"11".repeat(32)];
    expect(&porep(&ticket), 4, "`ticket`");
    expect(
        &porep(&["--sector", "1", "--miner", "f01000", "--registered", "StackedDrg2KiBV1"]),
        4,
        "`registered_proof`",
    );
    expect(&porep(&["--sector", "1", "--miner", "f01000", "--vanilla", &window[0]]), 2, "--c1 FILE");
    // Only the key is missing now.
    expect(&porep(&["--sector", "1", "--miner", "f01000"]), 6, "proofline fil params porep --size 2KiB");
    let cut = place.join("cut.c1.json");
    fs::write(&cut, &fs::read(&c1).expect("the test data is there")[..5000]).expect("it can be written");
    expect(&prove(&["--filecoin", "porep", "--c1", text(&cut), "--sector", "1", "--miner", "f01000"]), 3, "cut off");

    let of_window = |more: &[&str]| prove(&[&["--filecoin", "window", "--statement", &meta], more].concat());
    expect(&of_window(&[]), 2, "--vanilla FILE");
    expect(&of_window(&["--vanilla", &window[0]]), 4, "of the sectors 1, and");
    expect(&of_window(&["--vanilla", &window[0], &window[1], &window[1]]), 4, "of the sectors 1, 2, 2");
    expect(&of_window(&["--vanilla", &window[0], &c1]), 3, "this is no vanilla proof");
    expect(&of_window(&["--vanilla", &window[0], &window[1]]), 6, "proofline fil params window --size 2KiB");
    expect(&prove(&["--filecoin", "sealing", "--c1", &c1]), 2, "no kind of proof");
    expect(&prove(&["--filecoin", "winning", "--statement", &meta, "--vanilla", &window[0]]), 3, "registered proof");
    expect(&proofline(&["fil", "params", "window", "--size", "3KiB", "-o", &keys]), 3, "`3KiB`");
    expect(&proofline(&["fil", "seal", "--size", "64GiB", "-o", &keys]), 3, "are not sealed here");
}

#[test]
fn keys_that_are_damaged_or_of_another_circuit_are_refused() {
    let place = folder("keys");
    let keys = place.join("keys");
    expect(&proofline(&["fil", "params", "window", "--seed", "tests", "-o", text(&keys)]), 0, "written to");
    let (statement, vanilla) =
        (format!("{DATA}/window-2k.meta.json"), |n| format!("{DATA}/window-2k.vanilla{n}.bincode"));
    let (one, two) = (vanilla(0), vanilla(1));
    let prove = |more: &[&str]| {
        let window = ["prove", "--filecoin", "window", "--statement", &statement, "--vanilla", &one, &two];
        proofline(&[&window[..], &["--params", text(&keys)], more].concat())
    };
    expect(&prove(&[]), 0, "1 of 1 proofs of window-2KiB verified");
    expect(&prove(&["--published"]), 4, "is not the published key");
    let params = file_in(&keys, ".params");
    let resident = file_in(&keys, ".params.resident");
    let good = fs::read(&params).expect("the key is there");
    // A key that was changed behind the converted one's back is not taken for it.
    let mut changed = good.clone();
    changed[700] ^= 1;
    fs::write(&params, &changed).expect("it can be written");
    expect(&prove(&[]), 4, "another key");
    fs::remove_file(&resident).expect("it can be removed");
    // The verifying key, then a byte and a cut in each section: 3076 bytes of it, then a count and points for each query.
    let mut at = 3076;
    let mut places = vec![(100, "beta")];
    for (name, each) in [("h", 96), ("l", 96), ("a", 96), ("b_g1", 96), ("b_g2", 192)] {
        let count = u32::from_be_bytes(good[at..at + 4].try_into().expect("four bytes")) as usize;
        places.push((at + 4 + each * (count / 2) + 50, name));
        at += 4 + each * count;
    }
    assert_eq!(at, good.len());
    for (place, name) in places {
        let mut changed = good.clone();
        changed[place] ^= 1;
        fs::write(&params, &changed).expect("it can be written");
        expect(&prove(&[]), 3, &format!("{name} "));
        fs::write(&params, &good[..place]).expect("it can be written");
        let cut = prove(&[]);
        expect(&cut, 3, name);
    }
    // The key of another circuit under this one's name.
    fs::remove_file(&params).expect("it can be removed");
    let other = place.join("other");
    expect(&proofline(&["setup", "--circuit", "sha256:1", "--seed", "tests", "-o", text(&other)]), 0, "written to");
    fs::copy(other.join("circuit.params"), &params).expect("it can be copied");
    expect(&prove(&[]), 4, "the key is for another circuit than `window-2KiB`");
}

#[test]
fn a_circuit_is_compiled_into_the_file_that_lies_beside_its_key() {
    let place = folder("circuit");
    let [keys, alone] = ["keys", "alone"].map(|name| text(&place.join(name)).to_owned());
    expect(&proofline(&["fil", "params", "window", "--seed", "tests", "-o", &keys]), 0, "written to");
    let circuit = ["fil", "circuit", "window", "-o", &alone];
    expect(&proofline(&circuit), 0, "21866 constraints, 23 inputs, 22128 aux, 199971 non-zeros");
    expect(&proofline(&circuit), 2, "is there already");
    let pce = |folder: &str| fs::read(file_in(Path::new(folder), ".pce")).expect("the circuit is there");
    assert!(pce(&keys) == pce(&alone), "two files of one circuit differ");
    expect(
        &proofline(&["fil", "circuit", "update", "--size", "1GiB", "-o", &alone]),
        3,
        "no updates of sectors of 1GiB",
    );
}
