//! Converted keys and kept circuits, as scripts see them.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs the command; its exit code and all it said.
fn proofline(arguments: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_proofline")).args(arguments).output().expect("the command starts");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().expect("an exit code"), String::from_utf8(text).expect("the command writes text"))
}

fn done(arguments: &[&str], says: &str) {
    let (code, text) = proofline(arguments);
    assert!(code == 0 && text.contains(says), "{arguments:?} ended with {code}:\n{text}");
}

fn refused(arguments: &[&str], code: i32, says: &str) {
    let (found, text) = proofline(arguments);
    let line = text.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
    assert!(found == code && line.contains(says), "{arguments:?} ended with {found}:\n{text}");
}

#[test]
fn a_key_is_converted_inspected_verified_and_used() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("params");
    // Of an earlier run.
    let _ = fs::remove_dir_all(&folder);
    let keys = folder.display().to_string();
    let converted = format!("{keys}/circuit.params.resident");
    let prove = ["prove", "--circuit", "sha256:1", "--params", &keys];
    done(&["setup", "--circuit", "sha256:1", "--seed", "params", "-o", &keys], "key written");
    done(&["params", "inspect", &keys], "not converted");
    done(&["params", "verify", &keys], "every point is on its curve");
    done(&["params", "convert", &keys], "every point checked and converted");
    done(&["params", "inspect", &keys], "belongs to");
    done(&["params", "verify", &keys], "all points are its source's");
    done(&prove, "verified");
    done(&["prove", "--circuit", "sha256:1", "--params", &converted], "verified");

    // The circuit was kept by the setup; it is kept again if it is gone.
    let circuit = format!("{keys}/circuit.pce");
    fs::remove_file(&circuit).expect("the circuit is kept");
    done(&prove, "verified");
    let kept = fs::read(&circuit).expect("the circuit is kept again");
    let damaged = |bytes: &[u8], at: usize| {
        let mut bytes = bytes.to_vec();
        bytes[at] ^= 1;
        bytes
    };
    fs::write(&circuit, damaged(&kept, kept.len() / 2)).expect("a file can be written");
    refused(&prove, 3, "circuit.pce is not valid");
    fs::write(&circuit, &kept).expect("a file can be written");

    let bytes = fs::read(&converted).expect("the converted key is there");
    fs::write(&converted, damaged(&bytes, bytes.len() / 3)).expect("a file can be written");
    refused(&prove, 3, "was altered: its digest is another; delete it, or convert the key again");
    refused(&["params", "verify", &keys], 3, "circuit.params.resident");
    fs::write(&converted, &bytes[..bytes.len() / 2]).expect("a file can be written");
    refused(&prove, 3, "it was cut off or added to");

    // Another key in the old one's place.
    fs::write(&converted, &bytes).expect("a file can be written");
    let other = folder.join("other").display().to_string();
    done(&["setup", "--circuit", "sha256:1", "--seed", "another", "-o", &other], "key written");
    fs::copy(format!("{other}/circuit.params"), format!("{keys}/circuit.params")).expect("a file can be copied");
    refused(&prove, 4, "was made from another key than");
    done(&["params", "inspect", &keys], "NO, convert it again");
    refused(&["params", "convert", "nowhere"], 6, "nowhere");
    done(&["params", "--help"], "Example");
}

#[test]
fn a_key_of_snarkjs_is_told_as_one() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("params-zkey");
    let _ = fs::remove_dir_all(&folder);
    let keys = folder.display().to_string();
    let circuit = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/circom/arrays.r1cs");
    done(&["setup", "--r1cs", circuit, "--seed", "zkey", "--format", "zkey", "-o", &keys], "key written");
    let told = |says: &str| {
        let (code, text) = proofline(&["params", "inspect", &keys]);
        assert!(code == 0 && text.contains("circuit.zkey: a key of snarkjs") && text.contains(says), "{text}");
        assert!(text.contains("values on the odd coset") && !text.contains("bellperson"), "{text}");
    };
    told("not converted");
    done(&["params", "convert", &keys], "every point checked and converted");
    told("belongs to");
}

/// What is no key is said to be none, and nothing else is said of it.
#[test]
fn what_is_no_key_is_not_called_one() {
    for (file, code) in [("README.md", 3), ("tests/data/circom/arrays.r1cs", 3), ("no/such/key", 6)] {
        let (found, text) = proofline(&["params", "inspect", &format!("{}/{file}", env!("CARGO_MANIFEST_DIR"))]);
        assert!(found == code && text.starts_with("error: "), "{file} ended with {found}:\n{text}");
    }
}
