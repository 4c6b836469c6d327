//! Files to read that are files.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::error::WasmError;

/// Opens a file for reading. A pipe or a device, which would be waited for or never ends, is refused before it is opened.
pub(crate) fn open_regular(file: &Path) -> Result<File, WasmError> {
    let fail = |source| WasmError::Io { action: "open", file: file.to_owned(), source };
    if !fs::metadata(file).map_err(fail)?.is_file() {
        return Err(fail(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")));
    }
    File::open(file).map_err(fail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_and_folders_are_no_files() {
        for path in ["/dev/zero", "/"] {
            let error = open_regular(Path::new(path)).map(drop).expect_err("it is none").to_string();
            assert!(error.contains(path) && error.contains("not a regular file"), "{error}");
        }
    }
}
