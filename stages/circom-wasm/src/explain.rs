//! Why a calculation did not come to its end, in the words of who can mend it.

use std::io;
use std::path::Path;
use std::time::Duration;

use rustix::io::Errno;
use wasmtime::Trap;

use crate::calculator::Calculator;
use crate::error::WasmError;
use crate::host::State;

/// The clock ran out.
pub fn out_of_time(calculator: &Calculator, input: Option<&Path>, limit: Duration) -> WasmError {
    let (file, input) = (calculator.file.clone(), input.map(Path::to_owned));
    WasmError::OutOfTime { file, input, limit }
}

/// Why there is no instance: the system does not give what one takes, or the module's code failed as it began.
pub fn explain_start(
    calculator: &Calculator,
    input: Option<&Path>,
    time: Duration,
    state: &State,
    error: &wasmtime::Error,
) -> WasmError {
    if !error.chain().any(|cause| cause.is::<io::Error>() || cause.is::<Errno>()) {
        return explain(calculator, input, time, state, "start", error);
    }
    WasmError::System(format!(
        "{:#}; every calculation reserves 4 GiB of address space and some more: raise `ulimit -v`, or compute the witness elsewhere \
         (--wtns)",
        error.root_cause()
    ))
}

/// Why a call did not return.
pub fn explain(
    calculator: &Calculator,
    input: Option<&Path>,
    time: Duration,
    state: &State,
    during: &'static str,
    error: &wasmtime::Error,
) -> WasmError {
    let (file, input_file) = (calculator.file.clone(), input.map(Path::to_owned));
    if let Some(code) = state.exception {
        let what = match code {
            1 => "Signal not found.".to_owned(),
            2 => "Too many signals set.".to_owned(),
            3 => "Signal already set.".to_owned(),
            4 => "Assert Failed.".to_owned(),
            5 => "Not enough memory.".to_owned(),
            6 => "Input signal array access exceeds the size.".to_owned(),
            code => format!("Unknown error {code}."),
        };
        return WasmError::Refused { file, input: input_file, what, trace: state.trace.clone() };
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::Interrupt) => out_of_time(calculator, input, time),
        Some(Trap::OutOfFuel) => {
            WasmError::OutOfFuel { file, input: input_file, limit: calculator.limits.fuel.unwrap_or_default() }
        }
        trap => match (state.granter.denied, trap) {
            (Some(denied), _) => {
                WasmError::OutOfMemory { file, what: denied.what, wanted: denied.wanted, limit: denied.limit }
            }
            (None, Some(trap)) => WasmError::Trap { file, input: input_file, during, cause: trap.to_string() },
            (None, None) => WasmError::Trap { file, input: input_file, during, cause: error.root_cause().to_string() },
        },
    }
}
