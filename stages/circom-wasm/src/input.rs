//! `input.json`: the values of a circuit's input signals.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use zeroize::Zeroize;

use crate::error::WasmError;
use crate::field::{self, Element, MODULUS_TEXT, NotAnElement};
use crate::files::open_regular;
use crate::json::{Fault, Place, Reader, Start};

/// How long the name of a signal may be, with the names of the buses around it, in bytes.
const MAX_NAME: usize = 1000;

/// How many names and values more than a circuit takes are read to the end, so that it can be said which they are. What has
/// yet more is not this circuit's, and is not read into memory.
const MOST_SPARE: usize = 100_000;

/// The values for one witness, signal by signal in the order of the text. Wiped when dropped.
///
/// ```
/// # fn main() -> Result<(), proofline_circom_wasm::WasmError> {
/// let input = proofline_circom_wasm::Input::parse(r#"{"a": 3, "matrix": [["1", "0x10"], [-1, true]]}"#)?;
/// let counts: Vec<_> = input.signals().map(|(name, values)| (name, values.len())).collect();
/// assert_eq!(counts, [("a", 1), ("matrix", 4)]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Input {
    pub(crate) file: Option<PathBuf>,
    pub(crate) signals: Vec<Signal>,
}

/// One signal and all its values, arrays flattened row by row.
pub(crate) struct Signal {
    /// With the buses around it: `segment.ends[1].x`.
    pub name: String,
    pub place: Place,
    pub values: Vec<Element>,
}

impl Drop for Signal {
    fn drop(&mut self) {
        self.values.zeroize();
    }
}

impl std::fmt::Debug for Signal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} values", self.name, self.values.len())
    }
}

impl Input {
    /// Reads a text.
    ///
    /// A value is an integer: a number of JSON (exact at any size), a string (decimal, `0x`, `0o`, `0b`), or `true` or
    /// `false` for 1 and 0. Negative ones are taken mod r. Arrays are flattened in order. Objects are buses: their
    /// signals are named `bus.signal`, in arrays `bus[0].signal`, and may also be given by those names.
    ///
    /// Unlike snarkjs, which reduces silently, values of r or more are refused: the proof would be about another number
    /// than the file. So are names given twice, of which snarkjs takes the last.
    ///
    /// # Errors
    ///
    /// What is wrong, with line and column.
    pub fn parse(text: &str) -> Result<Self, WasmError> {
        Self::parse_named(text, None, usize::MAX)
    }

    /// Reads a file of at most `max_bytes`.
    ///
    /// # Errors
    ///
    /// What cannot be read, is too large, or is wrong as in [`Input::parse`]; the file is named.
    pub fn open(file: &Path, max_bytes: u64) -> Result<Self, WasmError> {
        Self::open_of(file, max_bytes, usize::MAX)
    }

    /// As [`Input::open`], of a circuit that takes at most `wanted` values.
    pub(crate) fn open_of(file: &Path, max_bytes: u64, wanted: usize) -> Result<Self, WasmError> {
        let opened = open_regular(file)?;
        // Room for the whole file at once: growing would leave copies behind.
        let len = opened.metadata().map_or(0, |metadata| metadata.len()).min(max_bytes);
        let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0).saturating_add(32));
        let read =
            opened.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(WasmError::io("read", file));
        let input = read.and_then(|_| {
            if bytes.len() as u64 > max_bytes {
                return Err(WasmError::TooLarge { file: file.to_owned(), limit: max_bytes });
            }
            let text = std::str::from_utf8(&bytes).map_err(|error| {
                let before = &bytes[..error.valid_up_to()];
                let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
                let place = Place {
                    line: before.iter().filter(|byte| **byte == b'\n').count() + 1,
                    column: before.len() - line_start + 1,
                };
                let what = "the text is not UTF-8: save it in that encoding".to_owned();
                WasmError::input(Some(file), Fault { place, what })
            })?;
            Self::parse_named(text, Some(file), wanted)
        });
        bytes.zeroize();
        input
    }

    /// Names and values, in the order of the text.
    pub fn signals(&self) -> impl Iterator<Item = (&str, &[Element])> {
        self.signals.iter().map(|signal| (signal.name.as_str(), signal.values.as_slice()))
    }

    fn parse_named(text: &str, file: Option<&Path>, wanted: usize) -> Result<Self, WasmError> {
        let (signals, places) = (Vec::new(), HashMap::new());
        let mut builder = Builder { reader: Reader::new(text), signals, places, wanted, read: 0 };
        builder.whole().map_err(|fault| WasmError::input(file, fault))?;
        Ok(Self { file: file.map(Path::to_owned), signals: builder.signals })
    }
}

struct Builder<'t> {
    reader: Reader<'t>,
    signals: Vec<Signal>,
    places: HashMap<String, Place>,
    /// How many values the circuit takes.
    wanted: usize,
    /// Names and values so far.
    read: usize,
}

/// An array being read: its signal's values so far, or whether it holds buses instead.
struct Elements {
    values: Vec<Element>,
    objects: bool,
}

fn fault<T>(place: Place, what: String) -> Result<T, Fault> {
    Err(Fault { place, what })
}

