//! The command `proofline`: a thin user of the library.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
