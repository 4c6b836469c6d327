#![no_main]
//! Stored circuits.

use libfuzzer_sys::fuzz_target;
use proofline_fuzz::as_file;
use proofline_stages::CircuitShape;

fuzz_target!(|bytes: &[u8]| {
    let _ = as_file(bytes, "x.pce", CircuitShape::read);
});
