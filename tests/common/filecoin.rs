//! What the tests of Filecoin's commands share.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::Answer;

/// A folder of this test's own, empty.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{name}", env!("CARGO_CRATE_NAME")));
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}

pub fn text(path: &Path) -> &str {
    path.to_str().expect("the folder's name is text")
}

/// Expects an exit code, and words in what is said.
pub fn expect(answer: &Answer, code: i32, said: &str) {
    let all = format!("{}{}", answer.out, answer.error);
    assert_eq!(answer.code, Some(code), "{all}");
    assert!(all.contains(said), "`{said}` is not in: {all}");
}
