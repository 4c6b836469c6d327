#![no_main]
//! Converted keys.

use libfuzzer_sys::fuzz_target;
use proofline_fuzz::as_file;
use proofline_stages::params::resident::Resident;
use proofline_stages::progress::unwatched;

fuzz_target!(|bytes: &[u8]| {
    as_file(bytes, "x.resident", |path| {
        if let Ok(key) = Resident::open(path) {
            let _ = key.load(&unwatched);
        }
    });
});
