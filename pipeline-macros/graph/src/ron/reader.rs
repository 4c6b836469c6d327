//! Words and brackets → a tree.

mod repair;

use super::lexer::{Token, tokens};
use super::node::{Argument, Call, Node, Value};
use crate::checks::syntax;
use crate::diagnostic::{Diagnostic, Report};
use crate::source::{At, FileId, Sources, Span};

/// How deep brackets may nest; hand-written files reach 5.
const DEPTH_LIMIT: usize = 64;

/// Reads the document of `file`. All faults are reported; what could not be read is [`Value::Broken`].
pub fn read(file: FileId, sources: &Sources, report: &mut Report) -> Node {
    let tokens = tokens(file, &sources.get(file).text, report);
    let (open, soft, balanced) = (Vec::new(), Vec::new(), are_balanced(&tokens));
    let mut reader =
        Reader { tokens, at: 0, open, opened: 0, balanced, soft, closed_early: false, bracket_fault: false, report };
    let node = reader.value();
    if let (token, span) = reader.peek().clone()
        && token != Token::End
        && node.value != Value::Broken
        && !reader.bracket_fault
    {
        reader.report.add(syntax::behind_the_end(span));
    }
    for (_, diagnostic) in std::mem::take(&mut reader.soft) {
        reader.report.add(diagnostic);
    }
    node
}

/// Whether every bracket that opens is closed by its like.
fn are_balanced(tokens: &[(Token, Span)]) -> bool {
    let mut open = Vec::new();
    let closes = |(token, _): &(Token, Span)| match token {
        Token::Open(bracket) => {
            open.push(*bracket);
            true
        }
        Token::Close(')') => open.pop() == Some('('),
        Token::Close(']') => open.pop() == Some('['),
        Token::Close(_) => open.pop() == Some('{'),
        _ => true,
    };
    tokens.iter().all(closes) && open.is_empty()
}

struct Reader<'a> {
    tokens: Vec<(Token, Span)>,
    at: usize,
    /// The brackets that are open, outermost first.
    open: Vec<Open>,
    /// How many brackets were opened so far.
    opened: usize,
    /// No bracket is missing or too many: what lies inside something else was meant to.
    balanced: bool,
    /// Faults that may be due to a bracket that is missing or too many: the number of the innermost bracket around each.
    soft: Vec<(usize, Diagnostic)>,
    /// A bracket was taken to end where nothing closes it, and that was reported.
    closed_early: bool,
    /// A bracket is missing or too many, and that was reported: what seems wrong behind it may be due to that.
    bracket_fault: bool,
    report: &'a mut Report,
}

/// A bracket that is open.
struct Open {
    /// Counted from 1 in the order of the file.
    number: usize,
    close: char,
    /// The name of a call.
    name: Option<String>,
    /// Whether a fault was found between it and its end, inner brackets not counted.
    damaged: bool,
}

/// More faults than this are not kept back, so that a hostile file costs no memory.
const KEPT_BACK: usize = 128;

