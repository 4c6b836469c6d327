#![no_main]
//! `.wtns`.

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use proofline_stages::circuits::parse_wtns;

fuzz_target!(|bytes: &[u8]| {
    let _ = parse_wtns(Path::new("x"), bytes);
});
