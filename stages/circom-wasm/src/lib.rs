//! Witnesses from circom's own witness calculators.
//!
//! `circom --wasm` compiles a circuit to a WebAssembly module that takes the values of the input signals and gives the
//! values of all wires. This crate runs such a module, made by circom 2 with `--prime bls12381`, in a sandbox:
//!
//! ```no_run
//! use std::path::Path;
//!
//! use proofline_circom_wasm::{Calculator, Input, Limits};
//!
//! # fn main() -> Result<(), proofline_circom_wasm::WasmError> {
//! let limits = Limits::default();
//! let calculator = Calculator::open(Path::new("circuit.wasm"), &limits)?;
//! let witness = calculator.witness(&Input::open(Path::new("input.json"), limits.input_bytes)?)?;
//! println!("{} wires", witness.values().len());
//! # Ok(())
//! # }
//! ```
//!
//! A [`Calculator`] is compiled once and may be used by many threads; every witness has an instance and a memory of its
//! own. Values are canonical integers below r in four 64-bit limbs ([`Element`]), so the crate needs no arithmetic and
//! no other crate of the workspace.
//!
//! # The runtime, and why
//!
//! wasmtime with Cranelift, its optimiser off, and nothing else of it: no WASI, no component model, no threads, no SIMD,
//! no garbage collection. README.md has the measurements. In short: one witness is a process of half a second, most of it
//! the same big-integer routines over and over, so a runtime must compile fast *and* run compiled code. An interpreter
//! (wasmi) runs 8 times longer; wasmtime's baseline compiler (Winch) saves less in compiling than its code costs; the
//! optimiser costs more than it saves. Large modules are compiled on several threads, which end with the compilation, and
//! may be kept compiled for the next process ([`Cache`]).
//!
//! # What a hostile module can do
//!
//! It computes wrong witnesses, which the proof's verification finds, or it ends in an error. It has no imports but four
//! functions that report. [`Limits`] bounds the file, its memory, its tables and its time. Time is bounded by the clock
//! through wasmtime's epochs, since counting instructions (fuel) costs a third of the speed; who needs the same answer on
//! every machine sets [`Limits::fuel`]. Everything that it returns is checked: pointers against its memory, the number of
//! wires against its memory before anything is allocated, values against r.
//!
//! Compiling cannot be interrupted. How long it will take is estimated from the module's shape beforehand, and what would
//! take longer than [`Limits::compile_work`] is refused: a compiler is slow on code made for that, 16 kB of it can keep
//! Cranelift busy for minutes.
//!
//! wasmtime catches traps by signal handlers (`SIGSEGV`, `SIGBUS`, `SIGFPE`, `SIGILL`), which are the process's: they are
//! installed with the first calculator, act on faults in compiled code only, and hand all others on. Without them the code
//! would be a quarter slower.
//!
//! # Secrets
//!
//! Inputs and witnesses are wiped when they are dropped, the text of an input file after it is read. An instance's
//! memory is overwritten before it is given back, if the module exports it, as circom's does. Not wiped: the module's
//! global variables and the stack it ran on, where single values may remain; messages of `log()`, which exist to be shown.
//! Give log messages no secrets.

mod cache;
mod calculator;
mod compile;
mod error;
mod explain;
pub mod field;
mod files;
mod hint;
mod host;
mod input;
mod json;
mod limits;
mod run;
mod witness;
mod work;

pub use cache::Cache;
pub use calculator::{Calculator, Version};
pub use error::{Kind, WasmError};
pub use field::Element;
pub use input::Input;
pub use limits::Limits;
pub use witness::Witness;
