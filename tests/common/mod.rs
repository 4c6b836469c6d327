//! The command, started as scripts start it.

use std::process::Command;

/// What it answered.
pub struct Answer {
    pub code: Option<i32>,
    pub out: String,
    pub error: String,
}

/// Runs the command in the root of the repository.
pub fn proofline(arguments: &[&str]) -> Answer {
    let output = Command::new(env!("CARGO_BIN_EXE_proofline"))
        // Not the cache of whoever runs the tests.
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("the command starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the command writes text");
    Answer { code: output.status.code(), out: text(output.stdout), error: text(output.stderr) }
}
