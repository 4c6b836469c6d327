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
    PartialFile::write_whole(&file, format!("{:#}\n", statement.to_json()).as_bytes())?;
    Ok(Made { statement, file, vanilla })
}

/// Where a statement of this name is.
pub(super) fn statement_in(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.statement.json"))
}
