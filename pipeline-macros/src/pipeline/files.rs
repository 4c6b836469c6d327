//! Where the files of a call lie.

use std::io;
use std::path::{Path, PathBuf};

/// Finds files from the package's folder, then from the folder of the calling file.
pub struct Finder {
    folders: Vec<PathBuf>,
}

impl Finder {
    /// For a call in `caller`.
    pub fn new(caller: Option<&Path>) -> Self {
        let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let beside = caller.and_then(Path::parent).map(Path::to_owned);
        Self { folders: package.into_iter().chain(beside).collect() }
    }

    /// The file that `shown` names.
    pub fn find(&self, shown: &str) -> io::Result<PathBuf> {
        let mut candidates = self.folders.iter().map(|folder| folder.join(shown));
        candidates
            .find(|path| path.is_file())
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "there is no such file"))
    }

    /// The `.ron` files of the folder of `shown`, named as `shown` is.
    pub fn siblings(&self, shown: &str) -> Vec<String> {
        let folder = Path::new(shown).parent().unwrap_or(Path::new(""));
        let entries =
            self.folders.iter().filter_map(|root| std::fs::read_dir(root.join(folder)).ok()).flatten().flatten();
        let names = entries.map(|entry| folder.join(entry.file_name()).display().to_string());
        let mut names: Vec<String> = names.filter(|name| name.ends_with(".ron")).collect();
        names.sort();
        names.dedup();
        names
    }
}
