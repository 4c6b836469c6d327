//! Keys in a folder, under the network's names.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use proofline::filecoin::{Family, expect_published};
use proofline::{CircuitShape, Error, ProvingKey, VerifyingKey, resident};

use crate::cli::exit::Fault;
use crate::cli::room::expect_room_for_key;
use crate::cli::stored;
use crate::cli::watch::{pool_of_all_cores, with_bars};

/// Where the network's programs look for keys, if nothing else is said.
const USUAL_FOLDER: &str = "/var/tmp/filecoin-proof-parameters/";
const FOLDER_VARIABLE: &str = "FIL_PROOFS_PARAMETER_CACHE";
const PUBLISHED_VARIABLE: &str = "FIL_PROOFS_VERIFY_PRODUCTION_PARAMS";

/// The folder of keys: the one that is given, that of the network's variable, or the usual one.
pub fn folder_of(given: Option<&Path>) -> PathBuf {
    let named = || std::env::var_os(FOLDER_VARIABLE).map(PathBuf::from);
    given.map(Path::to_owned).or_else(named).unwrap_or_else(|| USUAL_FOLDER.into())
}

/// A circuit and its key. The circuit is kept beside the key.
pub fn read(family: Family, folder: Option<&Path>, published: bool) -> Result<(CircuitShape, ProvingKey), Fault> {
    let params = existing(family, &folder_of(folder))?;
    expect_room_for_key(&params)?;
    let published = published || std::env::var_os(PUBLISHED_VARIABLE).is_some_and(|value| value == "true");
    if published {
        if !is_file(&params)? {
            return Err(Error::Mismatch(format!(
                "{} is not there, only the converted key beside it, which no digest is published of: get the key itself, or \
                 leave out --published ({PUBLISHED_VARIABLE})",
                params.display()
            ))
            .into());
        }
        tell!("{}: holding its digest against the published one", params.display());
        expect_published(&params)?;
    }
    let shape = circuit(family, &params)?;
    if !resident::beside(&params).exists() {
        tell!(
            "note: every point of {} is checked anew at each start; `proofline params convert {0}` does it once",
            params.display()
        );
    }
    let key = with_bars(|watch| ProvingKey::read(&params, watch))?;
    key.check(&shape)?;
    Ok((shape, key))
}

/// The circuit, as it is kept beside the key, or compiled into that file and read from it.
pub fn circuit(family: Family, params: &Path) -> Result<CircuitShape, Fault> {
    let (file, origin) = (stored::beside(params), family.origin()?);
    if let Some(kept) = stored::read(&file, origin)? {
        return Ok(pool_of_all_cores()?.install(|| kept.shape())?);
    }
    tell!("{family}: the circuit is compiled, and kept in {}", file.display());
    match family.extract(&file) {
        Ok(_) => Ok(pool_of_all_cores()?.install(|| CircuitShape::read(&file))?),
        Err(error @ Error::Io { .. }) => {
            tell!("note: the circuit is not kept beside its key and will be compiled again: {error}");
            Ok(family.compile()?)
        }
        Err(error) => Err(error.into()),
    }
}

/// The verifying key: its own file, or the beginning of the key's.
pub fn verifying_key(family: Family, folder: Option<&Path>) -> Result<VerifyingKey, Fault> {
    let folder = folder_of(folder);
    let vk = family.vk_in(&folder)?;
    if is_file(&vk)? {
        return Ok(VerifyingKey::read(&vk)?);
    }
    Ok(VerifyingKey::of_any(&existing(family, &folder)?)?)
}

fn existing(family: Family, folder: &Path) -> Result<PathBuf, Fault> {
    let fault = |kind, said: String| Error::Io {
        action: "look for keys in",
        file: folder.to_owned(),
        source: std::io::Error::new(kind, said),
    };
    if folder.exists() && !folder.is_dir() {
        let said = "it is not a folder; --params is the folder of the network's keys here, not a key".to_owned();
        return Err(fault(ErrorKind::NotADirectory, said).into());
    }
    let params = family.params_in(folder)?;
    // Both are looked at: what lies there and is no file is not passed over.
    if is_file(&params)? | is_file(&resident::beside(&params))? {
        return Ok(params);
    }
    let Family { kind, size } = family;
    let said = format!(
        "the key of {family}, {}, is not there: get it with the network's own tools, or make one for tests with `proofline fil \
         params {kind} --size {size} --seed demo -o {}`",
        params.file_name().unwrap_or_default().display(),
        folder.display()
    );
    Err(fault(ErrorKind::NotFound, said).into())
}

/// Whether there is a file. A folder, a pipe or a device in its place is an error, and so is what cannot be looked at.
pub fn is_file(file: &Path) -> Result<bool, Error> {
    match std::fs::metadata(file) {
        Ok(found) if found.is_file() => Ok(true),
        Ok(_) => {
            let advice = ": remove it, or choose another folder of keys".to_owned();
            Err(Error::NotRegular { file: file.to_owned(), advice })
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(source) => Err(Error::Io { action: "read", file: file.to_owned(), source }),
    }
}
