#![no_main]
//! `.r1cs`: what is read is compiled too.

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use proofline_stages::CircuitShape;
use proofline_stages::circuits::R1cs;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(r1cs) = R1cs::parse(Path::new("x"), bytes) {
        let _ = CircuitShape::from_constraints("x", r1cs);
    }
});
