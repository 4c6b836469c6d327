//! Compiled calculators that are kept for the next process.
//!
//! What is kept is code for this processor, which runs outside the sandbox's checks: it is kept in a folder, and read from
//! files, that nobody but the user can write to, and never beside the `.wasm`, whose folder may have come from anywhere.
//! Files are named by what they were made from, and carry a digest of what they hold.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, DirBuilder, File, Metadata};
use std::hash::{Hash, Hasher};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{Mode, OFlags};
use sha2::{Digest, Sha256};
use wasmtime::{Engine, Module};

/// Bytes of a digest.
const DIGEST: usize = 32;

/// How many bytes are kept in all; the least recently used go first.
const MOST_BYTES: u64 = 1 << 30;

/// Work below which a module is compiled in about the time of reading it. circom's code for SHA-256 of 247 bytes, which takes 0.16
/// seconds to compile, is several times as much.
const LEAST_WORK: u64 = 100_000;

/// A folder of compiled calculators.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    most_bytes: u64,
    least_work: u64,
}

impl Cache {
    /// The user's own: `proofline/calculators` in `$XDG_CACHE_HOME`, or else in `$HOME/.cache`. Nothing if neither is an
    /// absolute path.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || absolute("HOME").map(|home| home.join(".cache"));
        absolute("XDG_CACHE_HOME").or_else(home).map(|caches| Self::in_folder(caches.join("proofline/calculators")))
    }

    /// A cache in a folder, which is made when something is kept: at most 1 GiB.
    #[must_use]
    pub fn in_folder(folder: PathBuf) -> Self {
        Self { folder, most_bytes: MOST_BYTES, least_work: LEAST_WORK }
    }

    /// The same with so many bytes at most.
    #[must_use]
    pub fn with_most_bytes(self, most_bytes: u64) -> Self {
        Self { most_bytes, ..self }
    }

    /// The same for modules of so much work or more, in the units of [`Limits::compile_work`](crate::Limits::compile_work).
    #[must_use]
    pub fn with_least_work(self, least_work: u64) -> Self {
        Self { least_work, ..self }
    }

    pub(crate) fn least_work(&self) -> u64 {
        self.least_work
    }

    /// Where it is.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A module that was kept at its [`place`](Self::place), if there is one and it is sound.
    pub(crate) fn find(&self, engine: &Engine, place: &Path) -> Option<Module> {
        is_ours(&fs::symlink_metadata(&self.folder).ok()?).then_some(())?;
        // A link is not followed, and a pipe not waited for.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::open(place, flags, Mode::empty()).ok()?);
        let found = file.metadata().ok()?;
        (found.is_file() && is_ours(&found)).then_some(())?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        let (digest, compiled) = bytes.split_first_chunk::<DIGEST>()?;
        (Sha256::digest(compiled)[..] == digest[..]).then_some(())?;
        // SAFETY: the bytes are what `Module::serialize` gave for this engine's configuration and these bytes of
        // WebAssembly: the file has the name of both, its digest says that it is whole, and neither it nor its folder can be
        // written by anybody but this user, as whom this process runs anyway. Other versions of wasmtime are refused by it.
        let module = unsafe { Module::deserialize(engine, compiled) }.ok()?;
        // Used now; that this cannot be noted harms nobody.
        _ = file.set_modified(SystemTime::now());
        Some(module)
    }

    /// Keeps a module at its [`place`](Self::place), whole or not at all.
    ///
    /// # Errors
    ///
    /// The folder cannot be made or written to, or others can write to it.
    pub(crate) fn keep(&self, place: &Path, module: &Module) -> io::Result<()> {
        let compiled = module.serialize().map_err(|error| io::Error::other(format!("{error:#}")))?;
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        if !is_ours(&fs::symlink_metadata(&self.folder)?) {
            let why = "it is another user's, or others can write to it";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
        let mut file = tempfile::Builder::new().prefix(".being-written-").tempfile_in(&self.folder)?;
        file.write_all(&Sha256::digest(&compiled))?;
        file.write_all(&compiled)?;
        file.persist(place).map_err(|error| error.error)?;
        self.trim()
    }

    /// The file of a module, named by the engine's configuration and the module.
    pub(crate) fn place(&self, engine: &Engine, wasm: &[u8]) -> PathBuf {
        let mut configuration = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut configuration);
        let mut name = Sha256::new();
        name.update(configuration.finish().to_le_bytes());
        name.update(wasm);
        let name: String = name.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        self.folder.join(name)
    }

    /// Removes the least recently used until the rest is small enough.
    fn trim(&self) -> io::Result<()> {
        let mut kept = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let found = entry.metadata()?;
            if found.is_file() {
                kept.push((found.modified()?, found.len(), entry.path()));
            }
        }
        kept.sort();
        let mut bytes: u64 = kept.iter().map(|(_, len, _)| len).sum();
        for (_, len, path) in kept {
            if bytes <= self.most_bytes {
                break;
            }
            remove(&path)?;
            bytes -= len;
        }
        Ok(())
    }
}

