#![no_main]
//! `input.json` of circom's calculators: what is read names each signal once, with values below r.

use std::collections::HashSet;

use libfuzzer_sys::fuzz_target;
use proofline_circom_wasm::{Input, field};

fuzz_target!(|text: &str| {
    if let Ok(input) = Input::parse(text) {
        let mut names = HashSet::new();
        for (name, values) in input.signals() {
            assert!(names.insert(name.to_owned()), "{name} twice");
            assert!(values.iter().all(field::is_canonical));
        }
    }
});
