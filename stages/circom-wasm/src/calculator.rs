//! A module, compiled and checked.

use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use wasmtime::{Engine, ExternType, FuncType, InstancePre, Module, ValType};

use crate::cache::Cache;
use crate::compile;
use crate::error::WasmError;
use crate::field;
use crate::files::open_regular;
use crate::host::{self, State};
use crate::input::Input;
use crate::limits::Limits;
use crate::run::Run;
use crate::witness::Witness;
use crate::work;

/// How long a module may take to say what it is: its version, its prime, its sizes are constants in circom's code, and what
/// initialises it clears some memory.
const CONSTANTS_TIME: Duration = Duration::from_secs(10);

/// The functions that a calculator must have: name, how many parameters, how many results, all of 32 bits.
const EXPORTS: [(&str, usize, usize); 11] = [
    ("getVersion", 0, 1),
    ("init", 1, 0),
    ("getFieldNumLen32", 0, 1),
    ("getRawPrime", 0, 0),
    ("readSharedRWMemory", 1, 1),
    ("writeSharedRWMemory", 2, 0),
    ("setInputSignal", 3, 0),
    ("getInputSignalSize", 2, 1),
    ("getInputSize", 0, 1),
    ("getWitnessSize", 0, 1),
    ("getWitness", 1, 0),
];

/// The version of circom that compiled a circuit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Version {
    /// 2 always.
    pub major: u32,
    /// The second number.
    pub minor: u32,
    /// The third number.
    pub patch: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// A circuit's witness calculator, compiled once and used for any number of witnesses, by any number of threads.
pub struct Calculator {
    pub(crate) file: PathBuf,
    pub(crate) engine: Engine,
    pub(crate) module: InstancePre<State>,
    pub(crate) limits: Limits,
    version: Version,
    wires: usize,
    inputs: usize,
    unkept: Option<io::Error>,
}

impl Calculator {
    /// Reads and compiles a module, and asks it what it is.
    ///
    /// # Errors
    ///
    /// What cannot be read, is not a calculator of circom 2 over BLS12-381, or needs more than the limits.
    pub fn open(file: &Path, limits: &Limits) -> Result<Self, WasmError> {
        Self::make(file, &read(file, limits)?, limits, None)
    }

    /// As [`Calculator::open`], but a module that takes long to compile is compiled once and kept. One that cannot be kept is
    /// compiled all the same, and [`Calculator::unkept`] says why.
    ///
    /// # Errors
    ///
    /// As [`Calculator::open`].
    pub fn open_kept(file: &Path, limits: &Limits, cache: &Cache) -> Result<Self, WasmError> {
        Self::make(file, &read(file, limits)?, limits, Some(cache))
    }

    /// As [`Calculator::open`], of bytes in memory; `file` is their name in messages.
    ///
    /// # Errors
    ///
    /// As [`Calculator::open`].
    pub fn from_bytes(file: &Path, bytes: &[u8], limits: &Limits) -> Result<Self, WasmError> {
        Self::make(file, bytes, limits, None)
    }

    fn make(file: &Path, bytes: &[u8], limits: &Limits, cache: Option<&Cache>) -> Result<Self, WasmError> {
        if bytes.len() as u64 > limits.module_bytes {
            return Err(WasmError::TooLarge { file: file.to_owned(), limit: limits.module_bytes });
        }
        let not_wasm = |fault: String| WasmError::NotWasm { file: file.to_owned(), fault };
        if !bytes.starts_with(b"\0asm") {
            return Err(not_wasm(
                "it does not begin with `\\0asm`; `circom --wasm` writes it as NAME_js/NAME.wasm".into(),
            ));
        }
        let work = work::of_module(bytes).map_err(|error| not_wasm(error.to_string()))?;
        if work > limits.compile_work {
            return Err(WasmError::TooMuchWork { file: file.to_owned(), work, limit: limits.compile_work });
        }
        let engine = compile::engine(limits, work)?;
        let cache = cache.filter(|cache| work >= cache.least_work());
        let cache = cache.map(|cache| (cache, cache.place(&engine, bytes)));
        let mut unkept = None;
        let module = match cache.as_ref().and_then(|(cache, place)| cache.find(&engine, place)) {
            Some(module) => module,
            None => {
                let module = compile::module(&engine, bytes, work)?;
                let module = module.map_err(|error| not_wasm(format!("{error:#}")))?;
                unkept = cache.and_then(|(cache, place)| cache.keep(&place, &module).err());
                module
            }
        };
        check_shape(file, &module)?;
        let linker = host::linker(&engine).map_err(WasmError::system)?;
        let module = linker.instantiate_pre(&module).map_err(|error| not_wasm(format!("{error:#}")))?;
        let mut calculator = Self {
            file: file.to_owned(),
            engine,
            module,
            limits: limits.clone(),
            version: Version { major: 0, minor: 0, patch: 0 },
            wires: 0,
            inputs: 0,
            unkept,
        };
        let time = limits.time.min(CONSTANTS_TIME);
        let (version, wires, inputs) = Run::scope(&calculator, None, time, |run| {
            let version = run.version()?;
            if version.major != 2 {
                let fault = format!("circom {version} made it: compile the circuit with circom 2");
                return Err(WasmError::NotCircom { file: file.to_owned(), fault });
            }
            if let Some(fault) = field::wrong_field(&run.prime()?) {
                return Err(WasmError::WrongField { file: file.to_owned(), fault });
            }
            Ok((version, run.wires()?, run.inputs()?))
        })?;
        (calculator.version, calculator.wires, calculator.inputs) = (version, wires, inputs);
        Ok(calculator)
    }

