//! Whether there is memory for a key, before it is read.

use std::path::Path;

use proofline::runtime::exec::expect_room;
use proofline::runtime::export::Graph;
use proofline::runtime::stage::{Brought, Thing};
use proofline::{CircuitShape, Pipeline, bytes_of_key, bytes_of_new_key};

use super::exit::Fault;

/// Refuses a key that the machine could never have in memory, with the table; whole jobs are judged when they are there.
pub fn expect_room_for_key(key: &Path) -> Result<(), Fault> {
    // What is wrong with the file is for its reader to say, who comes next.
    let Ok(bytes) = bytes_of_key(key) else { return Ok(()) };
    expect_room_for(format!("proving key {}", key.display()), bytes)
}

/// As [`expect_room_for_key`], for the constraints of a circuit, which stand in so many bytes of a file: these are read whole, and
/// as long as they are in memory beside them.
pub fn expect_room_for_constraints(file: &Path, bytes: u64) -> Result<(), Fault> {
    expect_room_for(format!("constraints of {}", file.display()), bytes.saturating_mul(2))
}

/// As [`expect_room_for_key`], for a key that is made.
pub fn expect_room_for_new_key(shape: &CircuitShape) -> Result<(), Fault> {
    expect_room_for(format!("a new key for {}", shape.name()), bytes_of_new_key(shape))
}

fn expect_room_for(what: String, bytes: u64) -> Result<(), Fault> {
    let brought = Brought { thing: Thing::Kept(0), what, bytes };
    Ok(expect_room(&Pipeline::plan(), &[brought], Path::new("/"))?)
}
