//! The command `proofline`: a thin user of the library.

mod cli;
mod heap;

use std::process::ExitCode;

fn main() -> ExitCode {
    heap::keep();
    cli::run()
}
