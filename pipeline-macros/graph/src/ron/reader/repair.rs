//! Where a bracket is missing or too many: what tells so, and how the reader goes on.

use super::{DEPTH_LIMIT, Reader};
use crate::checks::syntax;
use crate::ron::lexer::Token;
use crate::ron::node::{Call, Node, Value};

impl Reader<'_> {
    /// Whether a field begins here that cannot lie inside the bracket that `close` ends: `edges:` in a list, say.
    pub(super) fn field_begins(&self, close: char) -> bool {
        let Some([(Token::Word(name), _), (Token::Colon, _)]) = self.tokens.get(self.at..self.at + 2) else {
            return false;
        };
        let in_call = self.open.iter().any(|open| open.close == ')');
        in_call && (close == ']' || close == '}' && syntax::FIELDS.contains(&name.as_str()))
    }

    /// Whether the bracket that comes next would close the document though another one that could follows.
    pub(super) fn ends_too_early(&self, found: char) -> bool {
        let outermost = self.open.iter().rposition(|open| open.close == found) == Some(0);
        let behind = self.tokens.get(self.at + 1..).unwrap_or_default();
        outermost && behind.iter().any(|(token, _)| *token == Token::Close(found))
    }

    /// Whether a name and its value come next: `jobs: 4`, or `"mem_heavy": 1`.
    pub(super) fn entry_begins(&self) -> Option<char> {
        match self.tokens.get(self.at..self.at + 2)? {
            [(Token::Word(_), _), (Token::Colon, _)] => Some('('),
            [(Token::Text(_), _), (Token::Colon, _)] => Some('{'),
            _ => None,
        }
    }

    /// The value of a field or an entry. Where an entry begins in its place, the bracket around it is missing.
    pub(super) fn entry_value(&mut self) -> Node {
        let Some(bracket) = self.entry_begins().filter(|_| self.open.len() < DEPTH_LIMIT) else {
            return self.value();
        };
        let (token, span) = self.peek().clone();
        self.fault(syntax::opening_wanted(span, bracket, &token));
        let (value, _) = if bracket == '(' { self.call_body(None, span) } else { self.map_body(span) };
        Node { value, span: span.to(self.last()), damaged: true }
    }

    /// The items of a list whose bracket is missing, from the second on: `stages: Stage("a"), Stage("b")]`.
    pub(super) fn unopened_list(&mut self, first: Node) -> Node {
        let same = |name: &str| match self.tokens.get(self.at..self.at + 3) {
            Some([(Token::Comma, _), (Token::Word(word), _), (Token::Open('('), _)]) => word == name,
            _ => false,
        };
        let is_first = matches!(&first.value, Value::Call(Call { name: Some(name), .. }) if same(&name.value));
        if !is_first {
            return first;
        }
        let span = first.span;
        self.fault(syntax::unopened_list(span));
        self.next();
        let mut items = vec![first];
        self.bracket_from(']', None, span, |reader| items.push(reader.value()));
        Node { value: Value::List(items), span: span.to(self.last()), damaged: true }
    }

    /// Whether a call begins here that cannot lie inside itself: `Stage("a", … Stage("b"` lacks a bracket.
    pub(super) fn sibling_begins(&self) -> bool {
        let Some([(Token::Word(name), _), (Token::Open('('), _)]) = self.tokens.get(self.at..self.at + 2) else {
            return false;
        };
        !self.balanced && self.open.iter().any(|open| open.name.as_ref() == Some(name))
    }

    /// Whether what follows the word that was just read can only be the arguments of a call.
    pub(super) fn lacks_its_bracket(&self, word: &str) -> bool {
        let is_name = word.starts_with(|letter: char| letter.is_ascii_uppercase());
        let is_file = self.open.is_empty() && self.entry_begins() == Some('(');
        is_name && self.open.len() < DEPTH_LIMIT && (is_file || matches!(self.peek().0, Token::Text(_)))
    }
}
