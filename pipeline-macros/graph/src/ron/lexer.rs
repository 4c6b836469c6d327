//! Text → words and brackets.

use crate::checks::syntax;
use crate::diagnostic::Report;
use crate::source::{FileId, Span};

/// A word of the notation.
#[derive(Clone, PartialEq, Debug)]
pub enum Token {
    /// `(`, `[` or `{`.
    Open(char),
    /// `)`, `]` or `}`.
    Close(char),
    /// `,`
    Comma,
    /// `:`
    Colon,
    /// Digits and what belongs to them.
    Number(String),
    /// A string, its escapes resolved.
    Text(String),
    /// A name.
    Word(String),
    /// The text is over.
    End,
}

/// Splits `text`; faults are reported, and what is faulty is left out or closed.
pub fn tokens(file: FileId, text: &str, report: &mut Report) -> Vec<(Token, Span)> {
    let mut lexer = Lexer { file, text, at: 0, lost_until: 0, report };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next() {
        tokens.push(token);
    }
    tokens.push((Token::End, lexer.span(text.len(), text.len())));
    tokens
}

struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    /// The byte that comes next.
    at: usize,
    /// Up to here a quote opens nothing: it lies in a line whose last string is not closed, and that was reported.
    lost_until: usize,
    report: &'a mut Report,
}

