#![no_main]
//! Stored circuits, with digests that are right.

use libfuzzer_sys::fuzz_target;
use proofline_fuzz::{as_file, resealed};
use proofline_stages::CircuitShape;

fuzz_target!(|bytes: &[u8]| {
    let _ = as_file(&resealed(bytes), "x.pce", CircuitShape::read);
});
