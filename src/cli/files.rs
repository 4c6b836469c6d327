//! Files that the command writes: whole or not at all.

use std::fs;
use std::path::Path;

use proofline::Error;

/// Writes a file by way of a temporary one beside it, so that nobody reads half of it.
pub fn write(file: &Path, bytes: &[u8]) -> Result<(), Error> {
    let fail = |action| move |source| Error::Io { action, file: file.to_owned(), source };
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let temporary = file.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    fs::write(&temporary, bytes).map_err(fail("write"))?;
    fs::rename(&temporary, file).map_err(fail("write"))
}

/// Makes a folder and those above it.
pub fn make_folder(folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(|source| Error::Io { action: "create", file: folder.to_owned(), source })
}

/// Reads a file whose size is bounded: nothing that the command reads whole is larger.
pub fn read(file: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    let fail = |source| Error::Io { action: "read", file: file.to_owned(), source };
    let length = fs::metadata(file).map_err(fail)?.len();
    if length > limit {
        return Err(Error::BadText(format!(
            "{} has {length} bytes; what is asked for here has at most {limit}: is it the right file?",
            file.display()
        )));
    }
    fs::read(file).map_err(fail)
}
