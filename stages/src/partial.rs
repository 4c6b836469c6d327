//! A file that takes its name when it is complete: whole or not at all; and files to read that are files.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};

use crate::error::Error;

/// Opens a file for reading. A pipe or a device, which would be waited for or never ends, is refused before it is opened.
pub(crate) fn open_regular(path: &Path) -> Result<File, Error> {
    let metadata = fs::metadata(path).map_err(Error::io("open", path))?;
    if !metadata.is_file() {
        return Err(Error::NotRegular { file: path.to_owned(), advice: String::new() });
    }
    File::open(path).map_err(Error::io("open", path))
}

/// A file being written; gone when dropped unfinished, and, where the file system can have files without a name, also
/// when the process is killed.
pub struct PartialFile {
    path: PathBuf,
    /// The name that it has meanwhile, or, without one, gets for a moment where its place is taken.
    partial: PathBuf,
    named: bool,
    file: BufWriter<File>,
}

impl PartialFile {
    /// Begins the file that is to be at `path`, with a buffer of so many bytes.
    ///
    /// # Errors
    /// Files cannot be made there.
    pub fn create(path: &Path, buffer: usize) -> Result<Self, Error> {
        let mut partial = path.as_os_str().to_owned();
        // Two processes that make the same file must not write into one another's.
        partial.push(format!(".{}.partial", std::process::id()));
        let partial = PathBuf::from(partial);
        let (file, named) = match without_a_name(path) {
            Some(file) => (file, false),
            None => (File::create(&partial).map_err(Error::io("create", path))?, true),
        };
        Ok(Self { path: path.to_owned(), partial, named, file: BufWriter::with_capacity(buffer, file) })
    }

    /// Writes a file at once.
    ///
    /// # Errors
    /// As [`create`](Self::create) and [`finish`](Self::finish).
    pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
        let mut whole = Self::create(path, 0)?;
        whole.put(bytes)?;
        whole.finish()
    }

    /// Appends bytes.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.file.write_all(bytes).map_err(Error::io("write", &self.path))
    }

    /// Writes over the beginning; nothing is appended after that.
    pub(crate) fn put_at_start(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = self.file.seek(SeekFrom::Start(0)).and_then(|_| self.file.write_all(bytes));
        written.map_err(Error::io("write", &self.path))
    }

    /// Gives the file its name, once its bytes are on the disk.
    ///
    /// # Errors
    /// The bytes do not reach the disk, or the file cannot have its name.
    pub fn finish(mut self) -> Result<(), Error> {
        let synced: io::Result<()> = self.file.flush().and_then(|()| self.file.get_ref().sync_all());
        synced.map_err(Error::io("write", &self.path))?;
        if !self.named {
            match self.link(&self.path) {
                Ok(()) => return Ok(()),
                // A link does not take the place of a file; a renamed file does.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    self.link(&self.partial).map_err(Error::io("create", &self.partial))?;
                    self.named = true;
                }
                Err(error) => return Err(Error::io("create", &self.path)(error)),
            }
        }
        fs::rename(&self.partial, &self.path).map_err(Error::io("create", &self.path))
    }

    fn link(&self, name: &Path) -> io::Result<()> {
        let own = of_process(self.file.get_ref());
        Ok(rustix::fs::linkat(CWD, own, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
    }
}

/// A file in the folder of `path` that has no name; `None` where that cannot be had, for whatever reason: one with a name
/// is tried then, and says why if it cannot be had either.
fn without_a_name(path: &Path) -> Option<File> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (flags, mode) = (OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, Mode::from_bits_retain(0o666));
    let file = File::from(rustix::fs::open(folder, flags, mode).ok()?);
    // It gets its name by way of the process's list of open files.
    fs::exists(of_process(&file)).is_ok_and(|there| there).then_some(file)
}

fn of_process(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

impl Write for PartialFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if self.named {
            // What was not finished is of no use to anybody; what was has its name by now, and nothing is there to remove.
            let _ = fs::remove_file(&self.partial);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_there_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("whole");
        let names = || fs::read_dir(folder.path()).unwrap().count();
        for text in [b"first", b"again"] {
            let mut file = PartialFile::create(&path, 2).unwrap();
            file.put(text).unwrap();
            let before = names();
            file.finish().unwrap();
            assert_eq!(fs::read(&path).unwrap(), text);
            assert!(names() == 1 && before <= 2);
        }
        let mut dropped = PartialFile::create(&path, 2).unwrap();
        dropped.put(b"third").unwrap();
        drop(dropped);
        assert_eq!((fs::read(&path).unwrap().as_slice(), names()), (&b"again"[..], 1));
        let nowhere = PartialFile::create(&folder.path().join("no/where"), 2).map(drop).unwrap_err();
        assert!(nowhere.to_string().contains("no/where"), "{nowhere}");
    }

    #[test]
    fn a_file_that_cannot_be_written_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("window-1.vanilla.bincode");
        PartialFile::write_whole(&file, b"one").unwrap();
        PartialFile::write_whole(&file, b"other").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"other");
        let taken = folder.path().join("window-2.vanilla.bincode");
        fs::create_dir(&taken).unwrap();
        assert!(PartialFile::write_whole(&taken, b"two").unwrap_err().to_string().contains("window-2.vanilla.bincode"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no partial file is left");
    }

    /// Where a file can do without a name, nothing is left of it, whatever ends the process.
    #[test]
    fn while_it_is_written_it_has_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = PartialFile::create(&folder.path().join("x"), 2).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), usize::from(file.named));
    }
}