impl Builder<'_> {
    fn whole(&mut self) -> Result<(), Fault> {
        let place = self.reader.place();
        match self.reader.value()? {
            Start::Object => self.object("")?,
            _ => return fault(place, "an input is one object, `{\"signal\": value, …}`".to_owned()),
        }
        self.reader.end()
    }

    /// The members of an object that was entered; `prefix` is the name of the bus.
    fn object(&mut self, prefix: &str) -> Result<(), Fault> {
        let mut keys = HashSet::new();
        while let Some((key, place)) = self.reader.key()? {
            let name = if prefix.is_empty() { key.to_string() } else { format!("{prefix}.{key}") };
            if name.len() > MAX_NAME {
                return fault(place, format!("a name of {} bytes: at most {MAX_NAME} are read", name.len()));
            }
            if key.is_empty() {
                return fault(place, "a signal without a name".to_owned());
            }
            if !keys.insert(key) {
                return fault(place, format!("`{}` is given twice: remove one", name.escape_debug()));
            }
            self.member(name, place)?;
        }
        Ok(())
    }

    fn member(&mut self, name: String, place: Place) -> Result<(), Fault> {
        let value_place = self.reader.place();
        match self.reader.value()? {
            Start::Object => self.object(&name),
            Start::Array => {
                let mut elements = Elements { values: Vec::new(), objects: false };
                if let Err(fault) = self.array(&name, &mut elements) {
                    elements.values.zeroize();
                    return Err(fault);
                }
                if elements.objects { Ok(()) } else { self.signal(name, place, elements.values) }
            }
            scalar => {
                let value = element(&scalar, &name, value_place)?;
                self.signal(name, place, vec![value])
            }
        }
    }

    /// The elements of an array that was entered; `name` has the indices so far.
    fn array(&mut self, name: &str, into: &mut Elements) -> Result<(), Fault> {
        let mut index = 0usize;
        while self.reader.element()? {
            let place = self.reader.place();
            match self.reader.value()? {
                Start::Object => {
                    if !into.values.is_empty() {
                        return mixed(name, place);
                    }
                    into.objects = true;
                    self.object(&format!("{name}[{index}]"))?;
                }
                Start::Array => self.array(&format!("{name}[{index}]"), into)?,
                scalar => {
                    if into.objects {
                        return mixed(name, place);
                    }
                    match element(&scalar, name, place) {
                        Ok(value) => {
                            self.count(place)?;
                            push(&mut into.values, value);
                        }
                        Err(Fault { place, what }) => return fault(place, format!("element {index}: {what}")),
                    }
                }
            }
            index += 1;
        }
        Ok(())
    }

    /// Counts a name or a value before it is kept.
    fn count(&mut self, place: Place) -> Result<(), Fault> {
        self.read += 1;
        let most = self.wanted.saturating_mul(2).saturating_add(MOST_SPARE);
        if self.read > most {
            let what = "what is read so far is too much: the circuit takes";
            return fault(place, format!("{what} {} values in all; is it the input of another circuit?", self.wanted));
        }
        Ok(())
    }

    fn signal(&mut self, name: String, place: Place, values: Vec<Element>) -> Result<(), Fault> {
        self.count(place)?;
        let signal = Signal { name, place, values };
        if let Some(first) = self.places.insert(signal.name.clone(), place) {
            return fault(place, format!("`{}` is given a second time, first at {first}: remove one", signal.name));
        }
        self.signals.push(signal);
        Ok(())
    }
}

fn mixed<T>(name: &str, place: Place) -> Result<T, Fault> {
    fault(place, format!("the array `{name}` holds values and buses: it is a signal's, or an array of buses"))
}

/// As [`Vec::push`], but leaves no copy of the values behind when it grows.
fn push(values: &mut Vec<Element>, value: Element) {
    if values.len() == values.capacity() {
        let mut grown = Vec::with_capacity((values.len() * 2).max(4));
        grown.extend_from_slice(values);
        values.zeroize();
        *values = grown;
    }
    values.push(value);
}

/// The value of a scalar of signal `name`.
fn element(scalar: &Start<'_>, name: &str, place: Place) -> Result<Element, Fault> {
    let name = name.escape_debug();
    let text: &str = match scalar {
        Start::Number(text) => text,
        Start::Text(text) => text.trim(),
        Start::Bool(value) => return Ok([u64::from(*value), 0, 0, 0]),
        _ => return fault(place, format!("`{name}` is null: give an integer")),
    };
    let shown: String = text.chars().take(24).collect();
    let dots = if shown.len() < text.len() { "…" } else { "" };
    let shown = format!("`{}{dots}`", shown.escape_debug());
    match field::parse(text) {
        Ok(value) => Ok(value),
        Err(NotAnElement::TooLarge) => fault(
            place,
            format!(
                "{shown} of signal `{name}` is not below r in magnitude, and the field has r elements: reduce it modulo \
                 r = {MODULUS_TEXT} if that is meant"
            ),
        ),
        Err(NotAnElement::NotAnInteger) if matches!(scalar, Start::Number(_)) => fault(
            place,
            format!(
                "{shown} of signal `{name}` is not an integer written out: write all its digits (in double quotes, what \
                 wrote the file does not round them)"
            ),
        ),
        Err(NotAnElement::NotAnInteger) => fault(
            place,
            format!("{shown} of signal `{name}` is not an integer: write it in decimal, or with 0x in hexadecimal"),
        ),
    }
}

#[cfg(test)]
mod tests;
