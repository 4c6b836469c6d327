//! Calculators that circom made, against the witnesses that snarkjs made with them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use proofline_circom_wasm::{Cache, Calculator, Input, Kind, Limits, WasmError};

const CIRCUITS: [&str; 5] = ["multiplier", "arrays", "asserting", "buses", "nothing"];

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/circom").join(name)
}

fn calculator(circuit: &str) -> Calculator {
    Calculator::open(&data(&format!("{circuit}.wasm")), &Limits::default()).expect("the module is good")
}

fn golden(circuit: &str) -> Vec<u8> {
    std::fs::read(data(&format!("{circuit}.wtns"))).expect("the witness is there")
}

fn input(circuit: &str) -> Input {
    Input::open(&data(&format!("{circuit}.input.json")), 1 << 20).expect("the input is good")
}

/// The error for an input, as text and kind.
fn refusal(circuit: &str, text: &str) -> (String, Kind) {
    let input = Input::parse(text).expect("the text is good");
    let error = calculator(circuit).witness(&input).expect_err("the input is not this circuit's");
    (error.to_string(), error.kind())
}

#[test]
fn witnesses_are_those_of_snarkjs() {
    for circuit in CIRCUITS {
        let calculator = calculator(circuit);
        let witness = calculator.witness(&input(circuit)).expect("the input is right");
        assert!(witness.to_wtns() == golden(circuit), "{circuit}");
        assert_eq!(witness.values().len(), calculator.wires(), "{circuit}");
        assert_eq!(calculator.version().to_string(), "2.2.2", "{circuit}");
    }
}

#[test]
fn counted_instructions_change_nothing_else() {
    let limits = Limits { fuel: Some(10_000_000), ..Limits::default() };
    let calculator = Calculator::open(&data("arrays.wasm"), &limits).expect("the module is good");
    assert!(calculator.witness(&input("arrays")).expect("the input is right").to_wtns() == golden("arrays"));
    let limits = Limits { fuel: Some(10_000), ..Limits::default() };
    let error =
        Calculator::open(&data("arrays.wasm"), &limits).and_then(|calculator| calculator.witness(&input("arrays")));
    assert!(matches!(error, Err(WasmError::OutOfFuel { limit: 10_000, .. })), "{error:?}");
}

#[test]
fn one_calculator_serves_many_threads_with_their_own_memories() {
    let calculator = calculator("multiplier");
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let calculator = &calculator;
            scope.spawn(move || {
                for i in 0..20u64 {
                    let (a, b) = (thread * 1000 + i, i + 7);
                    let input = Input::parse(&format!("{{\"b\": {b}, \"a\": [{a}]}}")).expect("the text is good");
                    let witness = calculator.witness(&input).expect("the input is right");
                    assert_eq!(witness.values(), [1, a * b, a, b].map(|value| [value, 0, 0, 0]));
                }
            });
        }
    });
}

