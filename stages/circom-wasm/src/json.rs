//! A reader of JSON that hands out tokens with their places: numbers as they are written, so that none is rounded.
//!
//! Nothing is built: what a file makes in memory is decided by who takes the tokens.

use std::borrow::Cow;
use std::fmt;

/// How deep arrays and objects may nest.
pub const MAX_DEPTH: usize = 64;

/// A place in a text: line and column count from 1, the column in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The byte in the line.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// What is wrong with a text, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Where.
    pub place: Place,
    /// What, and what to do.
    pub what: String,
}

/// What a value begins with.
#[derive(PartialEq, Eq, Debug)]
pub enum Start<'t> {
    /// `{`: [`Reader::key`] goes on.
    Object,
    /// `[`: [`Reader::element`] goes on.
    Array,
    /// A number as it is written.
    Number(&'t str),
    /// A string, escapes resolved.
    Text(Cow<'t, str>),
    /// `true` or `false`.
    Bool(bool),
    /// `null`.
    Null,
}

/// A position in a text.
pub struct Reader<'t> {
    text: &'t str,
    at: usize,
    line: usize,
    line_start: usize,
    depth: usize,
    /// Whether the array or object that was entered last has had no member yet.
    fresh: bool,
}

impl<'t> Reader<'t> {
    /// At the start of the text, behind the byte order mark that some editors write.
    pub fn new(text: &'t str) -> Self {
        let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { text, at: start, line: 1, line_start: start, depth: 0, fresh: false }
    }

    /// The place of the next token.
    pub fn place(&mut self) -> Place {
        self.skip_space();
        self.here()
    }

    fn here(&self) -> Place {
        Place { line: self.line, column: self.at - self.line_start + 1 }
    }

    fn fault<T>(&self, what: impl Into<String>) -> Result<T, Fault> {
        Err(Fault { place: self.here(), what: what.into() })
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(byte @ (b' ' | b'\t' | b'\r' | b'\n')) = self.peek() {
            self.at += 1;
            if byte == b'\n' {
                self.line += 1;
                self.line_start = self.at;
            }
        }
    }

