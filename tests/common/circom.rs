//! What tests of circom users' files share: a key of a real circuit, and how the command is to end.

use std::fs;
use std::path::{Path, PathBuf};

use super::common::{Answer, proofline};

/// The command, which must succeed.
pub fn done(arguments: &[&str]) -> Answer {
    let answer = proofline(arguments);
    assert_eq!(answer.code, Some(0), "{arguments:?}\n{}{}", answer.out, answer.error);
    answer
}

/// The command, which must end with this code and say each of `parts` on standard error.
pub fn refused(arguments: &[&str], code: i32, parts: &[&str]) {
    let answer = proofline(arguments);
    assert_eq!(answer.code, Some(code), "{arguments:?}\n{}{}", answer.out, answer.error);
    for part in parts {
        assert!(answer.error.contains(part), "`{part}` is not in: {}", answer.error);
    }
}

pub const R1CS: &str = "tests/data/circom/poseidon_m7.r1cs";
pub const WTNS: &str = "tests/data/circom/poseidon_m7.wtns";

/// An empty folder of a test's own.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("circom-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a scratch folder can be made");
    folder
}

/// A folder with a key of [`R1CS`], and the paths of the key and its verifying key.
pub fn key(name: &str) -> (PathBuf, String, String) {
    let folder = folder(name);
    let text = folder.display().to_string();
    done(&["setup", "--r1cs", R1CS, "--format", "zkey", "--seed", "tests", "-o", &text]);
    let file = |name: &str| folder.join(name).display().to_string();
    let (zkey, vk) = (file("circuit.zkey"), file("verification_key.json"));
    (folder, zkey, vk)
}

/// A witness in which one value is another.
pub fn wrong_witness(folder: &Path) -> String {
    let mut bytes = fs::read(WTNS).expect("the witness");
    let last = bytes.len() - 32;
    bytes[last] ^= 1;
    let file = folder.join("wrong.wtns");
    fs::write(&file, bytes).expect("a scratch file can be written");
    file.display().to_string()
}
