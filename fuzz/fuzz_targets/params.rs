#![no_main]
//! `.params`.

use libfuzzer_sys::fuzz_target;
use proofline_fuzz::as_file;
use proofline_stages::params::Parameters;
use proofline_stages::progress::unwatched;

fuzz_target!(|bytes: &[u8]| {
    let _ = as_file(bytes, "x.params", |path| Parameters::read(path, &unwatched));
});
