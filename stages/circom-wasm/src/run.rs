//! One instance of a calculator, under the clock.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use wasmtime::{Instance, Memory, Store, TypedFunc, UpdateDeadline, WasmParams, WasmResults};
use zeroize::Zeroize;

use crate::calculator::{Calculator, Version};
use crate::error::WasmError;
use crate::explain::{explain, explain_start, out_of_time};
use crate::field::{self, Element};
use crate::hint;
use crate::host::{self, State};
use crate::input::{Input, Signal};
use crate::json::Fault;

/// The number of 32-bit words of an element.
const WORDS: usize = 8;

/// An instance of a calculator: its memory is its own, and is overwritten at the end.
pub struct Run<'c> {
    calculator: &'c Calculator,
    input: Option<&'c Path>,
    store: Store<State>,
    instance: Instance,
    memory: Option<Memory>,
    /// Where module and host exchange a value, as an offset in the memory, if it says so.
    shared: Option<usize>,
    late: Arc<AtomicBool>,
    time: Duration,
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        if let Some(memory) = self.memory {
            memory.data_mut(&mut self.store).zeroize();
        }
    }
}

impl<'c> Run<'c> {
    /// Makes an instance, lets `work` use it for `time` at most, and wipes it.
    pub fn scope<T>(
        calculator: &'c Calculator,
        input: Option<&'c Path>,
        time: Duration,
        work: impl FnOnce(&mut Self) -> Result<T, WasmError>,
    ) -> Result<T, WasmError> {
        let late = Arc::new(AtomicBool::new(false));
        let (over, wait) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            let watch = {
                let late = Arc::clone(&late);
                move || {
                    if wait.recv_timeout(time) == Err(mpsc::RecvTimeoutError::Timeout) {
                        late.store(true, Ordering::Release);
                        // Every run of this engine looks up now, and goes on unless it is the late one.
                        calculator.engine.increment_epoch();
                    }
                }
            };
            let watch = std::thread::Builder::new().name("circom-clock".to_owned()).spawn_scoped(scope, watch);
            watch.map_err(|error| WasmError::System(format!("no thread for the clock: {error}")))?;
            let done = Self::start(calculator, input, late, time).and_then(|mut run| work(&mut run));
            drop(over);
            done
        })
    }

    fn start(
        calculator: &'c Calculator,
        input: Option<&'c Path>,
        late: Arc<AtomicBool>,
        time: Duration,
    ) -> Result<Self, WasmError> {
        let mut store = host::store(&calculator.engine, &calculator.limits);
        store.set_epoch_deadline(1);
        let look = Arc::clone(&late);
        store.epoch_deadline_callback(move |_| {
            Ok(if look.load(Ordering::Acquire) { UpdateDeadline::Interrupt } else { UpdateDeadline::Continue(1) })
        });
        if let Some(fuel) = calculator.limits.fuel {
            store.set_fuel(fuel).map_err(WasmError::system)?;
        }
        let made = calculator.module.instantiate(&mut store);
        let instance = made.map_err(|error| explain_start(calculator, input, time, store.data(), &error))?;
        let memory = instance.get_memory(&mut store, "memory");
        let mut run = Self { calculator, input, store, instance, memory, shared: None, late, time };
        run.call::<i32, ()>("init", 0, "initialise itself")?;
        run.shared = run.find_shared()?;
        Ok(run)
    }

    fn func<P: WasmParams, R: WasmResults>(&mut self, name: &str) -> Result<TypedFunc<P, R>, WasmError> {
        self.instance.get_typed_func(&mut self.store, name).map_err(|error| WasmError::NotCircom {
            file: self.calculator.file.clone(),
            fault: format!("its `{name}` cannot be called: {error:#}"),
        })
    }

    fn call<P: WasmParams, R: WasmResults>(
        &mut self,
        name: &str,
        parameters: P,
        during: &'static str,
    ) -> Result<R, WasmError> {
        let func = self.func::<P, R>(name)?;
        self.call_func(&func, parameters, during)
    }

    fn call_func<P: WasmParams, R: WasmResults>(
        &mut self,
        func: &TypedFunc<P, R>,
        parameters: P,
        during: &'static str,
    ) -> Result<R, WasmError> {
        func.call(&mut self.store, parameters)
            .map_err(|error| explain(self.calculator, self.input, self.time, self.store.data(), during, &error))
    }

    fn nonsense(&self, fault: String) -> WasmError {
        WasmError::Nonsense { file: self.calculator.file.clone(), fault }
    }

    /// The offset of the shared value, which newer calculators tell.
    fn find_shared(&mut self) -> Result<Option<usize>, WasmError> {
        const NAME: &str = "getSharedRWMemoryStart";
        let Some(memory) = self.memory else { return Ok(None) };
        let Some(func) = self.instance.get_func(&mut self.store, NAME) else { return Ok(None) };
        if !crate::calculator::is_plain(&func.ty(&self.store), 0, 1) {
            return Ok(None);
        }
        let start = self.call::<(), i32>(NAME, (), "say where it takes values")? as u32 as usize;
        let size = memory.data_size(&self.store);
        if size < 4 * WORDS || start > size - 4 * WORDS {
            return Err(self.nonsense(format!("it takes values at {start}, outside its {size} bytes of memory")));
        }
        Ok(Some(start))
    }

    /// Puts a value where the module takes it.
    fn give(&mut self, value: &Element) -> Result<(), WasmError> {
        if let (Some(start), Some(memory)) = (self.shared, self.memory) {
            let bytes = memory.data_mut(&mut self.store).get_mut(start..start + 4 * WORDS);
            for (bytes, limb) in bytes.into_iter().flat_map(|bytes| bytes.chunks_exact_mut(8)).zip(value) {
                bytes.copy_from_slice(&limb.to_le_bytes());
            }
            return Ok(());
        }
        let write = self.func::<(i32, i32), ()>("writeSharedRWMemory")?;
        for (at, word) in field::to_words(value).into_iter().enumerate() {
            self.call_func(&write, (at as i32, word as i32), "take a value")?;
        }
        Ok(())
    }

    /// The value that the module has put out.
    fn take(&mut self) -> Result<Element, WasmError> {
        if let (Some(start), Some(memory)) = (self.shared, self.memory) {
            let bytes = memory.data(&self.store).get(start..start + 4 * WORDS);
            let (limbs, _) = bytes.unwrap_or_default().as_chunks::<8>();
            let mut value = [0; 4];
            for (value, limb) in value.iter_mut().zip(limbs) {
                *value = u64::from_le_bytes(*limb);
            }
            return Ok(value);
        }
        let read = self.func::<i32, i32>("readSharedRWMemory")?;
        let mut words = [0; WORDS];
        for (at, word) in words.iter_mut().enumerate() {
            *word = self.call_func(&read, at as i32, "give a value")? as u32;
        }
        Ok(field::from_words(&words))
    }

    pub fn version(&mut self) -> Result<Version, WasmError> {
        let major = self.call::<(), i32>("getVersion", (), "say its version")? as u32;
        // Not in the first calculators of circom 2.
        let mut part = |name| match self.instance.get_typed_func::<(), i32>(&mut self.store, name) {
            Ok(func) => self.call_func(&func, (), "say its version").map(|number| number as u32),
            Err(_) => Ok(0),
        };
        Ok(Version { major, minor: part("getMinorVersion")?, patch: part("getPatchVersion")? })
    }

    /// The prime of the circuit's field.
    pub fn prime(&mut self) -> Result<Element, WasmError> {
        let words = self.call::<(), i32>("getFieldNumLen32", (), "say the size of its field")?;
        if words as usize != WORDS {
            let fault = format!(
                "its elements have {words} words of 32 bits, and BLS12-381's have {WORDS}: compile the circuit again with \
                 `circom --prime bls12381`"
            );
            return Err(WasmError::WrongField { file: self.calculator.file.clone(), fault });
        }
        self.call::<(), ()>("getRawPrime", (), "say its prime")?;
        self.take()
    }

    /// The number of wires; no more than its memory can hold, which has every wire's value.
    pub fn wires(&mut self) -> Result<usize, WasmError> {
        let wires = self.call::<(), i32>("getWitnessSize", (), "say how many wires it has")? as u32 as usize;
        let held =
            self.memory.map_or(self.calculator.limits.memory_bytes, |memory| memory.data_size(&self.store) as u64);
        if wires == 0 || wires as u64 > held / (4 * WORDS as u64) {
            return Err(self.nonsense(format!("it says that it has {wires} wires, in {held} bytes of memory")));
        }
        Ok(wires)
    }

    /// The number of input values.
    pub fn inputs(&mut self) -> Result<usize, WasmError> {
        Ok(self.call::<(), i32>("getInputSize", (), "say how many inputs it has")? as u32 as usize)
    }

    /// How many values a signal has; 0 if there is none of that name.
    fn size_of(&mut self, func: &TypedFunc<(i32, i32), i32>, name: &str) -> Result<usize, WasmError> {
        let (high, low) = halves(hint::hash(name));
        let size = self.call_func(func, (high, low), "say how many values a signal has")?;
        Ok(usize::try_from(size).unwrap_or(0))
    }

    /// The values of all wires, for an input.
    pub fn calculate(&mut self, input: &Input, wires: usize) -> Result<Vec<Element>, WasmError> {
        self.check(input)?;
        for signal in &input.signals {
            self.set(signal)?;
        }
        self.values(wires)
    }

    /// Checks that an input has the circuit's signals with their numbers of values, before anything is calculated.
    fn check(&mut self, input: &Input) -> Result<(), WasmError> {
        let func = self.func::<(i32, i32), i32>("getInputSignalSize")?;
        let all: HashSet<&str> = input.signals.iter().map(|signal| signal.name.as_str()).collect();
        let mut given = 0;
        for signal in &input.signals {
            // circom's code would count both, and take 0 for another signal that is missing.
            let wholes = signal.name.match_indices(['.', '[']).map(|(end, _)| &signal.name[..end]);
            if let Some(whole) = wholes.into_iter().find(|whole| all.contains(whole)) {
                let what = format!("`{}` is a part of `{whole}`, which is given whole: remove one", signal.name);
                return Err(WasmError::input(input.file.as_deref(), Fault { place: signal.place, what }));
            }
            let (name, count) = (signal.name.escape_debug(), signal.values.len());
            let size = self.size_of(&func, &signal.name)?;
            given += count;
            let what = match size {
                0 => format!("the circuit has no input signal `{name}`{}", self.suggestion(&func, &signal.name)?),
                _ if size == count => continue,
                _ => format!(
                    "signal `{name}` has {count} value{}, and the circuit wants {size}",
                    if count == 1 { "" } else { "s" }
                ),
            };
            return Err(WasmError::input(input.file.as_deref(), Fault { place: signal.place, what }));
        }
        let wanted = self.calculator.inputs();
        if given == wanted {
            return Ok(());
        }
        let names: Vec<&str> = input.signals.iter().take(20).map(|signal| signal.name.as_str()).collect();
        let listed =
            if names.is_empty() { "none".to_owned() } else { format!("`{}`", names.join("`, `").escape_debug()) };
        let dots = if input.signals.len() > names.len() { ", …" } else { "" };
        let fault = format!(
            "the circuit takes {wanted} input values and {given} are given ({listed}{dots}): a signal {}. The names are in \
             the circuit's main component, the .wasm does not list them",
            if given < wanted { "is missing" } else { "is too many" }
        );
        let space = if input.file.is_some() { " " } else { "" };
        Err(WasmError::Input { input: input.file.clone(), fault: format!("{space}{fault}") })
    }

    /// What to say about a name that the circuit does not have.
    fn suggestion(&mut self, func: &TypedFunc<(i32, i32), i32>, name: &str) -> Result<String, WasmError> {
        for near in hint::near(name) {
            if self.size_of(func, &near)? > 0 {
                return Ok(format!(": did you mean `{near}`?"));
            }
        }
        Ok(": the names are in the circuit's main component, the .wasm does not list them".to_owned())
    }

    /// Gives the values of a signal; with the last one of all, the module calculates.
    fn set(&mut self, signal: &Signal) -> Result<(), WasmError> {
        let func = self.func::<(i32, i32, i32), ()>("setInputSignal")?;
        let (high, low) = halves(hint::hash(&signal.name));
        for (at, value) in signal.values.iter().enumerate() {
            self.give(value)?;
            self.call_func(&func, (high, low, at as i32), "calculate")?;
        }
        Ok(())
    }

    /// The values of all wires.
    fn values(&mut self, wires: usize) -> Result<Vec<Element>, WasmError> {
        let func = self.func::<i32, ()>("getWitness")?;
        let mut values = Values(Vec::with_capacity(wires));
        for wire in 0..wires {
            self.call_func(&func, wire as i32, "give its witness")?;
            let value = self.take()?;
            if !field::is_canonical(&value) {
                return Err(self.nonsense(format!("wire {wire} has a value of r or more")));
            }
            values.0.push(value);
        }
        if values.0.first() != Some(&[1, 0, 0, 0]) {
            return Err(self.nonsense("wire 0 is the constant 1, and it gives another value".to_owned()));
        }
        if self.late.load(Ordering::Acquire) {
            return Err(out_of_time(self.calculator, self.input, self.time));
        }
        Ok(std::mem::take(&mut values.0))
    }

    /// What the circuit said with `log()`.
    pub fn take_log(&mut self) -> Vec<String> {
        self.store.data_mut().end_line();
        std::mem::take(&mut self.store.data_mut().log)
    }
}

/// Values that are wiped unless they are taken.
struct Values(Vec<Element>);

impl Drop for Values {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

fn halves(hash: u64) -> (i32, i32) {
    ((hash >> 32) as i32, hash as i32)
}
