//! Lines for the person at the other end of standard output, who may have left.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};

/// Prints a line. Nobody reading any more is no fault: the work goes on. Any other reason that the line cannot be
/// written ends the command, with the exit code of files that cannot be written.
pub fn line(text: Arguments<'_>) {
    match writeln!(io::stdout(), "{text}") {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        Err(error) => {
            eprintln!("error: cannot write to standard output: {error}");
            std::process::exit(6);
        }
    }
}
