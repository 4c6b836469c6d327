//! Files that tests write for the command to read.

use std::fs;
use std::path::Path;

/// Writes a file into the tests' own folder, and gives its path.
pub fn scratch(name: &str, text: &str) -> String {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&file, text).expect("a scratch file can be written");
    file.display().to_string()
}
