//! How a module is compiled: on as many threads as pay.

use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};
use wasmtime::{Config, Engine, Module, OptLevel};

use crate::error::WasmError;
use crate::limits::Limits;

/// How much stack compiled code may use, in bytes: templates inside templates are calls inside calls. Threads of Rust
/// have 2 MiB.
const STACK: usize = 1 << 20;

/// The stack of a thread that compiles, in bytes: what the main thread of a program has.
const COMPILER_STACK: usize = 8 << 20;

/// Work that pays for a thread, in the units of [`crate::work`]: some 40 ms of circom's code.
const WORK_PER_THREAD: u64 = 100_000;

/// How many threads compile so much work.
fn threads(work: u64) -> usize {
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    usize::try_from(work / WORK_PER_THREAD).unwrap_or(most).clamp(1, most)
}

/// The compiler for so much work, and what runs its code.
///
/// # Errors
///
/// The machine lacks what the engine needs.
pub fn engine(limits: &Limits, work: u64) -> Result<Engine, WasmError> {
    let mut config = Config::new();
    config
        .cranelift_opt_level(OptLevel::None)
        .parallel_compilation(threads(work) > 1)
        .epoch_interruption(true)
        .consume_fuel(limits.fuel.is_some())
        .max_wasm_stack(STACK)
        // circom uses none of these: what is off cannot be attacked.
        .wasm_simd(false)
        .wasm_relaxed_simd(false)
        .wasm_multi_memory(false)
        .wasm_memory64(false)
        .wasm_tail_call(false)
        // Nobody reads these, and making them costs a tenth of the compilation.
        .generate_address_map(false)
        .native_unwind_info(false)
        .wasm_backtrace_max_frames(None)
        // The address space of a memory is reserved whole, so its base is a constant.
        .memory_may_move(false);
    Engine::new(&config).map_err(WasmError::system)
}

/// Compiles a module of so much work, on threads that end with it.
///
/// # Errors
///
/// The outer error is the machine's, which gives no threads; the inner the module's.
pub fn module(engine: &Engine, bytes: &[u8], work: u64) -> Result<wasmtime::Result<Module>, WasmError> {
    let threads = threads(work);
    if threads == 1 {
        return Ok(Module::from_binary(engine, bytes));
    }
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .stack_size(COMPILER_STACK)
        .thread_name(|at| format!("circom-compile-{at}"))
        .build()
        .map_err(|error: ThreadPoolBuildError| WasmError::System(format!("no threads to compile with: {error}")))?;
    Ok(pool.install(|| Module::from_binary(engine, bytes)))
}
