#![no_main]
//! `.zkey`: its circuit and all its points.

use libfuzzer_sys::fuzz_target;
use proofline_fuzz::as_file;
use proofline_stages::params::{Parameters, Zkey};
use proofline_stages::progress::unwatched;

fuzz_target!(|bytes: &[u8]| {
    as_file(bytes, "x.zkey", |path| {
        if let Ok(zkey) = Zkey::open(path, &unwatched) {
            let _ = zkey.shape(&unwatched);
            let _ = Parameters::of_zkey(&zkey, &unwatched);
        }
    });
});
