//! How much a calculation may take.

use std::time::Duration;

use wasmtime::ResourceLimiter;

/// How much a module, an input and a calculation may take.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The size of the `.wasm` file, in bytes. circom's are about 0.4 MB for SHA-256.
    pub module_bytes: u64,
    /// How much work compiling may be, in units of about a microsecond; it is estimated from the module before.
    pub compile_work: u64,
    /// The size of an input file, in bytes. Reading one takes up to 32 times as much memory, for `[0,0,0,…]`,
    /// but never for more values than twice the circuit's.
    pub input_bytes: u64,
    /// The memory of one calculation, in bytes. circom takes about 40 bytes for each signal, before simplification.
    pub memory_bytes: u64,
    /// How long one calculation may take by the clock.
    pub time: Duration,
    /// How many instructions one calculation may take, in wasmtime's units; nothing: they are not counted, which is a
    /// third faster.
    pub fuel: Option<u64>,
}

impl Default for Limits {
    /// 256 MiB of module, about a minute of compiling, 64 MiB of input, 4 GiB of memory (all that WebAssembly has), ten minutes, fuel not counted.
    fn default() -> Self {
        Self {
            module_bytes: 256 << 20,
            compile_work: 60_000_000,
            input_bytes: 64 << 20,
            memory_bytes: 4 << 30,
            time: Duration::from_secs(600),
            fuel: None,
        }
    }
}

/// How many elements a table may have: circom's have one for each template and function.
const MAX_TABLE: usize = 100_000;

/// What was refused to a module.
#[derive(Clone, Copy, Debug)]
pub struct Denied {
    /// Of what.
    pub what: &'static str,
    /// How much was asked for.
    pub wanted: u64,
    /// How much there may be.
    pub limit: u64,
}

/// Grants memory and tables to one instance.
pub struct Granter {
    memory_bytes: u64,
    /// The first request that was refused.
    pub denied: Option<Denied>,
}

impl Granter {
    pub fn new(limits: &Limits) -> Self {
        Self { memory_bytes: limits.memory_bytes, denied: None }
    }

    fn grant(&mut self, what: &'static str, wanted: usize, limit: u64) -> bool {
        let wanted = wanted as u64;
        if wanted > limit {
            self.denied.get_or_insert(Denied { what, wanted, limit });
        }
        wanted <= limit
    }
}

impl ResourceLimiter for Granter {
    fn memory_growing(&mut self, _now: usize, wanted: usize, _most: Option<usize>) -> wasmtime::Result<bool> {
        Ok(self.grant("bytes of memory", wanted, self.memory_bytes))
    }

    fn table_growing(&mut self, _now: usize, wanted: usize, _most: Option<usize>) -> wasmtime::Result<bool> {
        Ok(self.grant("elements in a table", wanted, MAX_TABLE as u64))
    }

    fn instances(&self) -> usize {
        1
    }

    fn memories(&self) -> usize {
        1
    }

    fn tables(&self) -> usize {
        1
    }
}
