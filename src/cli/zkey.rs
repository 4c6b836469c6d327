//! snarkjs' keys on the command line: converted once, and their circuit kept beside them.

use std::path::Path;

use proofline::resident::{self, Resident};
use proofline::{CircuitShape, Error, Origin, Parameters, Progress, ProvingKey, Zkey};

use super::exit::Fault;
use super::room::{expect_room_for_constraints, expect_room_for_key};
use super::stored::{self, Choice};
use super::watch::with_bars;

/// The circuit and the key of a `.zkey`; with `.r1cs` in `choice` its constraints are those of that file, so that an
/// unsatisfied one can be named.
pub fn read(file: &Path, choice: &Choice) -> Result<(CircuitShape, ProvingKey), Fault> {
    let (shape, key) = with_bars(|watch| -> Result<_, Fault> {
        match converted(file, watch)? {
            Some(converted) => {
                expect_room_for_key(file)?;
                let origin = Origin::of_zkey(&converted.source().1);
                let key = converted.load(watch)?;
                Ok((circuit(file, choice, Some(origin), watch)?, key))
            }
            None => {
                let zkey = Zkey::open(file, watch)?;
                let key = ProvingKey::new(Parameters::of_zkey(&zkey, watch)?);
                Ok((circuit(file, choice, None, watch)?, key))
            }
        }
    })?;
    Ok((shape.with_domain(key.domain())?, key))
}

/// The converted key beside a `.zkey`, made if it is not there or of an older one; nothing where it cannot be written.
fn converted(file: &Path, watch: &dyn Fn(Progress)) -> Result<Option<Resident>, Fault> {
    let beside = resident::beside(file);
    if beside.exists() {
        let instead = format!("every point of {} is checked", file.display());
        let Some(converted) = if_readable(Resident::open(&beside), &instead)? else { return Ok(None) };
        if converted.belongs_to(file)? {
            return Ok(Some(converted));
        }
        tell!("note: {} was changed since it was converted; it is converted again", file.display());
    } else {
        // A file that is no key says so before it is said that one is converted.
        Zkey::open(file, watch)?;
        tell!("note: every point of {} is checked once, and kept converted in {}", file.display(), beside.display());
    }
    match resident::convert(file, watch) {
        Ok(_) => Ok(Some(Resident::open(&beside)?)),
        Err(error @ Error::Io { action: "create" | "write", .. }) => {
            tell!("note: the key is not kept converted and will be checked again next time: {error}");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// What is kept beside a key; where it cannot be read, nothing, with a note of what is done instead.
fn if_readable<T>(kept: Result<T, Error>, instead: &str) -> Result<Option<T>, Error> {
    match kept {
        Err(error @ (Error::Io { .. } | Error::NotRegular { .. })) => {
            tell!("note: {error}: {instead} instead; remove that, or see that it can be read");
            Ok(None)
        }
        kept => kept.map(Some),
    }
}

/// The circuit: of the `.r1cs` file, kept beside the key, or of the key itself.
fn circuit(
    file: &Path,
    choice: &Choice,
    origin: Option<Origin>,
    watch: &dyn Fn(Progress),
) -> Result<CircuitShape, Fault> {
    if choice.r1cs.is_some() {
        return choice.extract();
    }
    // `circuit.zkey.pce`: what the key knows of the circuit, which is less than `circuit.pce` does.
    let place = file.with_added_extension("pce");
    let stored = origin.map(|origin| if_readable(stored::read(&place, origin), "the circuit is taken from the key"));
    let stored = stored.transpose()?.flatten().flatten();
    if let Some(stored) = stored {
        return Ok(stored.shape()?);
    }
    let zkey = Zkey::open(file, watch)?;
    expect_room_for_constraints(file, zkey.bytes_of_coefficients())?;
    let shape = zkey.shape(watch)?;
    if let Some(origin) = origin {
        stored::keep(&shape, &place, origin);
    }
    Ok(shape)
}
