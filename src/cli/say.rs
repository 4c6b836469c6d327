//! Lines for the person at the other end of standard output and standard error, who may have left.

use std::borrow::Cow;
use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};

/// Prints a line. Nobody reading any more is no fault: the work goes on. Any other reason that the line cannot be
/// written ends the command, with the exit code of files that cannot be written.
pub fn line(text: Arguments<'_>) {
    text_as_it_is(format_args!("{}\n", visible(&text.to_string())));
}

/// A text whose characters that command a terminal, or turn the direction of writing, are shown instead: names and contents of
/// files are anybody's, and a verdict must not be painted over.
pub fn visible(text: &str) -> Cow<'_, str> {
    visible_but(text, &['\n', '\t'])
}

/// As [`line`], of a text with colours, in which nothing but these is anybody's escape sequence.
pub fn coloured(text: &str) {
    text_as_it_is(format_args!("{}\n", visible_but(text, &['\n', '\t', '\u{1b}'])));
}

fn visible_but<'a>(text: &'a str, allowed: &[char]) -> Cow<'a, str> {
    let commands = |c: char| {
        let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        turns || (c.is_control() && !allowed.contains(&c))
    };
    if !text.contains(commands) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if commands(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
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
    let _ = io::stderr().write_fmt(format_args!("{}\n", visible(&text.to_string())));
}

#[cfg(test)]
mod tests {
    use super::{visible, visible_but};

    #[test]
    fn what_commands_a_terminal_is_shown() {
        assert_eq!(visible("a\tb\nc é"), "a\tb\nc é");
        assert_eq!(visible_but("\u{1b}[1mx\u{9b}y", &['\u{1b}']), "\u{1b}[1mx\\u{9b}y");
        assert_eq!(visible("x\r\u{1b}[2K\u{202e}y\u{7}"), "x\\u{d}\\u{1b}[2K\\u{202e}y\\u{7}");
    }
}