    /// The file that it was read from.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The version of circom that made it.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// The number of wires, the constant included: the length of its witnesses.
    #[must_use]
    pub fn wires(&self) -> usize {
        self.wires
    }

    /// The number of input values that it takes, over all its signals.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Why it could not be kept in the cache, if it was to be.
    #[must_use]
    pub fn unkept(&self) -> Option<&io::Error> {
        self.unkept.as_ref()
    }

    /// Reads the values for a witness of this circuit from a file; what has many more than the circuit takes is refused before it
    /// takes memory.
    ///
    /// # Errors
    ///
    /// What cannot be read, is larger than the limit, is far too much, or is wrong as in [`Input::parse`].
    pub fn read_input(&self, file: &Path) -> Result<Input, WasmError> {
        Input::open_of(file, self.limits.input_bytes, self.inputs)
    }

    /// Calculates a witness. What the circuit says with `log()` is not heard.
    ///
    /// # Errors
    ///
    /// An input that is not this circuit's or that the circuit refuses; a limit that is reached; a module that fails or
    /// gives what cannot be.
    pub fn witness(&self, input: &Input) -> Result<Witness, WasmError> {
        self.witness_and_log(input).0
    }

    /// Calculates a witness, and gives what the circuit said with `log()`, line by line, before it came to its end, well or not.
    ///
    /// # Errors
    ///
    /// As [`Calculator::witness`].
    pub fn witness_and_log(&self, input: &Input) -> (Result<Witness, WasmError>, Vec<String>) {
        let mut log = Vec::new();
        let witness = Run::scope(self, input.file.as_deref(), self.limits.time, |run| {
            let values = run.calculate(input, self.wires);
            log = run.take_log();
            Ok(Witness { values: values? })
        });
        (witness, log)
    }
}

impl fmt::Debug for Calculator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Calculator({}, circom {}, {} wires)", self.file.display(), self.version, self.wires)
    }
}

/// The bytes of a module, and one more than it may have if it is larger.
fn read(file: &Path, limits: &Limits) -> Result<Vec<u8>, WasmError> {
    let mut bytes = Vec::new();
    let most = limits.module_bytes.saturating_add(1);
    open_regular(file)?.take(most).read_to_end(&mut bytes).map_err(WasmError::io("read", file))?;
    Ok(bytes)
}

/// Checks imports and exports, so that what is missing is said in circom's words.
fn check_shape(file: &Path, module: &Module) -> Result<(), WasmError> {
    let not_circom = |fault: String| Err(WasmError::NotCircom { file: file.to_owned(), fault });
    for import in module.imports() {
        let known = host::IMPORTS.iter().find(|(name, _)| import.module() == host::MODULE && import.name() == *name);
        let fits = |takes_code: bool| match import.ty() {
            ExternType::Func(ty) => is_plain(&ty, usize::from(takes_code), 0),
            _ => false,
        };
        if !known.is_some_and(|(_, takes_code)| fits(*takes_code)) {
            return not_circom(format!(
                "it wants `{}.{}` from outside, which circom 2's do not; was it made by circom 1, or for another program?",
                import.module(),
                import.name()
            ));
        }
    }
    for (name, parameters, results) in EXPORTS {
        match module.get_export(name) {
            None => return not_circom(format!("it has no function `{name}`")),
            Some(ExternType::Func(ty)) if is_plain(&ty, parameters, results) => (),
            Some(_) => {
                return not_circom(format!(
                    "its `{name}` is not a function of {parameters} 32-bit parameters and {results} results"
                ));
            }
        }
    }
    Ok(())
}

/// Whether a function takes and gives so many 32-bit integers.
pub(crate) fn is_plain(ty: &FuncType, parameters: usize, results: usize) -> bool {
    ty.params().len() == parameters
        && ty.results().len() == results
        && ty.params().chain(ty.results()).all(|ty| matches!(ty, ValType::I32))
}
