//! What can be wrong, said to the person who can mend it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::json::Fault;

/// Why there is no witness.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WasmError {
    /// The system would not open or read.
    #[error("cannot {action} {}: {source}", file.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        file: PathBuf,
        /// The system's answer.
        source: io::Error,
    },

    /// A file is larger than the limit.
    #[error("{} has more than {limit} bytes, the limit for such a file: is it the right one?", file.display())]
    TooLarge {
        /// The file.
        file: PathBuf,
        /// The limit, in bytes.
        limit: u64,
    },

    /// The file is no WebAssembly module, or one that asks for more than circom's do.
    #[error("{} is not a WebAssembly module that can be used: {fault}", file.display())]
    NotWasm {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        fault: String,
    },

    /// The module is not a witness calculator of circom 2.
    #[error("{} is not a witness calculator of circom 2: {fault}", file.display())]
    NotCircom {
        /// The file.
        file: PathBuf,
        /// What is missing or different, and what to do.
        fault: String,
    },

    /// The circuit is over another prime.
    #[error("{} is over the wrong field: {fault}", file.display())]
    WrongField {
        /// The file.
        file: PathBuf,
        /// Which, and what to do.
        fault: String,
    },

    /// The input is not what an input must be, or not this circuit's.
    #[error("{}{fault}", input.as_ref().map_or_else(String::new, |file| format!("{}:", file.display())))]
    Input {
        /// The file of the input, if it is one.
        input: Option<PathBuf>,
        /// `line:column: what is wrong and what to do`.
        fault: String,
    },

    /// The circuit itself refuses the values: an `assert` or a constraint of it fails.
    #[error("{}the circuit {} refuses the input: {what}{}", named(input.as_ref()), file.display(), traced(trace))]
    Refused {
        /// The circuit.
        file: PathBuf,
        /// The file of the input, if it is one.
        input: Option<PathBuf>,
        /// What failed: `Assert Failed.`
        what: String,
        /// The circuit's own messages: `Error in template Bit_0 line: 7`, the innermost first.
        trace: Vec<String>,
    },

    /// The calculation took too long.
    #[error(
        "{}the circuit {} did not end within {limit:?}: it runs in circles, or is larger than that limit allows",
        named(input.as_ref()), file.display()
    )]
    OutOfTime {
        /// The circuit.
        file: PathBuf,
        /// The file of the input, if it is one.
        input: Option<PathBuf>,
        /// The limit.
        limit: Duration,
    },

    /// The calculation took too many instructions.
    #[error(
        "{}the circuit {} did not end within {limit} units of fuel: it runs in circles, or is larger than that limit \
         allows",
        named(input.as_ref()), file.display()
    )]
    OutOfFuel {
        /// The circuit.
        file: PathBuf,
        /// The file of the input, if it is one.
        input: Option<PathBuf>,
        /// The limit.
        limit: u64,
    },

    /// The module asks for more memory or larger tables than the limit.
    #[error("{} asks for {wanted} {what}, and the limit is {limit}: the circuit is larger than that allows", file.display())]
    OutOfMemory {
        /// The circuit.
        file: PathBuf,
        /// Of what: `bytes of memory`, `elements in a table`.
        what: &'static str,
        /// How much it asks for.
        wanted: u64,
        /// How much it may have.
        limit: u64,
    },

    /// The module would take too long to compile.
    #[error(
        "{} would take about {work} µs to compile, and the limit is {limit}: circom's own code is not of \
         that shape; compile the circuit again",
        file.display()
    )]
    TooMuchWork {
        /// The circuit.
        file: PathBuf,
        /// The estimate.
        work: u64,
        /// The limit.
        limit: u64,
    },

    /// The module's code failed: never the fault of an honest circuit's input.
    #[error("{}{} failed while it was to {during}: {cause}; compile the circuit again", named(input.as_ref()), file.display())]
    Trap {
        /// The circuit.
        file: PathBuf,
        /// The file of the input, if it is one.
        input: Option<PathBuf>,
        /// What it was to do.
        during: &'static str,
        /// How it failed.
        cause: String,
    },

    /// The module returns what cannot be.
    #[error("{} gives nonsense: {fault}; compile the circuit again", file.display())]
    Nonsense {
        /// The circuit.
        file: PathBuf,
        /// What.
        fault: String,
    },

    /// The system would not give what running code needs.
    #[error("this system cannot run compiled WebAssembly: {0}")]
    System(String),
}

/// What kind of fault an error is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The system would not read, or not run.
    System,
    /// The module is unusable.
    BadModule,
    /// The input is wrong in itself or is not this circuit's.
    BadInput,
    /// The circuit refuses the values.
    Refused,
    /// A limit was reached.
    Limit,
}

impl WasmError {
    /// What kind of fault this is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Io { .. } | Self::System(_) => Kind::System,
            Self::NotWasm { .. }
            | Self::NotCircom { .. }
            | Self::WrongField { .. }
            | Self::Trap { .. }
            | Self::Nonsense { .. } => Kind::BadModule,
            Self::Input { .. } => Kind::BadInput,
            Self::Refused { .. } => Kind::Refused,
            Self::TooLarge { .. }
            | Self::TooMuchWork { .. }
            | Self::OutOfTime { .. }
            | Self::OutOfFuel { .. }
            | Self::OutOfMemory { .. } => Kind::Limit,
        }
    }

    /// What the machine or the engine does not give, for `map_err`.
    pub(crate) fn system(error: wasmtime::Error) -> Self {
        Self::System(format!("{error:#}"))
    }

    /// A [`WasmError::Io`], for `map_err`.
    pub(crate) fn io(action: &'static str, file: &Path) -> impl FnOnce(io::Error) -> Self {
        let file = file.to_owned();
        move |source| Self::Io { action, file, source }
    }

    /// A [`WasmError::Input`] at a place.
    pub(crate) fn input(file: Option<&Path>, Fault { place, what }: Fault) -> Self {
        // `file:line:column: …`, as compilers say it.
        let fault = if file.is_some() { format!("{place}: {what}") } else { format!("input:{place}: {what}") };
        Self::Input { input: file.map(Path::to_owned), fault }
    }
}

fn named(file: Option<&PathBuf>) -> String {
    file.map_or_else(String::new, |file| format!("{}: ", file.display()))
}

fn traced(trace: &[String]) -> String {
    trace.iter().map(|line| format!("\n  {line}")).collect()
}
