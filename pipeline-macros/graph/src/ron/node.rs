//! The tree that the reader makes.

use crate::source::{At, Span};

/// A value of a document.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where it was written.
    pub span: Span,
    /// A fault between its own brackets was reported: what it seems to lack or to have too much may be due to that.
    pub damaged: bool,
}

/// What a node is.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A number as it was written; see [`Value::integer`].
    Number(String),
    /// A string, its escapes resolved.
    Text(String),
    /// A word without parentheses: `any`, `Spread`, `true`.
    Word(String),
    /// `[…]`.
    List(Vec<Node>),
    /// `{ key: value, … }`.
    Map(Vec<(Node, Node)>),
    /// `Name(…)`, or `(…)` without a name.
    Call(Call),
    /// Something that could not be read, and was reported.
    Broken,
}

/// `Name(a, b, field: c)`.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    /// The name, where there is one.
    pub name: Option<At<String>>,
    /// The arguments in order.
    pub arguments: Vec<Argument>,
}

/// One argument of a call.
#[derive(Clone, PartialEq, Debug)]
pub struct Argument {
    /// The field's name; positional arguments have none.
    pub field: Option<At<String>>,
    /// The value.
    pub value: Node,
}

impl Node {
    /// Where an error about the whole of it points: a call's name, else all of it.
    #[must_use]
    pub fn head(&self) -> Span {
        match &self.value {
            Value::Call(Call { name: Some(name), .. }) => name.span,
            _ => self.span,
        }
    }
}

impl Value {
    /// What an error calls it.
    #[must_use]
    pub fn kind(&self) -> String {
        match self {
            Value::Number(text) => format!("the number {text}"),
            Value::Text(text) => format!("the string \"{text}\""),
            Value::Word(word) => format!("`{word}`"),
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => "a map".to_owned(),
            Value::Call(Call { name: Some(name), .. }) => format!("`{}(…)`", name.value),
            Value::Call(_) => "a tuple".to_owned(),
            Value::Broken => "something unreadable".to_owned(),
        }
    }

    /// The number as a whole number that is not negative: decimal or `0x…`, `_` between digits.
    #[must_use]
    pub fn integer(&self) -> Option<u64> {
        let Value::Number(text) = self else { return None };
        let digits = text.replace('_', "");
        match digits.strip_prefix("0x") {
            Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16).ok(),
            None => digits.strip_prefix('+').unwrap_or(&digits).parse().ok(),
        }
    }
}
