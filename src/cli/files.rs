//! Files that the command writes: whole or not at all.

use std::fs;
use std::io::Read;
use std::path::Path;

use proofline::Error;

use super::exit::Fault;

/// Writes a file by way of a temporary one beside it, so that nobody reads half of it. What is there already and is no
/// file, a device or a pipe, is written to as it is; a link stays one.
pub fn write(file: &Path, bytes: &[u8]) -> Result<(), Error> {
    let fail = |action| move |source| Error::Io { action, file: file.to_owned(), source };
    if fs::metadata(file).is_ok_and(|found| !found.is_file()) {
        return fs::write(file, bytes).map_err(fail("write"));
    }
    // Beside what the link leads to, so that the link is not replaced.
    let target = fs::canonicalize(file);
    let place = target.as_deref().unwrap_or(file);
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let temporary = place.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let written = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, place));
    written.map_err(|error| {
        // What could not be finished does not stay; if even that fails there is nothing more to say than the cause.
        let _ = fs::remove_file(&temporary);
        fail("write")(error)
    })
}

/// Whether a file can be written here, asked before the work that makes it.
pub fn expect_writable(file: &Path) -> Result<(), Error> {
    if file.is_dir() {
        let source = std::io::ErrorKind::IsADirectory.into();
        return Err(Error::Io { action: "write", file: file.to_owned(), source });
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    expect_writable_folder(folder.unwrap_or(Path::new(".")))
}

/// Whether files can be made in this folder.
fn expect_writable_folder(folder: &Path) -> Result<(), Error> {
    let probe = folder.join(format!(".probe.{}.tmp", std::process::id()));
    let fail = |source| Error::Io { action: "write to", file: folder.to_owned(), source };
    fs::write(&probe, []).and_then(|()| fs::remove_file(&probe)).map_err(fail)
}

/// Makes a folder and those above it, and sees to it that files can be made in it.
fn make_folder(folder: &Path) -> Result<(), Error> {
    if folder.exists() && !folder.is_dir() {
        return Err(Error::BadText(format!("{} is not a folder: choose another place", folder.display())));
    }
    fs::create_dir_all(folder).map_err(|source| Error::Io { action: "create", file: folder.to_owned(), source })?;
    expect_writable_folder(folder)
}

/// Reads a file whose size is bounded: nothing that the command reads whole is larger.
pub fn read(file: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    let fail = |source| Error::Io { action: "read", file: file.to_owned(), source };
    let metadata = fs::metadata(file).map_err(fail)?;
    if !metadata.is_file() {
        return Err(Error::NotRegular { file: file.to_owned(), advice: String::new() });
    }
    let mut bytes = Vec::new();
    fs::File::open(file).and_then(|open| open.take(limit + 1).read_to_end(&mut bytes)).map_err(fail)?;
    if bytes.len() as u64 > limit {
        return Err(Error::BadText(format!(
            "{} has {} bytes; what is asked for here has at most {limit}: is it the right file?",
            file.display(),
            metadata.len()
        )));
    }
    Ok(bytes)
}

/// The right to write to a folder, for as long as this lives: two runs into one folder would mix their files.
pub struct FolderLock {
    _locked: fs::File,
}

impl FolderLock {
    /// Makes the folder if it is not there, and takes it.
    pub fn take(folder: &Path) -> Result<Self, Fault> {
        make_folder(folder)?;
        let file = folder.join(".proofline.lock");
        let fail = |source| Error::Io { action: "create", file: file.clone(), source };
        let lock = fs::File::create(&file).map_err(fail)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { _locked: lock }),
            Err(fs::TryLockError::WouldBlock) => {
                let folder = folder.display();
                Err(Fault::Usage(format!("another run writes to {folder}: wait for it, or choose another folder")))
            }
            Err(fs::TryLockError::Error(source)) => Err(fail(source).into()),
        }
    }
}