impl Reader<'_> {
    /// A fault that is reported in the end, unless a bracket of the same level turns out to be its cause.
    fn fault(&mut self, diagnostic: Diagnostic) {
        self.damage();
        match self.open.last().map_or(0, |open| open.number) {
            _ if self.bracket_fault => {}
            inside if self.soft.len() < KEPT_BACK => self.soft.push((inside, diagnostic)),
            _ => self.report.add_error(|| diagnostic),
        }
    }

    /// Reports that a bracket is missing or too many; only the first such fault is sure. What seemed wrong directly inside
    /// the bracket that is open is due to it.
    fn bracket_fault(&mut self, diagnostic: Diagnostic) {
        self.damage();
        if !self.bracket_fault {
            let inside = self.open.last().map_or(0, |open| open.number);
            self.soft.retain(|(level, _)| *level != inside);
            self.report.add(diagnostic);
        }
        self.report.lose_the_thread();
        self.bracket_fault = true;
    }

    fn damage(&mut self) {
        if let Some(open) = self.open.last_mut() {
            open.damaged = true;
        }
    }

    fn peek(&self) -> &(Token, Span) {
        // `End` is last and never stepped over.
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn next(&mut self) -> (Token, Span) {
        let token = self.peek().clone();
        if token.0 != Token::End {
            self.at += 1;
        }
        token
    }

    /// The end of what was read last.
    fn last(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].1
    }

    fn value(&mut self) -> Node {
        let (token, span) = self.peek().clone();
        if let Token::Open(_) = token
            && self.open.len() >= DEPTH_LIMIT
        {
            self.bracket_fault(syntax::too_deep(span, DEPTH_LIMIT));
            self.at = self.tokens.len() - 1;
            return Node { value: Value::Broken, span, damaged: true };
        }
        let (value, damaged) = match token {
            Token::Number(text) => self.one(Value::Number(text)),
            Token::Text(text) => self.one(Value::Text(text)),
            Token::Word(word) => {
                self.next();
                match self.peek().clone() {
                    (Token::Open('('), _) => self.call(Some(At { value: word, span })),
                    // `Stage "spmv", …)`
                    (found, next) if self.lacks_its_bracket(&word) => {
                        self.fault(syntax::opening_wanted(next, '(', &found));
                        let (value, _) = self.call_body(Some(At { value: word, span }), next);
                        (value, true)
                    }
                    _ => (Value::Word(word), false),
                }
            }
            Token::Open('(') => self.call(None),
            Token::Open('[') => self.list(),
            Token::Open(_) => self.map(),
            Token::Close(_) | Token::Comma | Token::Colon | Token::End => {
                self.fault(syntax::value_wanted(span, &token));
                if token == Token::Colon {
                    self.next();
                }
                return Node { value: Value::Broken, span, damaged: true };
            }
        };
        Node { value, span: span.to(self.last()), damaged }
    }

    fn one(&mut self, value: Value) -> (Value, bool) {
        self.next();
        (value, false)
    }

    fn list(&mut self) -> (Value, bool) {
        let mut items = Vec::new();
        let damaged = self.bracket(']', |reader| items.push(reader.value()));
        (Value::List(items), damaged)
    }

    fn map(&mut self) -> (Value, bool) {
        let (_, opened) = self.next();
        self.map_body(opened)
    }

    fn map_body(&mut self, opened: Span) -> (Value, bool) {
        let mut entries = Vec::new();
        let damaged = self.bracket_from('}', None, opened, |reader| {
            let key = reader.value();
            let value = reader.after_colon(&key);
            entries.push((key, value));
        });
        (Value::Map(entries), damaged)
    }

    /// The value behind the colon that follows `key`.
    fn after_colon(&mut self, key: &Node) -> Node {
        if self.peek().0 == Token::Colon {
            self.next();
            return self.entry_value();
        }
        if key.value != Value::Broken {
            self.fault(syntax::colon_wanted(key.span));
        }
        match self.peek().0 {
            Token::Comma | Token::Close(_) | Token::End => {
                Node { value: Value::Broken, span: key.span.behind(), damaged: true }
            }
            // As if the colon were there.
            _ => self.value(),
        }
    }

    fn call(&mut self, name: Option<At<String>>) -> (Value, bool) {
        let (_, opened) = self.next();
        self.call_body(name, opened)
    }

    fn call_body(&mut self, name: Option<At<String>>, opened: Span) -> (Value, bool) {
        let mut arguments: Vec<Argument> = Vec::new();
        let damaged = self.bracket_from(')', name.as_ref(), opened, |reader| {
            let value = reader.value();
            let is_field = reader.peek().0 == Token::Colon && matches!(value.value, Value::Word(_));
            if is_field && let Value::Word(word) = value.value {
                let field = Some(At { value: word, span: value.span });
                reader.next();
                let value = reader.entry_value();
                let value = reader.unopened_list(value);
                arguments.push(Argument { field, value });
                return;
            }
            if arguments.iter().any(|argument| argument.field.is_some()) && value.value != Value::Broken {
                reader.fault(syntax::positional_behind_named(value.span));
            }
            arguments.push(Argument { field: None, value });
        });
        (Value::Call(Call { name, arguments }), damaged)
    }

    /// Reads `item, item, …` between the bracket that comes next and `close`; says whether it found a fault there.
    fn bracket(&mut self, close: char, item: impl FnMut(&mut Self)) -> bool {
        let (_, opened) = self.next();
        self.bracket_from(close, None, opened, item)
    }

    /// The same behind the bracket, which stands at `opened`, or is missing there.
    fn bracket_from(
        &mut self,
        close: char,
        name: Option<&At<String>>,
        opened: Span,
        mut item: impl FnMut(&mut Self),
    ) -> bool {
        self.opened += 1;
        let name = name.map(|name| name.value.clone());
        self.open.push(Open { number: self.opened, close, name, damaged: false });
        loop {
            match self.peek().clone() {
                (token, span) if token == Token::End || self.sibling_begins() || self.field_begins(close) => {
                    if self.closed_early {
                        self.damage();
                    } else {
                        self.bracket_fault(syntax::open_bracket(span, &token, opened, close));
                    }
                    self.closed_early = true;
                    break;
                }
                (Token::Close(found), _) if found == close && !(self.open.len() == 1 && self.ends_too_early(found)) => {
                    self.next();
                    break;
                }
                (Token::Close(found), span) => {
                    // A bracket that an outer level waits for ends this one too; another one is passed over.
                    if self.open.iter().any(|outer| outer.close == found) && !self.ends_too_early(found) {
                        self.bracket_fault(syntax::wrong_bracket(span, found, opened, close));
                        break;
                    }
                    self.bracket_fault(syntax::stray_bracket(span, found));
                    self.next();
                    if self.peek().0 == Token::Comma {
                        self.next();
                    }
                }
                (Token::Comma, span) => {
                    while self.peek().0 == Token::Comma {
                        self.next();
                    }
                    // Where a closing bracket is missing, its comma is left over, and the bracket says it all.
                    if !self.sibling_begins() && !self.field_begins(close) {
                        self.fault(syntax::value_wanted(span, &Token::Comma));
                    }
                }
                _ => {
                    let before = self.at;
                    item(self);
                    self.separator(before);
                }
            }
        }
        self.open.pop().is_none_or(|bracket| bracket.damaged)
    }

    /// What closes the innermost bracket.
    fn closes(&self) -> char {
        self.open.last().map_or(')', |open| open.close)
    }

    /// The comma behind an item; where it is missing, the next item is read as if it were there.
    fn separator(&mut self, item_began: usize) {
        match self.peek().clone() {
            (Token::Comma, _) => {
                self.next();
            }
            (Token::Close(_) | Token::End, _) => {}
            // The bracket ends here, or one inside it did, and that has its own words.
            _ if self.sibling_begins()
                || self.field_begins(self.closes())
                || std::mem::take(&mut self.closed_early) => {}
            (token, span) => {
                if self.at > item_began {
                    self.fault(syntax::comma_wanted(self.last(), &token, span));
                }
                if token == Token::Colon || self.at == item_began {
                    self.next();
                }
            }
        }
    }
}
