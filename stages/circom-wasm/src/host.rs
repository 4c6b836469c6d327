//! What a module may call: four functions by which circom's calculators report.

use wasmtime::{Caller, Engine, Linker, Store};

use crate::field::{Element, from_words, to_decimal};
use crate::limits::{Granter, Limits};

/// The longest message that is read, in bytes; circom's buffer has 256.
const MAX_MESSAGE: usize = 1024;

/// How many lines of the log are kept.
const MAX_LOG: usize = 10_000;

/// How many error messages are kept: one for each template that stands around the failed one.
const MAX_TRACE: usize = 100;

/// What an instance has reported so far.
pub struct State {
    pub granter: Granter,
    /// Error messages, the innermost template first.
    pub trace: Vec<String>,
    /// Lines of `log()`.
    pub log: Vec<String>,
    /// The code of the exception that ended the calculation.
    pub exception: Option<i32>,
    /// The line of `log()` that is being written.
    line: Option<String>,
    /// Whether a message is being read: the module cannot make a report while one is read from it.
    reading: bool,
}

impl State {
    pub fn new(limits: &Limits) -> Self {
        Self {
            granter: Granter::new(limits),
            trace: Vec::new(),
            log: Vec::new(),
            exception: None,
            line: None,
            reading: false,
        }
    }

    fn write(&mut self, word: &str) {
        if word == "\n" {
            self.end_line();
        } else if let Some(line) = &mut self.line {
            if line.len() < MAX_MESSAGE {
                line.push(' ');
                line.push_str(word);
            }
        } else {
            self.line = Some(word.to_owned());
        }
    }

    /// Ends the line that is being written.
    pub fn end_line(&mut self) {
        if let Some(line) = self.line.take() {
            keep(&mut self.log, line, MAX_LOG);
        }
    }
}

fn keep(lines: &mut Vec<String>, line: String, most: usize) {
    if lines.len() < most {
        lines.push(line);
    } else if lines.len() == most {
        lines.push("… more was said than is kept".to_owned());
    }
}

/// The module and names that calculators import.
pub const MODULE: &str = "runtime";
/// See [`MODULE`]; with whether they take a code.
pub const IMPORTS: [(&str, bool); 4] = [
    ("exceptionHandler", true),
    ("printErrorMessage", false),
    ("writeBufferMessage", false),
    ("showSharedRWMemory", false),
];

/// The functions, for instances of any module.
pub fn linker(engine: &Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    linker.func_wrap(MODULE, IMPORTS[0].0, |mut caller: Caller<'_, State>, code: i32| -> wasmtime::Result<()> {
        caller.data_mut().exception = Some(code);
        Err(wasmtime::Error::msg("the circuit raised an exception"))
    })?;
    linker.func_wrap(MODULE, IMPORTS[1].0, |mut caller: Caller<'_, State>| {
        let message = message(&mut caller)?;
        keep(&mut caller.data_mut().trace, message.trim().to_owned(), MAX_TRACE);
        Ok(())
    })?;
    linker.func_wrap(MODULE, IMPORTS[2].0, |mut caller: Caller<'_, State>| {
        let message = message(&mut caller)?;
        caller.data_mut().write(&message);
        Ok(())
    })?;
    linker.func_wrap(MODULE, IMPORTS[3].0, |mut caller: Caller<'_, State>| {
        let value = shared(&mut caller)?;
        caller.data_mut().write(&to_decimal(&value));
        Ok(())
    })?;
    Ok(linker)
}

/// Calls `read` unless a report is being read already, so that module and host cannot call each other without end.
fn once<T>(
    caller: &mut Caller<'_, State>,
    read: impl FnOnce(&mut Caller<'_, State>) -> wasmtime::Result<T>,
) -> wasmtime::Result<T> {
    if std::mem::replace(&mut caller.data_mut().reading, true) {
        return Err(wasmtime::Error::msg("it reports while a report is read from it"));
    }
    let done = read(caller);
    caller.data_mut().reading = false;
    done
}

/// The text in the module's message buffer.
fn message(caller: &mut Caller<'_, State>) -> wasmtime::Result<String> {
    once(caller, |caller| {
        let Some(next) = caller.get_export("getMessageChar").and_then(wasmtime::Extern::into_func) else {
            return Err(wasmtime::Error::msg("it has a message and no `getMessageChar`"));
        };
        let next = next.typed::<(), i32>(&*caller)?;
        let mut bytes = Vec::new();
        while bytes.len() < MAX_MESSAGE {
            match next.call(&mut *caller, ())? {
                0 => break,
                byte => bytes.push(byte as u8),
            }
        }
        // Names of templates are ASCII; texts of `log()` may be anything, and must not command a terminal.
        let text = String::from_utf8_lossy(&bytes);
        Ok(text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect())
    })
}

/// The value in the memory that module and host share.
fn shared(caller: &mut Caller<'_, State>) -> wasmtime::Result<Element> {
    once(caller, |caller| {
        let Some(read) = caller.get_export("readSharedRWMemory").and_then(wasmtime::Extern::into_func) else {
            return Err(wasmtime::Error::msg("it shows a value and has no `readSharedRWMemory`"));
        };
        let read = read.typed::<i32, i32>(&*caller)?;
        let mut words = [0; 8];
        for (at, word) in words.iter_mut().enumerate() {
            *word = read.call(&mut *caller, at as i32)? as u32;
        }
        Ok(from_words(&words))
    })
}

/// A store for one instance.
pub fn store(engine: &Engine, limits: &Limits) -> Store<State> {
    let mut store = Store::new(engine, State::new(limits));
    store.limiter(|state| &mut state.granter);
    store
}
