//! Modules that nobody's compiler made: each ends in an error that says what it did.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use proofline_circom_wasm::{Calculator, Input, Kind, Limits, WasmError};

/// The parts of a small honest calculator: one input `in`, two wires. `{name}` is the function of that name.
const PARTS: [(&str, &str); 15] = [
    (
        "imports",
        r#"(import "runtime" "exceptionHandler" (func $raise (param i32)))
                   (import "runtime" "printErrorMessage" (func $print))
                   (import "runtime" "writeBufferMessage" (func $write))
                   (import "runtime" "showSharedRWMemory" (func $show))"#,
    ),
    ("memory", r#"(memory (export "memory") 1)"#),
    ("getVersion", "(result i32) (i32.const 2)"),
    ("init", "(param i32)"),
    ("getFieldNumLen32", "(result i32) (i32.const 8)"),
    ("getRawPrime", "(memory.copy (i32.const 0) (i32.const 64) (i32.const 32))"),
    ("readSharedRWMemory", "(param i32) (result i32) (i32.load (i32.shl (local.get 0) (i32.const 2)))"),
    ("writeSharedRWMemory", "(param i32 i32) (i32.store (i32.shl (local.get 0) (i32.const 2)) (local.get 1))"),
    ("setInputSignal", "(param i32 i32 i32) (memory.copy (i32.const 128) (i32.const 0) (i32.const 32))"),
    ("getInputSignalSize", "(param i32 i32) (result i32) (i32.eq (local.get 1) (i32.const 0xb55c4bbe))"),
    ("getInputSize", "(result i32) (i32.const 1)"),
    ("getWitnessSize", "(result i32) (i32.const 2)"),
    (
        "getWitness",
        "(param i32) (memory.copy (i32.const 0) (i32.add (i32.const 96) (i32.shl (local.get 0) (i32.const 5))) (i32.const 32))",
    ),
    ("getMessageChar", "(result i32) (i32.const 0)"),
    ("more", ""),
];

/// r, then 1, as they lie in the memory from byte 64.
const DATA: &str = r#"(data (i32.const 64) "\01\00\00\00\ff\ff\ff\ff\fe\5b\fe\ff\02\a4\bd\53\05\d8\a1\09\08\d8\39\33\48\7d\9d\29\53\a7\ed\73\01")"#;

/// A calculator with some parts replaced; an empty text leaves a function out.
fn module(changes: &[(&str, &str)]) -> Vec<u8> {
    let mut text = "(module ".to_owned();
    for (name, honest) in PARTS {
        let part = changes.iter().find(|(changed, _)| *changed == name).map_or(honest, |(_, part)| part);
        match name {
            _ if part.is_empty() => (),
            "imports" | "memory" | "more" => text.push_str(part),
            _ => write!(text, "(func ${name} (export \"{name}\") {part})").expect("a string grows"),
        }
        text.push('\n');
    }
    assert!(changes.iter().all(|(changed, _)| PARTS.iter().any(|(name, _)| changed == name)));
    if !text.contains("$NODATA") {
        text.push_str(DATA);
    }
    text.push(')');
    wat::parse_str(&text).expect("the text is WebAssembly")
}

fn limits() -> Limits {
    Limits { time: Duration::from_secs(60), memory_bytes: 16 << 20, ..Limits::default() }
}

fn run_with(changes: &[(&str, &str)], limits: &Limits) -> Result<Vec<[u64; 4]>, WasmError> {
    let calculator = Calculator::from_bytes(Path::new("hostile.wasm"), &module(changes), limits)?;
    let input = Input::parse(r#"{"in": 5}"#).expect("the text is good");
    calculator.witness(&input).map(|witness| witness.values().to_vec())
}

/// What is said about a calculator with one part replaced.
fn said(name: &str, part: &str) -> String {
    let error = run_with(&[(name, part)], &limits()).expect_err("it is hostile");
    let text = error.to_string();
    assert!(text.contains("hostile.wasm"), "{text}");
    text
}

#[test]
fn the_honest_one_works_with_and_without_a_shared_address_and_a_memory() {
    let wires = [[1, 0, 0, 0], [5, 0, 0, 0]];
    assert_eq!(run_with(&[], &limits()).expect("it is honest"), wires);
    let shared = r#"(func (export "getSharedRWMemoryStart") (result i32) (i32.const 0))"#;
    assert_eq!(run_with(&[("more", shared)], &limits()).expect("it is honest"), wires);
    assert_eq!(run_with(&[("memory", "(memory 1)")], &limits()).expect("it is honest"), wires);
}

/// The fuzz target changes small calculators: one of circom's takes a hundred times as long to compile.
#[test]
fn the_seeds_of_the_fuzz_target_are_these() {
    let shared = r#"(func (export "getSharedRWMemoryStart") (result i32) (i32.const 0))"#;
    let refuses = "(param i32 i32 i32) (call $print) (call $write) (call $raise (i32.const 4))";
    for (name, changes) in [
        ("small.wasm", &[][..]),
        ("shared.wasm", &[("more", shared)]),
        ("refusing.wasm", &[("setInputSignal", refuses)]),
        ("talking.wasm", &[("getMessageChar", "(result i32) (i32.const 97)"), ("setInputSignal", refuses)]),
    ] {
        let seed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/wasm").join(name);
        if std::env::var_os("PROOFLINE_BLESS").is_some() {
            std::fs::write(&seed, module(changes)).expect("the seed can be written");
        }
        assert!(
            std::fs::read(&seed).expect("it is there") == module(changes),
            "{name} is another: PROOFLINE_BLESS=1 writes it"
        );
    }
}

#[test]
fn what_is_no_module_is_refused() {
    for bytes in
        [&b""[..], b"\0asm", b"(module)", b"\x7fELF", b"\0asm\x01\0\0\0\x01\xff\xff\xff\xff\x0f", b"\0asm\x0d\0\x01\0"]
    {
        let error = Calculator::from_bytes(Path::new("hostile.wasm"), bytes, &limits()).expect_err("no module");
        assert!(matches!(error, WasmError::NotWasm { .. }), "{error}");
    }
    let empty = wat::parse_str("(module)").expect("the text is WebAssembly");
    let error = Calculator::from_bytes(Path::new("hostile.wasm"), &empty, &limits()).expect_err("an empty module");
    assert!(error.to_string().contains("is not a witness calculator of circom 2: it has no function"), "{error}");
}

#[test]
fn loops_without_end_are_ended_by_the_clock_and_by_fuel() {
    for (name, part) in [
        ("init", "(param i32) (loop (br 0))"),
        ("getVersion", "(result i32) (loop (br 0)) (unreachable)"),
        ("setInputSignal", "(param i32 i32 i32) (loop (br 0))"),
        ("getWitness", "(param i32) (loop (br 0))"),
        ("more", "(func $spin (loop (br 0))) (start $spin)"),
        ("init", "(param i32) (loop (call $print) (br 0))"),
        ("getInputSignalSize", "(param i32 i32) (result i32) (loop (call $write) (br 0)) (unreachable)"),
    ] {
        let limits = Limits { time: Duration::from_millis(100), ..limits() };
        let error = run_with(&[(name, part)], &limits).expect_err("it does not end");
        assert!(matches!(error, WasmError::OutOfTime { .. }), "{name}: {error}");
        assert!(error.to_string().contains("did not end within 100ms"), "{error}");
        let limits = Limits { fuel: Some(1_000_000), ..self::limits() };
        let error = run_with(&[(name, part)], &limits).expect_err("it does not end");
        assert!(matches!(error, WasmError::OutOfFuel { .. }), "{name}: {error}");
        assert_eq!(error.kind(), Kind::Limit);
    }
}

#[test]
fn one_late_calculation_does_not_end_the_others() {
    let module = module(&[(
        "setInputSignal",
        "(param i32 i32 i32) (loop (br_if 0 (i32.eq (i32.load (i32.const 0)) (i32.const 7)))) (memory.copy (i32.const 128) (i32.const 0) (i32.const 32))",
    )]);
    let limits = Limits { time: Duration::from_millis(300), ..limits() };
    let calculator = Calculator::from_bytes(Path::new("hostile.wasm"), &module, &limits).expect("it starts");
    std::thread::scope(|scope| {
        let late = scope.spawn(|| calculator.witness(&Input::parse(r#"{"in": 7}"#).expect("the text is good")));
        while !late.is_finished() {
            let witness = calculator.witness(&Input::parse(r#"{"in": 5}"#).expect("the text is good"));
            assert_eq!(witness.expect("it ends").values()[1], [5, 0, 0, 0]);
        }
        assert!(matches!(late.join().expect("no panic"), Err(WasmError::OutOfTime { .. })));
    });
}

#[test]
fn memory_and_tables_are_bounded() {
    let text = said("memory", r#"(memory (export "memory") 65536)"#);
    assert!(text.contains("asks for 4294967296 bytes of memory, and the limit is 16777216"), "{text}");
    let text = said(
        "init",
        "(param i32) (loop (br_if 0 (i32.ge_s (memory.grow (i32.const 16)) (i32.const 0)))) (unreachable)",
    );
    assert!(text.contains("bytes of memory, and the limit is 16777216"), "{text}");
    let text = said("more", "(table 10000000 funcref)");
    assert!(text.contains("asks for 10000000 elements in a table, and the limit is 100000"), "{text}");
    let text = said("more", "(table 10 funcref) (table 10 funcref)");
    assert!(text.contains("table"), "{text}");
    assert!(said("more", "(memory 1)").contains("memor"));
}

#[test]
fn imports_and_exports_must_be_circoms() {
    let text =
        said("imports", r#"(import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))"#);
    assert!(text.contains("it wants `wasi_snapshot_preview1.fd_write` from outside"), "{text}");
    let circom_1 = r#"(import "env" "memory" (memory 2000)) (export "memory" (memory 0))"#;
    let error = run_with(&[("imports", circom_1), ("memory", "")], &limits()).expect_err("it is circom 1's");
    let text = error.to_string();
    assert!(text.contains("it wants `env.memory` from outside") && text.contains("circom 1"), "{text}");
    let text = said("imports", r#"(import "runtime" "exceptionHandler" (func (param i64)))"#);
    assert!(text.contains("it wants `runtime.exceptionHandler`"), "{text}");
    for (name, _) in PARTS.iter().filter(|(name, _)| !["imports", "memory", "more", "getMessageChar"].contains(name)) {
        assert!(said(name, "").contains(&format!("it has no function `{name}`")), "{name}");
        assert!(said(name, "(param f64)").contains(&format!("its `{name}` is not a function of")), "{name}");
    }
    let text = said("getVersion", "(result i32) (i32.const 1)");
    assert!(text.contains("circom 1.0.0 made it"), "{text}");
}

#[test]
fn what_it_returns_is_checked() {
    let shared =
        |at: &str| said("more", &format!(r#"(func (export "getSharedRWMemoryStart") (result i32) (i32.const {at}))"#));
    assert!(shared("65505").contains("it takes values at 65505, outside its 65536 bytes"));
    assert!(shared("-1").contains("it takes values at 4294967295, outside"));
    assert!(said("getWitnessSize", "(result i32) (i32.const -1)").contains("says that it has 4294967295 wires"));
    assert!(said("getWitnessSize", "(result i32) (i32.const 2049)").contains("2049 wires, in 65536 bytes"));
    assert!(said("getWitnessSize", "(result i32) (i32.const 0)").contains("it has 0 wires"));
    assert!(said("getFieldNumLen32", "(result i32) (i32.const 2)").contains("have 2 words"));
    assert!(said("getRawPrime", "").contains("no function"));
    assert!(
        said("getRawPrime", "(i32.store (i32.const 0) (i32.const 7))").contains("wrong field: it calculates modulo 7,")
    );
    let text = said("getWitness", "(param i32) (memory.fill (i32.const 0) (i32.const 255) (i32.const 32))");
    assert!(text.contains("wire 0 has a value of r or more"), "{text}");
    let text = said("getWitness", "(param i32) (memory.fill (i32.const 0) (i32.const 0) (i32.const 32))");
    assert!(text.contains("wire 0 is the constant 1"), "{text}");
    let size = run_with(&[("getInputSignalSize", "(param i32 i32) (result i32) (i32.const -5)")], &limits());
    assert!(matches!(size, Err(WasmError::Input { .. })), "{size:?}");
    let size = run_with(&[("getInputSize", "(result i32) (i32.const -1)")], &limits()).expect_err("it lies");
    assert!(size.to_string().contains("takes 4294967295 input values and 1 are given"), "{size}");
}

#[test]
fn code_that_fails_says_how_and_where() {
    for (name, part, what) in [
        (
            "init",
            "(param i32) (unreachable)",
            "failed while it was to initialise itself: wasm trap: wasm `unreachable`",
        ),
        (
            "setInputSignal",
            "(param i32 i32 i32) (i32.store (i32.const 65536) (i32.const 0))",
            "calculate: wasm trap: out of bounds memory",
        ),
        (
            "getWitness",
            "(param i32) (drop (i32.div_u (i32.const 1) (i32.const 0)))",
            "give its witness: wasm trap: integer divide by zero",
        ),
        ("init", "(param i32) (call $init (local.get 0))", "wasm trap: call stack exhausted"),
        ("more", "(func $f (unreachable)) (start $f)", "failed while it was to start: wasm trap"),
        ("memory", r#"(memory (export "memory") 0)"#, "failed while it was to start: wasm trap: out of bounds memory"),
        ("init", "(param i32) (drop (i32.trunc_f32_s (f32.const nan)))", "wasm trap: invalid conversion to integer"),
        ("more", "(table 1 funcref) (elem (i32.const 7) $init)", "wasm trap"),
    ] {
        let text = said(name, part);
        assert!(text.contains(what), "{name}: {text}");
    }
}

#[test]
fn reports_are_bounded() {
    // A message without an end, and one that makes a report itself.
    let endless = run_with(
        &[
            ("init", "(param i32) (call $print) (call $raise (i32.const 4))"),
            ("getMessageChar", "(result i32) (i32.const 27)"),
        ],
        &limits(),
    );
    match endless {
        Err(WasmError::Refused { what, trace, .. }) => {
            assert_eq!(what, "Assert Failed.");
            assert_eq!(trace, ["\u{fffd}".repeat(1024)]);
        }
        other => panic!("{other:?}"),
    }
    let nested = run_with(
        &[("init", "(param i32) (call $print)"), ("getMessageChar", "(result i32) (call $print) (i32.const 0)")],
        &limits(),
    );
    let text = nested.expect_err("it calls itself").to_string();
    assert!(text.contains("it reports while a report is read from it"), "{text}");
    let shown = run_with(
        &[
            ("init", "(param i32) (call $show)"),
            ("readSharedRWMemory", "(param i32) (result i32) (call $show) (i32.const 0)"),
        ],
        &limits(),
    );
    assert!(shown.expect_err("it calls itself").to_string().contains("it reports while"), "a value");
    let silent = run_with(&[("init", "(param i32) (call $print)"), ("getMessageChar", "")], &limits());
    assert!(silent.expect_err("it has no message").to_string().contains("no `getMessageChar`"));
    let many = "(param i32) (local i32) (loop (call $print) (local.set 1 (i32.add (local.get 1) (i32.const 1))) (br_if 0 (i32.lt_u (local.get 1) (i32.const 100000)))) (call $raise (i32.const 77))";
    match run_with(&[("init", many)], &limits()) {
        Err(WasmError::Refused { what, trace, .. }) => {
            assert_eq!(what, "Unknown error 77.");
            assert_eq!(trace.len(), 101);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn code_made_to_keep_a_compiler_busy_is_refused_before() {
    // 1,000 locals that live through 1,000 nested loops: 16 kB.
    let mut body = format!("(param i32) (local {})", "i32 ".repeat(1000)) + &"(loop ".repeat(1000);
    for local in 0..1000 {
        write!(body, "(local.set {local} (i32.add (local.get {local}) (i32.const 1)))").expect("a string grows");
    }
    body += &"(br_if 0 (local.get 0)))".repeat(1000);
    let error = run_with(&[("init", &body)], &limits()).expect_err("it is a bomb");
    assert!(matches!(error, WasmError::TooMuchWork { work: 500_000_000.., .. }), "{error}");
    assert_eq!(error.kind(), Kind::Limit);
    // As much straight code is no fault.
    let mut body = "(param i32) (local i32)".to_owned();
    for i in 0..5_000 {
        write!(body, "(local.set 1 (i32.add (local.get 1) (i32.load (i32.const {}))))", 4 * (i % 1000))
            .expect("a string grows");
    }
    assert!(run_with(&[("init", &body)], &limits()).is_ok());
}
