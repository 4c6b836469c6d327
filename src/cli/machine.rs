//! Machines as the command line names them.

use std::path::Path;

use proofline::runtime::topology::Machine;
use proofline::runtime::topology::hwloc::Hwloc;
use proofline::{Error, StartError};

use super::exit::Fault;
use super::files;

/// `this` machine, a file of hwloc's XML, or hwloc's synthetic notation. What cannot be understood is the caller's typing;
/// what is wrong with a file is the file's.
pub fn named(text: &str) -> Result<Machine, Fault> {
    if text == "this" {
        return Ok(this()?.with_devices());
    }
    let path = Path::new(text);
    if path.exists() || path.extension().is_some_and(|extension| extension == "xml") {
        return of_xml(path);
    }
    let hwloc = Hwloc::synthetic(text).map_err(|error| Fault::Usage(error.to_string()))?;
    Ok(hwloc.machine())
}

/// This machine, without its devices.
pub fn this() -> Result<Machine, Fault> {
    Ok(Hwloc::this_system().map_err(StartError::from)?.machine())
}

/// The machine in a file that `lstopo` wrote.
pub fn of_xml(file: &Path) -> Result<Machine, Fault> {
    /// Some hundred bytes for each of a machine's parts.
    const MOST_BYTES: u64 = 64 << 20;
    let shown = file.display().to_string();
    let text = String::from_utf8(files::read(file, MOST_BYTES)?)
        .map_err(|_| Error::BadText(format!("{shown} is no XML: it is not UTF-8")))?;
    let hwloc = Hwloc::xml(&shown, &text)
        .map_err(|error| Error::BadText(format!("{error}; `lstopo FILE.xml` writes what is wanted here")))?;
    Ok(hwloc.machine())
}
