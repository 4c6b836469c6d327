//! Tokens as text that a person can read: one item, statement or field a line, indented by brackets.

use proc_macro2::TokenStream;

/// Lays tokens out. It knows brackets, strings, commas and semicolons, not Rust; `rustfmt` makes the result pretty.
#[must_use]
pub fn readable(tokens: &TokenStream) -> String {
    let text = tokens.to_string();
    let mut page = Page { text: String::with_capacity(2 * text.len()), open: Vec::new() };
    let mut rest = text.as_str();
    while let Some(letter) = rest.chars().next() {
        let length = if letter == '"' { string_length(rest) } else { letter.len_utf8() };
        let (piece, behind) = rest.split_at(length);
        page.add(piece, behind);
        rest = behind;
    }
    page.text.truncate(page.text.trim_end().len());
    page.text.push('\n');
    page.text
}

struct Page {
    text: String,
    /// The brackets that are open, and whether each has a line for each of its items.
    open: Vec<bool>,
}

impl Page {
    /// Adds a letter or a string literal; `behind` is what follows.
    fn add(&mut self, piece: &str, behind: &str) {
        match piece {
            "{" | "(" | "[" => {
                self.text.push_str(piece);
                let lines = breaks(piece, behind);
                self.open.push(lines);
                if lines {
                    self.new_line();
                }
            }
            "}" | ")" | "]" => {
                if self.open.pop().unwrap_or(false) {
                    self.new_line();
                }
                self.text.push_str(piece);
                let goes_on = behind.trim_start().starts_with([',', ';', ')', ']', '}', '.', '>', '&']);
                if piece == "}" && !goes_on && self.open.last().copied().unwrap_or(true) {
                    self.new_line();
                }
            }
            ";" | "," => {
                self.text.push_str(piece);
                if self.open.last().copied().unwrap_or(piece == ";") {
                    self.new_line();
                }
            }
            _ if piece.trim().is_empty() => {
                // rustc puts spaces around every `::`.
                let in_path =
                    self.text.ends_with("::") || behind.starts_with("::") && !self.text.ends_with([':', '=', '>']);
                if !in_path && !self.text.ends_with([' ', '\n']) {
                    self.text.push(' ');
                }
            }
            _ => self.text.push_str(piece),
        }
    }

    fn new_line(&mut self) {
        self.text.truncate(self.text.trim_end_matches(' ').len());
        if !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.extend(std::iter::repeat_n("    ", self.open.iter().filter(|lines| **lines).count()));
    }
}

/// Whether what is inside a bracket gets lines: blocks that are not empty, and lists of structures.
fn breaks(bracket: &str, behind: &str) -> bool {
    if bracket == "{" {
        return !behind.trim_start().starts_with('}');
    }
    let mut depth = 1;
    let mut rest = behind;
    while let Some(letter) = rest.chars().next() {
        match letter {
            '{' => return true,
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return false;
        }
        rest = &rest[if letter == '"' { string_length(rest) } else { letter.len_utf8() }..];
    }
    false
}

/// The length of the string literal that `text` begins with.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::readable;
    use quote::quote;

    #[test]
    fn one_item_a_line() {
        let text = readable(&quote!(
            struct A;
            const B: &str = "a, { \" b";
            fn c() {
                d(1, [2, 3]);
            }
        ));
        let lines: Vec<String> = text.lines().map(|line| line.replace(' ', "")).collect();
        assert_eq!(lines, ["structA;", "constB:&str=\"a,{\\\"b\";", "fnc(){", "d(1,[2,3]);", "}"]);
        assert!(text.lines().nth(3).is_some_and(|line| line.starts_with("    d")), "{text}");
    }
}
