//! Whether there is memory for a key, before it is read.

use std::path::Path;

use proofline::runtime::exec::expect_room;
use proofline::runtime::export::Graph;
use proofline::runtime::stage::{Brought, Thing};
use proofline::{Pipeline, bytes_of_key};

use super::exit::Fault;

/// Refuses a key that the machine could never have in memory, with the table; whole jobs are judged when they are there.
pub fn expect_room_for_key(key: &Path) -> Result<(), Fault> {
    // What is wrong with the file is for its reader to say, who comes next.
    let Ok(bytes) = bytes_of_key(key) else { return Ok(()) };
    let key = Brought { thing: Thing::Kept(0), what: format!("proving key {}", key.display()), bytes };
    Ok(expect_room(&Pipeline::plan(), &[key], Path::new("/"))?)
}