/// Whether only this user can write to a file or folder.
fn is_ours(found: &Metadata) -> bool {
    !found.is_symlink() && found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o022 == 0
}

/// Removes a file that another process may have removed.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::compile;
    use crate::limits::Limits;

    fn wasm(number: u32) -> Vec<u8> {
        wat::parse_str(format!("(module (func (export \"f\") (result i32) i32.const {number}))")).unwrap()
    }

    fn find(cache: &Cache, engine: &Engine, wasm: &[u8]) -> Option<Module> {
        cache.find(engine, &cache.place(engine, wasm))
    }

    fn keep(cache: &Cache, engine: &Engine, wasm: &[u8]) -> io::Result<()> {
        cache.keep(&cache.place(engine, wasm), &Module::from_binary(engine, wasm).unwrap())
    }

    /// A cache with one module in it, and the file of that.
    fn with_one(folder: &Path) -> (Cache, Engine, PathBuf) {
        let (cache, engine) = (Cache::in_folder(folder.join("a/b")), compile::engine(&Limits::default(), 0).unwrap());
        assert!(find(&cache, &engine, &wasm(1)).is_none());
        keep(&cache, &engine, &wasm(1)).unwrap();
        let file = cache.place(&engine, &wasm(1));
        (cache, engine, file)
    }

    #[test]
    fn what_is_kept_is_found_again_by_its_bytes_and_its_configuration() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, engine, _) = with_one(folder.path());
        assert!(find(&cache, &engine, &wasm(1)).is_some());
        assert!(find(&cache, &engine, &wasm(2)).is_none());
        let other = compile::engine(&Limits { fuel: Some(1), ..Limits::default() }, 0).unwrap();
        assert!(find(&cache, &other, &wasm(1)).is_none());
    }

    #[test]
    fn a_changed_file_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, engine, file) = with_one(folder.path());
        let good = fs::read(&file).unwrap();
        for at in [0, DIGEST, DIGEST + 100, good.len() - 1] {
            let mut bad = good.clone();
            bad[at] ^= 1;
            fs::write(&file, bad).unwrap();
            assert!(find(&cache, &engine, &wasm(1)).is_none(), "byte {at}");
        }
        for len in [0, DIGEST - 1, DIGEST, good.len() - 1] {
            fs::write(&file, &good[..len]).unwrap();
            assert!(find(&cache, &engine, &wasm(1)).is_none(), "{len} bytes");
        }
        fs::write(&file, good).unwrap();
        assert!(find(&cache, &engine, &wasm(1)).is_some());
    }

    #[test]
    fn what_others_can_write_to_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, engine, file) = with_one(folder.path());
        let open = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        for mode in [0o622, 0o602] {
            open(&file, mode);
            assert!(find(&cache, &engine, &wasm(1)).is_none(), "{mode:o}");
        }
        open(&file, 0o600);
        open(&cache.folder, 0o770);
        assert!(find(&cache, &engine, &wasm(1)).is_none());
        let refused = keep(&cache, &engine, &wasm(1)).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn neither_links_nor_pipes_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, engine, file) = with_one(folder.path());
        let elsewhere = folder.path().join("elsewhere");
        fs::rename(&file, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
        assert!(find(&cache, &engine, &wasm(1)).is_none());
        fs::remove_file(&file).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        assert!(find(&cache, &engine, &wasm(1)).is_none());
    }

    #[test]
    fn the_least_recently_used_go_first() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, engine, file) = with_one(folder.path());
        let (len, at) = (fs::metadata(&file).unwrap().len(), |seconds| {
            SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds)
        });
        let cache = cache.with_most_bytes(2 * len + len / 2);
        let used = |number, seconds| {
            let file = File::options().write(true).open(cache.place(&engine, &wasm(number))).unwrap();
            file.set_modified(at(seconds)).unwrap();
        };
        keep(&cache, &engine, &wasm(2)).unwrap();
        used(1, 20);
        used(2, 10);
        keep(&cache, &engine, &wasm(3)).unwrap();
        let found = [1, 2, 3].map(|number| find(&cache, &engine, &wasm(number)).is_some());
        assert_eq!(found, [true, false, true]);
    }
}
