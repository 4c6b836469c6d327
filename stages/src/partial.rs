//! A file that takes its name when it is complete: whole or not at all; and files to read that are files.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Opens a file for reading. A pipe or a device, which would be waited for or never ends, is refused before it is opened.
pub(crate) fn open_regular(path: &Path) -> Result<File, Error> {
    let metadata = fs::metadata(path).map_err(Error::io("open", path))?;
    if !metadata.is_file() {
        return Err(Error::NotRegular { file: path.to_owned(), advice: String::new() });
    }
    File::open(path).map_err(Error::io("open", path))
}

/// A file being written beside its place; gone when dropped unfinished.
pub(crate) struct PartialFile {
    path: PathBuf,
    partial: PathBuf,
    file: BufWriter<File>,
}

impl PartialFile {
    /// Begins the file that is to be at `path`, with a buffer of so many bytes.
    pub(crate) fn create(path: &Path, buffer: usize) -> Result<Self, Error> {
        let mut partial = path.as_os_str().to_owned();
        // Two processes that make the same file must not write into one another's.
        partial.push(format!(".{}.partial", std::process::id()));
        let partial = PathBuf::from(partial);
        let file = File::create(&partial).map_err(Error::io("create", &partial))?;
        Ok(Self { path: path.to_owned(), partial, file: BufWriter::with_capacity(buffer, file) })
    }

    /// Appends bytes.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.file.write_all(bytes).map_err(Error::io("write", &self.partial))
    }

    /// Writes over the beginning; nothing is appended after that.
    pub(crate) fn put_at_start(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = self.file.seek(SeekFrom::Start(0)).and_then(|_| self.file.write_all(bytes));
        written.map_err(Error::io("write", &self.partial))
    }

    /// Gives the file its name, once its bytes are on the disk.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        let synced: io::Result<()> = self.file.flush().and_then(|()| self.file.get_ref().sync_all());
        synced.map_err(Error::io("write", &self.partial))?;
        fs::rename(&self.partial, &self.path).map_err(Error::io("create", &self.path))
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        // What was not finished is of no use to anybody; what was has its name by now, and nothing is there to remove.
        let _ = fs::remove_file(&self.partial);
    }
}
