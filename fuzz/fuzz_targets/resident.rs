#![no_main]
//! Converted keys, with digests that are right.

use libfuzzer_sys::fuzz_target;
use proofline_fuzz::{as_file, resealed};
use proofline_stages::params::resident::Resident;
use proofline_stages::progress::unwatched;

fuzz_target!(|bytes: &[u8]| {
    as_file(&resealed(bytes), "x.resident", |path| {
        if let Ok(key) = Resident::open(path) {
            let _ = key.load(&unwatched);
        }
    });
});
