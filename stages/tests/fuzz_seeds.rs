//! What the fuzz targets begin with is good, so that what they change is looked at and not only its digests.

use std::fs;
use std::path::{Path, PathBuf};

use proofline_stages::params::resident::Resident;
use proofline_stages::progress::unwatched;
use proofline_stages::{CircuitShape, Error};

#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

fn seeds(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target);
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// Each seed is read as it is, refused with digests that are wrong, and read again when those have been put right.
fn right_digests_are_put_in(target: &str, read: impl Fn(&Path) -> Result<(), Error>) {
    let seeds = seeds(target);
    assert!(!seeds.is_empty(), "{target} has no seeds");
    for seed in seeds {
        let good = fs::read(&seed).unwrap();
        let [seal, first_section, length] = [24, 56 + 24, 16];
        for at in [seal, first_section, length] {
            let mut wrong = good.clone();
            wrong[at] ^= 1;
            assert!(fuzz::as_file(&wrong, "wrong", &read).is_err(), "byte {at} of {}", seed.display());
            assert_eq!(fuzz::resealed(&wrong), good, "byte {at} of {}", seed.display());
        }
        fuzz::as_file(&good, "good", &read).unwrap();
    }
}

#[test]
fn of_stored_circuits() {
    right_digests_are_put_in("pce", |path| CircuitShape::read(path).map(drop));
}

#[test]
fn of_converted_keys() {
    right_digests_are_put_in("resident", |path| Resident::open(path)?.load(&unwatched).map(drop));
}