    /// What stands here, for messages.
    fn found(&self) -> String {
        match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            None => "the end of the text".to_owned(),
            Some(found) if found.is_control() => format!("`{}`", found.escape_debug()),
            Some(found) => format!("`{found}`"),
        }
    }

    /// Reads a scalar, or enters an array or object.
    pub fn value(&mut self) -> Result<Start<'t>, Fault> {
        self.skip_space();
        match self.peek() {
            Some(open @ (b'{' | b'[')) => {
                if self.depth == MAX_DEPTH {
                    return self.fault(format!("arrays and objects nest deeper than {MAX_DEPTH}"));
                }
                self.at += 1;
                self.depth += 1;
                self.fresh = true;
                Ok(if open == b'{' { Start::Object } else { Start::Array })
            }
            Some(b'"') => self.string().map(Start::Text),
            Some(b'-' | b'0'..=b'9') => self.number().map(Start::Number),
            Some(b'a'..=b'z' | b'A'..=b'Z') => {
                let word = self.take_while(|byte| byte.is_ascii_alphanumeric());
                match word {
                    "true" => Ok(Start::Bool(true)),
                    "false" => Ok(Start::Bool(false)),
                    "null" => Ok(Start::Null),
                    _ => {
                        self.at -= word.len();
                        let shown = word.get(..20).unwrap_or(word);
                        self.fault(format!("`{shown}` is no value: expected a number, a string, an array or an object"))
                    }
                }
            }
            _ => self.fault(format!("expected a number, a string, an array or an object, found {}", self.found())),
        }
    }

    /// The next key of the object that was entered, its colon taken too; nothing at its end.
    pub fn key(&mut self) -> Result<Option<(Cow<'t, str>, Place)>, Fault> {
        if !self.next_member(b'}')? {
            return Ok(None);
        }
        let place = self.place();
        if self.peek() != Some(b'"') {
            return self.fault(format!("expected the name of a signal in double quotes, found {}", self.found()));
        }
        let key = self.string()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return self.fault(format!("expected `:` after a name, found {}", self.found()));
        }
        self.at += 1;
        Ok(Some((key, place)))
    }

    /// Whether the array that was entered has another element.
    pub fn element(&mut self) -> Result<bool, Fault> {
        self.next_member(b']')
    }

    fn next_member(&mut self, close: u8) -> Result<bool, Fault> {
        self.skip_space();
        let fresh = std::mem::take(&mut self.fresh);
        match self.peek() {
            Some(byte) if byte == close => {
                self.at += 1;
                self.depth -= 1;
                Ok(false)
            }
            Some(b',') if !fresh => {
                self.at += 1;
                self.skip_space();
                if self.peek() == Some(close) {
                    return self.fault(format!("a comma stands before `{}`: remove it", char::from(close)));
                }
                Ok(true)
            }
            _ if fresh => Ok(true),
            _ => self.fault(format!("expected `,` or `{}`, found {}", char::from(close), self.found())),
        }
    }

    /// Checks that nothing but space is left.
    pub fn end(&mut self) -> Result<(), Fault> {
        self.skip_space();
        if self.at == self.text.len() {
            return Ok(());
        }
        self.fault(format!("expected nothing more after the object, found {}", self.found()))
    }

    fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> &'t str {
        let rest = &self.text.as_bytes()[self.at..];
        let len = rest.iter().position(|byte| !wanted(*byte)).unwrap_or(rest.len());
        let taken = &self.text[self.at..self.at + len];
        self.at += len;
        taken
    }

    fn number(&mut self) -> Result<&'t str, Fault> {
        let start = self.at;
        let number =
            self.take_while(|byte| matches!(byte, b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z'));
        let digits = number.strip_prefix('-').unwrap_or(number);
        if digits.len() > 1 && digits.starts_with('0') && digits.as_bytes()[1].is_ascii_alphanumeric() {
            self.at = start;
            return self.fault("a number of JSON does not begin with 0: write it in double quotes, or without the 0");
        }
        Ok(number)
    }

    fn string(&mut self) -> Result<Cow<'t, str>, Fault> {
        let open = self.here();
        self.at += 1;
        let plain = self.take_while(|byte| byte != b'"' && byte != b'\\' && byte >= b' ');
        let mut owned = String::new();
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(if owned.is_empty() { Cow::Borrowed(plain) } else { Cow::Owned(owned) });
                }
                Some(b'\\') => {
                    if owned.is_empty() {
                        owned.push_str(plain);
                    }
                    owned.push(self.escape()?);
                    owned.push_str(self.take_while(|byte| byte != b'"' && byte != b'\\' && byte >= b' '));
                }
                Some(_) => {
                    return self.fault("a control character or an end of line stands in a string: `\"` is missing");
                }
                None => return Err(Fault { place: open, what: "the string that begins here does not end".to_owned() }),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let byte = self.text.as_bytes().get(self.at + 1).copied();
        let simple = match byte {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'u') => {
                let code = self.text.get(self.at + 2..self.at + 6);
                let code = code.filter(|code| code.bytes().all(|digit| digit.is_ascii_hexdigit()));
                let Some(found) = code.and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32)
                else {
                    return self.fault("`\\u` takes four hexadecimal digits of a character of its own (no surrogate)");
                };
                self.at += 6;
                return Ok(found);
            }
            _ => return self.fault("an unknown escape stands in a string"),
        };
        self.at += 2;
        Ok(simple)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the whole text, tokens thrown away; the fault and its place as text.
    fn fault_of(text: &str) -> String {
        fn walk(reader: &mut Reader<'_>) -> Result<(), Fault> {
            match reader.value()? {
                Start::Object => {
                    while reader.key()?.is_some() {
                        walk(reader)?;
                    }
                }
                Start::Array => {
                    while reader.element()? {
                        walk(reader)?;
                    }
                }
                _ => (),
            }
            Ok(())
        }
        let mut reader = Reader::new(text);
        match walk(&mut reader).and_then(|()| reader.end()) {
            Ok(()) => "none".to_owned(),
            Err(Fault { place, what }) => format!("{place}: {what}"),
        }
    }

    #[test]
    fn good_texts_are_read_to_the_end() {
        for text in
            ["{}", " [ ] ", "[1,-2 , \"x\\n\\u00e9\\/\",true,false,null]", "{\"a\":{\"b\":[[],{}]},\"a\":0}\r\n\t"]
        {
            assert_eq!(fault_of(text), "none", "{text}");
        }
    }

    #[test]
    fn faults_have_their_place() {
        for (text, fault) in [
            ("", "1:1: expected a number"),
            ("{\n  \"a\": 1\n  \"b\": 2}", "3:3: expected `,` or `}`, found `\"`"),
            ("{\"a\" 1}", "1:6: expected `:`"),
            ("{a: 1}", "1:2: expected the name of a signal"),
            ("[1,]", "1:4: a comma stands before `]`"),
            ("[,1]", "1:2: expected a number"),
            ("{\"a\":1}}", "1:8: expected nothing more"),
            ("[1", "1:3: expected `,` or `]`, found the end"),
            ("[\"ab", "1:2: the string that begins here"),
            ("[\"a\nb\"]", "1:4: a control character"),
            ("[\"\\x\"]", "1:3: an unknown escape"),
            ("[\"\\ud800\"]", "1:3: `\\u` takes"),
            ("[\"\\u12\"]", "1:3: `\\u` takes"),
            ("[\"\\u+123\"]", "1:3: `\\u` takes"),
            ("[\"\\u00é\"]", "1:3: `\\u` takes"),
            ("[undefined]", "1:2: `undefined` is no value"),
            ("[NaN]", "1:2: `NaN` is no value"),
            ("[01]", "1:2: a number of JSON"),
            ("[0x1]", "1:2: a number of JSON"),
            ("[1 2]", "1:4: expected `,`"),
            ("\u{feff}\u{feff}{}", "1:1: expected a number"),
            ("[\u{e9}]", "1:2: expected a number"),
        ] {
            assert!(fault_of(text).starts_with(fault), "{text:?} → {}", fault_of(text));
        }
    }

    #[test]
    fn a_byte_order_mark_is_passed_over() {
        assert_eq!(fault_of("\u{feff}{}"), "none");
        assert!(fault_of("\u{feff}{,").starts_with("1:2: "));
    }

    #[test]
    fn depth_is_bounded() {
        assert_eq!(fault_of(&("[".repeat(MAX_DEPTH) + &"]".repeat(MAX_DEPTH))), "none");
        assert_eq!(fault_of(&"[".repeat(1_000_000)), "1:65: arrays and objects nest deeper than 64");
        assert_eq!(fault_of(&"{\"a\":".repeat(100_000)), "1:321: arrays and objects nest deeper than 64");
    }

    #[test]
    fn strings_come_without_their_escapes() {
        let mut reader = Reader::new("\"\\u0041b\\\\c\" \"plain\"");
        assert_eq!(reader.value(), Ok(Start::Text("Ab\\c".into())));
        assert!(matches!(reader.value(), Ok(Start::Text(Cow::Borrowed("plain")))));
    }

    #[test]
    fn every_prefix_and_every_changed_byte_ends() {
        let text = "{\"a\": [1, {\"b\\n\": [true, null]}], \"c\": -3}";
        for end in 0..text.len() {
            assert_ne!(fault_of(&text[..end]), "none", "{}", &text[..end]);
        }
        for at in 0..text.len() {
            for byte in 0..128u8 {
                let mut changed = text.as_bytes().to_vec();
                changed[at] = byte;
                let changed = String::from_utf8(changed).expect("ASCII is UTF-8");
                let fault = fault_of(&changed);
                assert!(fault == "none" || fault.contains(": "), "{changed}");
            }
        }
    }
}
