//! Lines for the person at the other end of standard output and standard error, who may have left.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};

/// Prints a line. Nobody reading any more is no fault: the work goes on. Any other reason that the line cannot be
/// written ends the command, with the exit code of files that cannot be written.
pub fn line(text: Arguments<'_>) {
    text_as_it_is(format_args!("{text}\n"));
}

/// As [`line`], without the end of the line.
pub fn text_as_it_is(text: Arguments<'_>) {
    let mut out = io::stdout();
    match out.write_fmt(text).and_then(|()| out.flush()) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        Err(error) => {
            tell!("error: cannot write to standard output: {error}");
            std::process::exit(6);
        }
    }
}

/// Prints a line on standard error. Where that cannot be written there is nobody left to say so to: what the command does
/// and its exit code are the same.
pub fn aside(text: Arguments<'_>) {
    let _ = io::stderr().write_fmt(format_args!("{text}\n"));
}