impl Lexer<'_> {
    fn next(&mut self) -> Option<(Token, Span)> {
        loop {
            self.skip_blanks();
            let start = self.at;
            let letter = self.peek()?;
            let token = match letter {
                '(' | '[' | '{' => self.one(Token::Open(letter)),
                ')' | ']' | '}' => self.one(Token::Close(letter)),
                ',' => self.one(Token::Comma),
                ':' => self.one(Token::Colon),
                '"' if start < self.lost_until => {
                    self.at += 1;
                    continue;
                }
                '"' => self.string(),
                'r' if self.raw_hashes().is_some() => self.raw_string(),
                '0'..='9' | '-' | '+' | '.' => Token::Number(self.take_while(is_of_number)),
                _ if is_of_word(letter) => Token::Word(self.take_while(is_of_word)),
                other => match self.stray(other) {
                    Some(meant) => meant,
                    None => continue,
                },
            };
            return Some((token, self.span(start, self.at)));
        }
    }

    /// A letter that begins nothing; the token that was meant, where that is plain.
    fn stray(&mut self, letter: char) -> Option<Token> {
        let start = self.at;
        if letter == '#' {
            // A comment of another language.
            let rest = self.rest();
            self.at += rest.find('\n').unwrap_or(rest.len());
            let span = self.span(start, start + 1);
            self.report.add_error(|| syntax::stray(span, letter));
            return None;
        }
        let rest = self.rest();
        // A run of them is one fault; two quotes are an empty string.
        let run = rest.find(|other| other != letter).unwrap_or(rest.len());
        let run = if is_quote(letter) && rest[..run].chars().count() <= 2 { letter.len_utf8() } else { run };
        self.at += run;
        let span = self.span(start, self.at);
        self.report.add_error(|| syntax::stray(span, letter));
        match letter {
            ';' => Some(Token::Comma),
            '=' => Some(Token::Colon),
            _ if is_quote(letter) && run == letter.len_utf8() => {
                let text = self.take_while(|letter| !ends_a_lost_string(letter));
                if let Some(closing) = self.peek().filter(|closing| is_quote(*closing)) {
                    self.at += closing.len_utf8();
                }
                Some(Token::Text(text))
            }
            _ => {
                self.report.lose_the_thread();
                None
            }
        }
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span { file: self.file, start: narrow(start), end: narrow(end) }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn one(&mut self, token: Token) -> Token {
        self.at += 1;
        token
    }

    fn take_while(&mut self, belongs: fn(char) -> bool) -> String {
        let rest = self.rest();
        let length = rest.find(|letter| !belongs(letter)).unwrap_or(rest.len());
        let taken = rest[..length].to_owned();
        self.at += length;
        taken
    }

    /// White space and comments.
    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            self.at += blank;
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                self.skip_block_comment();
            } else if self.at == 0 && rest.starts_with('\u{feff}') {
                self.at += '\u{feff}'.len_utf8();
            } else if blank == 0 {
                return;
            }
        }
    }

    /// `/* … /* … */ … */`.
    fn skip_block_comment(&mut self) {
        let start = self.at;
        let mut depth = 0;
        loop {
            let rest = self.rest();
            if rest.starts_with("/*") {
                depth += 1;
                self.at += 2;
            } else if rest.starts_with("*/") {
                depth -= 1;
                self.at += 2;
                if depth == 0 {
                    return;
                }
            } else if let Some(letter) = rest.chars().next() {
                self.at += letter.len_utf8();
            } else {
                self.report.add(syntax::open_comment(self.span(start, start + 2)));
                self.report.lose_the_thread();
                return;
            }
        }
    }

    /// `"…"`; one that is not closed on its line is read again as if it ended before the next mark.
    fn string(&mut self) -> Token {
        let start = self.at;
        self.at += 1;
        let begin = self.at;
        let mut text = String::new();
        while let Some(letter) = self.peek() {
            match letter {
                '"' => {
                    self.at += 1;
                    return Token::Text(text);
                }
                '\n' => break,
                '\\' => text.extend(self.escape()),
                _ => {
                    text.push(letter);
                    self.at += letter.len_utf8();
                }
            }
        }
        let span = self.span(start, start + 1);
        self.report.add_error(|| syntax::open_string(span));
        self.lost_until = self.at;
        self.at = begin;
        Token::Text(self.take_while(|letter| !ends_a_lost_string(letter)))
    }

    /// A backslash and what follows it.
    fn escape(&mut self) -> Option<char> {
        let start = self.at;
        self.at += 1;
        let letter = self.peek()?;
        self.at += letter.len_utf8();
        let meant = match letter {
            'n' => Some('\n'),
            't' => Some('\t'),
            'r' => Some('\r'),
            '0' => Some('\0'),
            '"' | '\\' | '\'' => Some(letter),
            'x' => self.hexadecimal(2),
            'u' => self.braced_hexadecimal(),
            _ => None,
        };
        if meant.is_none() {
            let span = self.span(start, self.at);
            self.report.add_error(|| syntax::bad_escape(span));
        }
        meant
    }

    fn hexadecimal(&mut self, digits: usize) -> Option<char> {
        let number = u32::from_str_radix(self.rest().get(..digits)?, 16).ok()?;
        self.at += digits;
        char::from_u32(number)
    }

    fn braced_hexadecimal(&mut self) -> Option<char> {
        let digits = self.rest().strip_prefix('{')?.bytes().take(7).position(|byte| byte == b'}')?;
        self.at += 1;
        let letter = self.hexadecimal(digits)?;
        self.at += 1;
        Some(letter)
    }

    /// How many `#` follow the `r` of a raw string.
    fn raw_hashes(&self) -> Option<usize> {
        let rest = self.rest().strip_prefix('r')?;
        let hashes = rest.len() - rest.trim_start_matches('#').len();
        rest[hashes..].starts_with('"').then_some(hashes)
    }

    /// `r"…"`, `r#"…"#`.
    fn raw_string(&mut self) -> Token {
        let start = self.at;
        let hashes = self.raw_hashes().unwrap_or_default();
        self.at += hashes + 2;
        let end = format!("\"{}", "#".repeat(hashes));
        let rest = self.rest();
        match rest.find(&end) {
            Some(length) => {
                let text = rest[..length].to_owned();
                self.at += length + end.len();
                Token::Text(text)
            }
            None => {
                let text = rest.to_owned();
                self.at = self.text.len();
                self.report.add(syntax::open_string(self.span(start, start + hashes + 2)));
                self.report.lose_the_thread();
                Token::Text(text)
            }
        }
    }
}

/// Where a string without a closing quote is taken to end.
fn ends_a_lost_string(letter: char) -> bool {
    matches!(letter, ',' | ':' | ')' | ']' | '}' | '\n' | '"' | '\'' | '`' | '“' | '”' | '‘' | '’')
}

/// An offset in a [`Span`]. `Source::read` keeps texts below 16 MiB; a longer inline text only loses the place of its
/// faults.
fn narrow(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

/// What stands about strings in other languages and in letters.
fn is_quote(letter: char) -> bool {
    matches!(letter, '\'' | '`' | '“' | '”' | '‘' | '’')
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn is_of_number(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '+' | '-')
}
