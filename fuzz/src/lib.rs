//! What the targets share.

use std::path::Path;

/// Gives `bytes` to a reader of files, in a file in memory.
pub fn as_file<T>(bytes: &[u8], name: &str, read: impl FnOnce(&Path) -> T) -> T {
    let folder = tempfile::tempdir_in("/dev/shm").expect("a folder in memory");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("a file in memory");
    read(&path)
}
