//! Witnesses that circom's own calculators compute, as sources of the pipeline.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use blstrs::Scalar;
pub use proofline_circom_wasm::{Cache, Calculator, Limits};
use proofline_circom_wasm::{Kind, WasmError};
use proofline_stages::{Class, Error, WitnessSource};

/// Compiles a calculator, or takes it from where compiled ones are kept.
///
/// # Errors
/// The file cannot be read or is no calculator over this field.
pub fn open(wasm: &Path, limits: &Limits, cache: Option<&Cache>) -> Result<Calculator, Error> {
    let opened = match cache {
        Some(cache) => Calculator::open_kept(wasm, limits, cache),
        None => Calculator::open(wasm, limits),
    };
    opened.map_err(error_of)
}

/// The witness of an input file. The file is read and held against the circuit's signals where the graph puts synthesis;
/// `hear` is given each line that the circuit says with `log()` there.
///
/// # Errors
/// The file is not there.
pub fn witness_of(
    calculator: &Arc<Calculator>,
    input: &Path,
    hear: impl Fn(&str) + Send + Sync + 'static,
) -> Result<WitnessSource, Error> {
    let found = std::fs::metadata(input);
    found.map_err(|source| Error::Io { action: "open", file: input.to_owned(), source })?;
    let (calculator, input) = (Arc::clone(calculator), input.to_owned());
    Ok(WitnessSource::computed(move |places| {
        let input = calculator.read_input(&input).map_err(error_of)?;
        let (witness, log) = calculator.witness_and_log(&input);
        log.iter().for_each(|line| hear(line));
        let witness = witness.map_err(error_of)?;
        let values = witness.values();
        if values.len() != places.len() {
            return Err(Error::Mismatch(format!(
                "{} computes {} values, and the circuit has {} variables (ONE counted): it is the calculator of another circuit",
                calculator.file().display(),
                values.len(),
                places.len()
            )));
        }
        for (place, value) in places.iter_mut().zip(values) {
            let value: Option<Scalar> = Scalar::from_u64s_le(value).into();
            *place = value.ok_or_else(|| Error::Internal("the calculator's values are below r".to_owned()))?;
        }
        Ok(())
    }))
}

/// The files that a pattern means, by name: `*` stands for any part of the last component. A path without one is itself.
/// Folders are left out; what else has such a name and cannot be read, as a link that leads nowhere, is for the reader to
/// refuse, so that no input is passed over in silence.
///
/// # Errors
/// The folder cannot be read, or no file in it fits.
pub fn files_of(pattern: &Path) -> Result<Vec<PathBuf>, Error> {
    if !pattern.to_string_lossy().contains('*') || pattern.exists() {
        return Ok(vec![pattern.to_owned()]);
    }
    let none = |why: &str| {
        let source = io::Error::new(io::ErrorKind::NotFound, why);
        Err(Error::Io { action: "find", file: pattern.to_owned(), source })
    };
    let name = pattern.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = pattern.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if folder.to_string_lossy().contains('*') && !folder.exists() {
        return none("`*` can stand for a part of the file's name, not of a folder's");
    }
    if !name.contains('*') {
        return Ok(vec![pattern.to_owned()]);
    }
    let unreadable = |source| Error::Io { action: "read", file: folder.to_owned(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let fits = path.file_name().is_some_and(|found| fits(&name, &found.to_string_lossy()));
        if fits && !path.is_dir() {
            files.push(path);
        }
    }
    if files.is_empty() {
        return none("no file fits");
    }
    files.sort();
    Ok(files)
}

/// Whether a name fits a pattern whose stars stand for anything, but, as in a shell, not for the dot of a hidden file.
fn fits(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.len() >= last.len() && rest.ends_with(last)
}

fn error_of(error: WasmError) -> Error {
    let class = match error.kind() {
        Kind::System => Class::Io,
        Kind::BadModule | Kind::BadInput | Kind::Limit => Class::BadInput,
        Kind::Refused => Class::Unsatisfied,
    };
    Error::NotComputed { class, why: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, name, want) in [
            ("*.json", "a.json", true),
            ("*.json", ".json", false),
            (".*.json", ".a.json", true),
            ("*.json", "a.jsonx", false),
            ("in-*-b*.json", "in-3-b4.json", true),
            ("in-*-b*.json", "in-3-c4.json", false),
            ("a*a", "a", false),
            ("*", "anything", true),
            ("a**b", "ab", true),
        ] {
            assert_eq!(fits(pattern, name), want, "{pattern} {name}");
        }
    }

    #[test]
    fn files_come_by_name() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.json", "a.json", "c.txt", ".hidden.json"] {
            std::fs::write(folder.path().join(name), "{}").unwrap();
        }
        std::fs::create_dir(folder.path().join("folder.json")).unwrap();
        std::os::unix::fs::symlink("nowhere", folder.path().join("link.json")).unwrap();
        let found = files_of(&folder.path().join("*.json")).unwrap();
        assert_eq!(found, ["a.json", "b.json", "link.json"].map(|name| folder.path().join(name)));
        let none = files_of(&folder.path().join("*.wtns")).unwrap_err();
        assert!(none.to_string().contains("no file fits"), "{none}");
        let deep = files_of(&folder.path().join("*/a.json")).unwrap_err();
        assert!(deep.to_string().contains("not of a folder's"), "{deep}");
        let plain = folder.path().join("not-there.json");
        assert_eq!(files_of(&plain).unwrap(), [plain]);
    }
}
