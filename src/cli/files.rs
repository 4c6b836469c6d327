//! Files that the command writes: whole or not at all.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use proofline::{Error, PartialFile};

use super::exit::Fault;

/// Writes a file that takes its name when it is complete, so that nobody reads half of it. What is there already and is no
/// file, a device or a pipe, is written to as it is; a link stays one.
pub fn write(file: &Path, bytes: &[u8]) -> Result<(), Error> {
    let fail = |action| move |source| Error::Io { action, file: file.to_owned(), source };
    if fs::metadata(file).is_ok_and(|found| !found.is_file()) {
        return fs::write(file, bytes).map_err(fail("write"));
    }
    // Beside what the link leads to, so that the link is not replaced.
    let target = fs::canonicalize(file);
    PartialFile::write_whole(target.as_deref().unwrap_or(file), bytes)
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

/// A file that is written from several threads and takes its name when it is finished: a run that is broken off leaves none.
/// What is there already and is no file, a device or a pipe, is written to as it is.
#[derive(Clone)]
pub struct WholeFile(Arc<Mutex<Option<Open>>>);

enum Open {
    Whole(PartialFile),
    AsItIs(io::BufWriter<fs::File>),
}

impl WholeFile {
    /// Begins the file that is to be at this place.
    pub fn create(file: &Path) -> Result<Self, Error> {
        const BUFFER: usize = 1 << 16;
        let open = if fs::metadata(file).is_ok_and(|found| !found.is_file()) {
            let opened = fs::File::create(file);
            let fail = |source| Error::Io { action: "write", file: file.to_owned(), source };
            Open::AsItIs(io::BufWriter::new(opened.map_err(fail)?))
        } else {
            // Beside what a link leads to, so that the link is not replaced.
            let target = fs::canonicalize(file);
            Open::Whole(PartialFile::create(target.as_deref().unwrap_or(file), BUFFER)?)
        };
        Ok(Self(Arc::new(Mutex::new(Some(open)))))
    }

    /// Gives the file its name.
    pub fn finish(&self) -> Result<(), Error> {
        match self.open().take() {
            Some(Open::Whole(file)) => file.finish(),
            Some(Open::AsItIs(_)) | None => Ok(()),
        }
    }

    fn open(&self) -> MutexGuard<'_, Option<Open>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut *self.open() {
            Some(Open::Whole(file)) => file.write(bytes),
            Some(Open::AsItIs(file)) => file.write(bytes),
            None => Err(io::Error::other("the file is finished")),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut *self.open() {
            Some(Open::Whole(file)) => file.flush(),
            Some(Open::AsItIs(file)) => file.flush(),
            None => Ok(()),
        }
    }
}

/// Files by what the command line calls them.
pub type Named<'a> = (&'static str, &'a Path);

/// The folder that a file is in.
pub fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What ends so is a key, a circuit or a witness, or what belongs to one: nothing else is written over it.
const PRECIOUS: [&str; 8] = ["zkey", "params", "vk", "resident", "pce", "r1cs", "wtns", "wasm"];

