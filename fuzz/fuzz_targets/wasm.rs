#![no_main]
//! Witness calculators: modules that circom never made, run with the inputs of the corpus' circuits in narrow limits. With
//! `-max_len=4096` the small seeds are what is changed, hundreds of times as often as those that circom compiled.

use std::path::Path;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use proofline_circom_wasm::{Calculator, Input, Limits, field};

const INPUTS: [&str; 4] = ["{}", r#"{"in": 5}"#, r#"{"a": 3, "b": 11}"#, r#"{"in": [1, 2, 3], "key": "7"}"#];

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits {
        module_bytes: 1 << 20,
        compile_work: 300_000,
        input_bytes: 1 << 10,
        memory_bytes: 16 << 20,
        time: Duration::from_secs(2),
        fuel: Some(2_000_000),
    };
    let Ok(calculator) = Calculator::from_bytes(Path::new("x.wasm"), bytes, &limits) else { return };
    for text in INPUTS {
        let Ok(input) = Input::parse(text) else { continue };
        if let Ok(witness) = calculator.witness(&input) {
            assert!(witness.values().iter().all(field::is_canonical));
        }
    }
});
