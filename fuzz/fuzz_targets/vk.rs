#![no_main]
//! `.vk`.

use libfuzzer_sys::fuzz_target;
use proofline_fuzz::as_file;
use proofline_stages::VerifyingKey;

fuzz_target!(|bytes: &[u8]| {
    let _ = as_file(bytes, "x.vk", VerifyingKey::read);
});