/// Whether what is written is neither what is read nor written twice, nor takes the place of a key or what belongs to one; asked
/// before the work.
pub fn expect_apart(
    inputs: impl IntoIterator<Item = (&'static str, impl AsRef<Path>)>,
    outputs: impl IntoIterator<Item = (&'static str, impl AsRef<Path>)>,
) -> Result<(), Fault> {
    let outputs: Vec<_> = outputs.into_iter().collect();
    let outputs = || outputs.iter().map(|(name, file)| (*name, file.as_ref()));
    expect_unread(inputs, outputs())?;
    outputs().try_for_each(expect_no_key)
}

/// Whether what is written is neither what is read nor written twice.
pub fn expect_unread<'a>(
    inputs: impl IntoIterator<Item = (&'static str, impl AsRef<Path>)>,
    outputs: impl IntoIterator<Item = Named<'a>>,
) -> Result<(), Fault> {
    let inputs = inputs.into_iter().map(|(name, file)| (name, file.as_ref().to_owned(), false));
    let outputs = outputs.into_iter().map(|(name, file)| (name, file.to_owned(), true));
    let mut seen: Vec<(&str, PathBuf, bool)> = Vec::new();
    for (name, file, written) in inputs.chain(outputs) {
        let Some(place) = place_of(&file) else { continue };
        let other = seen.iter().find(|(_, other, _)| written && *other == place);
        if let Some((other, _, other_written)) = other {
            let does = if *other_written { "is written to" } else { "is read" };
            let file = file.display();
            return Err(Fault::Usage(format!(
                "{name} would be written over {file}, which {does} as {other}: choose another"
            )));
        }
        seen.push((name, place, written));
    }
    Ok(())
}

/// Whether what is written does not take the place of a key or what belongs to one.
fn expect_no_key((name, file): Named<'_>) -> Result<(), Fault> {
    let Some(place) = place_of(file) else { return Ok(()) };
    let ends =
        |place: &Path, known: &[&str]| place.extension().is_some_and(|end| known.iter().any(|known| end == *known));
    let precious = |place: &Path| {
        // What is kept beside a key may be made meanwhile.
        ends(place, &["resident", "pce"]) || place.ends_with(LOCK) || (place.is_file() && ends(place, &PRECIOUS))
    };
    if [file, &place].into_iter().any(precious) {
        let file = file.display();
        return Err(Fault::Usage(format!(
            "{name} would be written over {file}, which has the name of a key, a circuit, a witness or what belongs to one: \
             choose another"
        )));
    }
    Ok(())
}

/// Where a file is or is going to be, links followed. Nothing for a device or a pipe, which may be read and written, and where a path
/// leads nowhere: the reader or the writer says so.
fn place_of(file: &Path) -> Option<PathBuf> {
    if file.exists() && !file.is_file() {
        return None;
    }
    let place = fs::canonicalize(file).or_else(|_| {
        let folder = fs::canonicalize(folder_of(file));
        folder.map(|folder| folder.join(file.file_name().unwrap_or_default()))
    });
    place.ok()
}

/// Whether files can be made in this folder, and the disk has room for a block.
fn expect_writable_folder(folder: &Path) -> Result<(), Error> {
    let probe = folder.join(format!(".probe.{}.tmp", std::process::id()));
    let fail = |source| Error::Io { action: "write to", file: folder.to_owned(), source };
    let written = fs::write(&probe, [0; 4096]);
    let removed = fs::remove_file(&probe);
    written.and(removed).map_err(fail)
}

/// Makes a folder and those above it, and sees to it that files can be made in it. Gives those that were not there, the
/// innermost first.
fn make_folder(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    if folder.exists() && !folder.is_dir() {
        let source = std::io::Error::new(std::io::ErrorKind::NotADirectory, "it is not a folder: choose another place");
        return Err(Error::Io { action: "write to", file: folder.to_owned(), source });
    }
    let missing = folder.ancestors().filter(|above| !above.as_os_str().is_empty() && !above.exists());
    let missing = missing.map(Path::to_owned).collect();
    fs::create_dir_all(folder).map_err(|source| Error::Io { action: "create", file: folder.to_owned(), source })?;
    expect_writable_folder(folder)?;
    Ok(missing)
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

/// The file in a folder by which runs keep each other out.
const LOCK: &str = ".proofline.lock";

/// The right to write to a folder, for as long as this lives: two runs into one folder would mix their files.
pub struct FolderLock {
    file: PathBuf,
    /// The folders that were made for it, the innermost first.
    made: Vec<PathBuf>,
    _locked: fs::File,
}

impl FolderLock {
    /// Makes the folder if it is not there, and takes it.
    pub fn take(folder: &Path) -> Result<Self, Fault> {
        let made = make_folder(folder)?;
        let file = folder.join(LOCK);
        let fail = |source| Error::Io { action: "create", file: file.clone(), source };
        // A pipe would be waited for; what a link leads to is somebody's file.
        if fs::symlink_metadata(&file).is_ok_and(|found| !found.is_file()) {
            let advice = ": remove it, or choose another folder; runs keep each other out with it".to_owned();
            return Err(Error::NotRegular { file, advice }.into());
        }
        let lock = fs::OpenOptions::new().write(true).create(true).truncate(false).open(&file).map_err(fail)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { file, made, _locked: lock }),
            Err(fs::TryLockError::WouldBlock) => {
                let folder = folder.display();
                Err(Fault::Usage(format!("another run writes to {folder}: wait for it, or choose another folder")))
            }
            Err(fs::TryLockError::Error(source)) => Err(fail(source).into()),
        }
    }
}

impl Drop for FolderLock {
    /// A run that came to nothing leaves no folder behind.
    fn drop(&mut self) {
        let Some(folder) = self.made.first() else { return };
        let alone = fs::read_dir(folder).is_ok_and(|entries| {
            entries.flatten().all(|entry| Some(entry.file_name().as_os_str()) == self.file.file_name())
        });
        if alone {
            // Where one cannot be removed it stays, and so do those above it.
            let _ = fs::remove_file(&self.file);
            self.made.iter().all(|folder| fs::remove_dir(folder).is_ok());
        }
    }
}
