//! Vanilla proofs and statements that are written for tests and demonstrations.

use std::path::{Path, PathBuf};

use super::statement::Statement;
use crate::error::Error;
use crate::partial::PartialFile;

/// What was made: the statement, and the files with its vanilla proofs or C1 output.
pub struct Made {
    /// What a proof of it claims.
    pub statement: Statement,
    /// Where the statement is.
    pub file: PathBuf,
    /// The C1 output, or the vanilla proofs.
    pub vanilla: Vec<PathBuf>,
}

/// Writes a statement into a folder.
pub(super) fn with_statement(
    folder: &Path,
    name: &str,
    statement: Statement,
    vanilla: Vec<PathBuf>,
) -> Result<Made, Error> {
    let file = statement_in(folder, name);
    put(&file, format!("{:#}\n", statement.to_json()).as_bytes())?;
    Ok(Made { statement, file, vanilla })
}

/// Where a statement of this name is.
pub(super) fn statement_in(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.statement.json"))
}

/// Writes a file whole or not at all.
pub(super) fn put(file: &Path, bytes: &[u8]) -> Result<(), Error> {
    let mut whole = PartialFile::create(file, 0)?;
    whole.put(bytes)?;
    whole.finish()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_that_cannot_be_written_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("window-1.vanilla.bincode");
        put(&file, b"one").unwrap();
        put(&file, b"other").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"other");
        let taken = folder.path().join("window-2.vanilla.bincode");
        fs::create_dir(&taken).unwrap();
        assert!(put(&taken, b"two").unwrap_err().to_string().contains("window-2.vanilla.bincode"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no partial file is left");
    }
}
