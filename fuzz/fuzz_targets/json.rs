#![no_main]
//! snarkjs' JSON: proofs, verifying keys, public inputs; what is read is written and read again.

use libfuzzer_sys::fuzz_target;
use proofline_stages::verify::{parse_public_inputs, snarkjs, write_public_inputs};

fuzz_target!(|text: &str| {
    if let Ok(proof) = snarkjs::parse_proof(text) {
        assert_eq!(snarkjs::parse_proof(&snarkjs::write_proof(&proof)).ok(), Some(proof));
    }
    let _ = snarkjs::parse_key(text);
    if let Ok(public) = parse_public_inputs(text) {
        assert_eq!(parse_public_inputs(&write_public_inputs(&public)).ok(), Some(public));
    }
});
