//! A circuit of circomlib's, compiled and calculated by the tools of npm, if they are there.
//!
//! circom, snarkjs and circomlib are under the GPL: nothing of them is kept here. `PROOFLINE_NODE_MODULES` names a
//! `node_modules` folder with `circom2`, `snarkjs` and `circomlib`; else the repository's own is looked for.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use proofline_circom_wasm::{Calculator, Input, Limits};

fn node_modules() -> Option<PathBuf> {
    let named = std::env::var_os("PROOFLINE_NODE_MODULES").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../node_modules"));
    ["circom2/cli.js", "snarkjs/build/cli.cjs", "circomlib/circuits"]
        .iter()
        .all(|part| folder.join(part).exists())
        .then_some(folder)
}

fn node(script: &Path, arguments: &[&str], folder: &Path) {
    let output = Command::new("node").arg(script).args(arguments).current_dir(folder).output().expect("node starts");
    let said = || String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {}", script.display(), said());
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder can be made");
    for entry in std::fs::read_dir(from).expect("a folder can be read") {
        let path = entry.expect("an entry can be read").path();
        let to = to.join(path.file_name().expect("entries have names"));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            std::fs::copy(&path, to).expect("a file can be copied");
        }
    }
}

#[test]
fn sha256_of_circomlib_has_the_witness_of_snarkjs() {
    let Some(modules) = node_modules() else {
        // Past the capture of a test's output: a test that looks at nothing must not look like one that passed.
        let what =
            "NOT TESTED: no circom2, snarkjs and circomlib: PROOFLINE_NODE_MODULES names no node_modules with them";
        let _ = writeln!(std::io::stderr(), "{what}");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder can be made");
    let folder = folder.path();
    // circom of npm sees the folder it is in and nothing else.
    copy(&modules.join("circomlib/circuits"), &folder.join("lib/circomlib/circuits"));
    let source =
        "pragma circom 2.1.0;\ninclude \"circomlib/circuits/sha256/sha256.circom\";\ncomponent main = Sha256(24);\n";
    std::fs::write(folder.join("sha.circom"), source).expect("a file can be written");
    let options = ["sha.circom", "--prime", "bls12381", "--wasm", "--O0", "-l", "lib"];
    node(&modules.join("circom2/cli.js"), &options, folder);
    // The bits of "abc", the first of each byte the most significant.
    let bits: Vec<String> =
        b"abc".iter().flat_map(|byte| (0..8).map(move |i| (byte >> (7 - i) & 1).to_string())).collect();
    let input = folder.join("input.json");
    std::fs::write(&input, format!("{{\"in\": [{}]}}", bits.join(", "))).expect("a file can be written");
    let options = ["wtns", "calculate", "sha_js/sha.wasm", "input.json", "out.wtns"];
    node(&modules.join("snarkjs/build/cli.cjs"), &options, folder);

    // What circom writes is far from what a compiler chokes on.
    let limits = Limits { compile_work: 5_000_000, ..Limits::default() };
    let calculator = Calculator::open(&folder.join("sha_js/sha.wasm"), &limits).expect("the module is good");
    let witness = calculator.witness(&Input::open(&input, 1000).expect("the input is good")).expect("it is right");
    assert!(witness.to_wtns() == std::fs::read(folder.join("out.wtns")).expect("snarkjs wrote it"));
    let digest = witness.values()[1..257].chunks(8).map(|bits| bits.iter().fold(0, |byte, bit| byte << 1 | bit[0]));
    let digest: String = digest.map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}