#[test]
fn buses_may_be_given_whole_or_by_their_signals() {
    let calculator = calculator("buses");
    for text in [
        r#"{"origin": [2, 3], "path": [[1, 2, 3, 4, 5], [6, 7, 8, 9, -10]]}"#,
        r#"{"origin.x": 2, "origin.y": 3, "path": [1, 2, 3, 4, 5, 6, 7, 8, 9, -10]}"#,
        r#"{"path": [{"ends": [{"x": 1, "y": 2}, {"x": 3, "y": 4}], "weight": 5}, {"weight": -10, "ends": [{"x": 6, "y": 7}, {"x": 8, "y": 9}]}], "origin": {"y": 3, "x": 2}}"#,
    ] {
        let witness = calculator.witness(&Input::parse(text).expect("the text is good")).expect("the input is right");
        assert!(witness.to_wtns() == golden("buses"), "{text}");
    }
    // circom's own code counts such an input as whole and takes 0 for what is missing.
    for text in [
        r#"{"origin": [2, 3], "origin.x": 2, "path": [1, 2, 3, 4, 5, 6, 7, 8, 9, -10]}"#,
        r#"{"origin.x": 2, "path": [1, 2, 3, 4, 5, 6, 7, 8, 9, -10], "origin": [2, 3]}"#,
    ] {
        let (text, kind) = refusal("buses", text);
        assert!(text.contains("`origin.x` is a part of `origin`, which is given whole: remove one"), "{text}");
        assert_eq!(kind, Kind::BadInput);
    }
    let (text, _) = refusal("buses", r#"{"origin.x": 2, "path": [1, 2, 3, 4, 5, 6, 7, 8, 9, -10]}"#);
    assert!(text.contains("takes 12 input values and 11 are given"), "{text}");
}

#[test]
fn a_failed_assertion_names_template_and_line_as_snarkjs_does() {
    let (text, kind) = refusal("asserting", r#"{"in": [0, 2], "limit": 5}"#);
    assert!(
        text.ends_with(
            "asserting.wasm refuses the input: Assert Failed.\n  Error in template Bit_0 line: 7\n  \
             Error in template Asserting_1 line: 18"
        ),
        "{text}"
    );
    assert_eq!(kind, Kind::Refused);
    let (text, _) = refusal("asserting", r#"{"in": [0, 1], "limit": 1000}"#);
    assert!(text.ends_with("Assert Failed.\n  Error in template Asserting_1 line: 21"), "{text}");
    // Where the vector is 0 there is no inverse.
    let (text, _) = refusal("arrays", r#"{"matrix": [1,1,1,1,1,1,1,1,1,1,1,1], "vector": [0,0,0,0]}"#);
    assert!(text.contains("Error in template Arrays_0 line: "), "{text}");
}

#[test]
fn what_the_circuit_says_is_heard_whatever_comes_of_it() {
    let calculator = calculator("asserting");
    let (witness, log) = calculator.witness_and_log(&input("asserting"));
    assert!(witness.is_ok());
    assert_eq!(log, ["limit is 999"]);
    let (refused, log) =
        calculator.witness_and_log(&Input::parse(r#"{"in": [0, 1], "limit": 1000}"#).expect("it is good"));
    assert!(refused.is_err());
    assert_eq!(log, ["limit is 1000"]);
}

#[test]
fn inputs_of_other_circuits_are_refused_before_anything_is_calculated() {
    for (circuit, text, said) in [
        ("asserting", r#"{"in": [0], "limit": 5}"#, "input:1:2: signal `in` has 1 value, and the circuit wants 2"),
        (
            "asserting",
            "{\"limit\": 5,\n\"in\": [0, 1, 1]}",
            "input:2:1: signal `in` has 3 values, and the circuit wants 2",
        ),
        ("asserting", r#"{"in": [0, 1], "limit": []}"#, "signal `limit` has 0 values, and the circuit wants 1"),
        (
            "asserting",
            r#"{"in": [0, 1], "limits": 5}"#,
            "1:16: the circuit has no input signal `limits`: did you mean `limit`?",
        ),
        ("asserting", r#"{"In": [0, 1]}"#, "no input signal `In`: did you mean `in`?"),
        ("arrays", r#"{"verctor": 1}"#, "no input signal `verctor`: did you mean `vector`?"),
        ("arrays", r#"{"something": 1}"#, "no input signal `something`: the names are in the circuit's main component"),
        ("asserting", r#"{"out": 1}"#, "no input signal `out`"),
        ("asserting", r#"{"in": [0, 1]}"#, "takes 3 input values and 2 are given (`in`): a signal is missing"),
        ("asserting", "{}", "takes 3 input values and 0 are given (none): a signal is missing"),
        ("nothing", r#"{"in": 1}"#, "no input signal `in`"),
    ] {
        let (refused, kind) = refusal(circuit, text);
        assert!(refused.contains(said), "{text} → {refused}");
        assert_eq!(kind, Kind::BadInput);
    }
}

#[test]
fn the_files_of_inputs_are_named() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("job-7.json");
    let mut said = Vec::new();
    for text in [r#"{"in": [0, 1, 1]}"#, r#"{"in": [0, 2], "limit": 1}"#, r#"{"in": [0, 1]}"#] {
        std::fs::write(&file, text).expect("a file can be written");
        let input = Input::open(&file, 100).expect("the text is good");
        said.push(calculator("asserting").witness(&input).expect_err("not for this circuit").to_string());
    }
    assert!(said[0].contains("job-7.json:1:2: signal `in`"), "{}", said[0]);
    assert!(said[1].contains("job-7.json: the circuit "), "{}", said[1]);
    assert!(said[2].contains("job-7.json: the circuit takes 3"), "{}", said[2]);
}

#[test]
fn other_primes_are_named() {
    // Where the prime stands in the module, its bytes are replaced by those of BN254's.
    let r: Vec<u8> = proofline_circom_wasm::field::MODULUS.iter().flat_map(|limb| limb.to_le_bytes()).collect();
    let bn254 = "010000f093f5e1439170b97948e833285d588181b64550b829a031e1724e6430";
    let bn254: Vec<u8> =
        (0..32).map(|i| u8::from_str_radix(&bn254[2 * i..2 * i + 2], 16).expect("hexadecimal")).collect();
    let mut module = std::fs::read(data("multiplier.wasm")).expect("the module is there");
    let places: Vec<usize> = (0..module.len() - 32).filter(|at| module[*at..*at + 32] == r[..]).collect();
    assert!(!places.is_empty());
    for at in places {
        module[at..at + 32].copy_from_slice(&bn254);
    }
    let error = Calculator::from_bytes(Path::new("bn.wasm"), &module, &Limits::default()).expect_err("over BN254");
    let text = error.to_string();
    assert!(text.contains("bn.wasm is over the wrong field: it calculates over BN254"), "{text}");
    assert!(text.contains("circom --prime bls12381"), "{text}");
}

#[test]
fn limits_on_real_circuits_are_said() {
    let limits = Limits { memory_bytes: 100_000, ..Limits::default() };
    let text = Calculator::open(&data("arrays.wasm"), &limits).expect_err("it needs more").to_string();
    assert!(text.contains("asks for 720896 bytes of memory, and the limit is 100000"), "{text}");
    let limits = Limits { module_bytes: 1000, ..Limits::default() };
    let error = Calculator::open(&data("arrays.wasm"), &limits);
    assert!(matches!(error, Err(WasmError::TooLarge { limit: 1000, .. })), "{error:?}");
}

#[test]
fn a_module_that_is_cut_or_changed_ends_in_an_error_or_a_witness() {
    let module = std::fs::read(data("multiplier.wasm")).expect("the module is there");
    let limits = Limits { time: Duration::from_secs(20), fuel: Some(1_000_000), ..Limits::default() };
    let input = input("multiplier");
    for part in 0..16 {
        let cut = &module[..module.len() * part / 16];
        let error = Calculator::from_bytes(Path::new("cut.wasm"), cut, &limits).expect_err("it is cut off");
        assert_eq!(error.kind(), Kind::BadModule, "{error}");
    }
    let mut refused = 0;
    for at in (0..module.len()).step_by(module.len() / 50) {
        let mut changed = module.clone();
        changed[at] ^= 1 << (at % 8);
        let made = Calculator::from_bytes(Path::new("changed.wasm"), &changed, &limits);
        match made.and_then(|calculator| calculator.witness(&input)) {
            Ok(witness) => assert_eq!(witness.values()[0], [1, 0, 0, 0]),
            Err(error) => {
                assert!(error.to_string().contains("changed.wasm") || error.kind() == Kind::BadInput, "{error}");
                refused += 1;
            }
        }
    }
    assert!(refused > 5, "only {refused} were refused");
}

#[test]
fn a_kept_calculator_computes_the_same_witness() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = Cache::in_folder(folder.path().join("calculators")).with_least_work(0);
    let limits = Limits::default();
    let witnesses = [(); 2].map(|()| {
        let calculator = Calculator::open_kept(&data("arrays.wasm"), &limits, &cache).expect("the module is good");
        assert!(calculator.unkept().is_none());
        calculator.witness(&input("arrays")).expect("the input is good").to_wtns()
    });
    assert_eq!(witnesses[0], witnesses[1]);
    assert_eq!(std::fs::read_dir(cache.folder()).expect("it was made").count(), 1);
}

#[test]
fn a_calculator_that_cannot_be_kept_computes_and_says_why() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("no-folder"), "").expect("it is written");
    let cache = Cache::in_folder(folder.path().join("no-folder")).with_least_work(0);
    let calculator =
        Calculator::open_kept(&data("arrays.wasm"), &Limits::default(), &cache).expect("the module is good");
    assert!(calculator.unkept().is_some());
    calculator.witness(&input("arrays")).expect("the input is good");
}

#[test]
fn small_calculators_are_not_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = Cache::in_folder(folder.path().join("calculators")).with_least_work(u64::MAX);
    Calculator::open_kept(&data("multiplier.wasm"), &Limits::default(), &cache).expect("the module is good");
    assert!(!cache.folder().exists());
}
