//! Witness calculation as a whole process, beside `snarkjs wtns calculate`: CPU time of process start, compilation,
//! calculation and writing, both in one run, in turns.
//!
//! `cargo bench -p proofline-circom-wasm -- SNARKJS_CLI FILE.wasm INPUT.json [ROUNDS]`

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use proofline_circom_wasm::{Calculator, Input, Limits, WasmError};

/// What one process does.
fn calculate(module: &str, input: &str, out: &str) -> Result<(), WasmError> {
    let limits = Limits::default();
    let calculator = Calculator::open(Path::new(module), &limits)?;
    let witness = calculator.witness(&Input::open(Path::new(input), limits.input_bytes)?)?;
    std::fs::write(out, witness.to_wtns()).expect("the witness can be written");
    Ok(())
}

/// CPU seconds of the children that have ended, user and system.
fn children() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").expect("Linux has /proc");
    // After the name in brackets: cutime and cstime are fields 16 and 17, in ticks of 10 ms.
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).expect("a number of ticks");
    (ticks(13) + ticks(14)) / 100.0
}

/// CPU and wall seconds of a command.
fn time(command: &mut Command) -> (f64, f64) {
    let (cpu, wall) = (children(), Instant::now());
    let status = command.stdout(Stdio::null()).status().expect("the command starts");
    assert!(status.success(), "{command:?}");
    (children() - cpu, wall.elapsed().as_secs_f64())
}

/// A stream of witnesses in one process: seconds of compilation, and of one witness.
fn stream(module: &str, input: &str, rounds: usize) -> Result<(f64, f64), WasmError> {
    let limits = Limits::default();
    let start = Instant::now();
    let calculator = Calculator::open(Path::new(module), &limits)?;
    let input = Input::open(Path::new(input), limits.input_bytes)?;
    let compiled = start.elapsed().as_secs_f64();
    for _ in 0..rounds {
        calculator.witness(&input)?;
    }
    Ok((compiled, (start.elapsed().as_secs_f64() - compiled) / rounds as f64))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (snarkjs, module, input, rounds) = match arguments[..] {
        ["--one", module, input, out] => {
            return match calculate(module, input, out) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    eprintln!("error: {error}");
                    ExitCode::FAILURE
                }
            };
        }
        [snarkjs, module, input] => (snarkjs, module, input, 5),
        [snarkjs, module, input, rounds] => (snarkjs, module, input, rounds.parse().unwrap_or(5)),
        _ => {
            println!("needs SNARKJS_CLI FILE.wasm INPUT.json [ROUNDS]: nothing is measured");
            return ExitCode::SUCCESS;
        }
    };
    let folder = std::env::temp_dir().join(format!("proofline-circom-wasm-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let path = |name: &str| folder.join(name).display().to_string();
    let (ours, theirs) = (path("ours.wtns"), path("theirs.wtns"));
    let this = std::env::current_exe().expect("a process has a file");
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        times[0].push(time(Command::new(&this).args(["--one", module, input, &ours])));
        times[1].push(time(Command::new("node").args([snarkjs, "wtns", "calculate", module, input, &theirs])));
    }
    let same = std::fs::read(&ours).expect("ours is there") == std::fs::read(&theirs).expect("theirs is there");
    for (name, times) in ["proofline-circom-wasm", "snarkjs"].iter().zip(&mut times) {
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (cpu, wall) = times[times.len() / 2];
        println!("{name}: {cpu:.2} s CPU (least {:.2}), {wall:.2} s by the clock, median of {rounds}", times[0].0);
    }
    println!("witnesses {}", if same { "are the same, byte for byte" } else { "DIFFER" });
    if let Ok((compiled, each)) = stream(module, input, rounds) {
        println!("in one process: {compiled:.3} s to compile, {each:.3} s for each witness");
    }
    let _ = std::fs::remove_dir_all(&folder);
    if same { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
