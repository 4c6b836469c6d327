//! The fields of a call, and the values in them.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use crate::checks::{duplicate, missing_field, unknown_field, values};
use crate::diagnostic::Report;
use crate::model::Listed;
use crate::ron::{Argument, Node, Value};
use crate::source::{At, Span};

/// How many items a list or a map has at most; the checks compare each with each.
const MANY: usize = 4096;

/// What a decoder hands about: where faults go.
pub struct Decoder<'r> {
    pub report: &'r mut Report,
    /// The fields and keys whose values were handed out, by the values' places, so that errors can name them.
    named: HashMap<Span, String>,
}

/// The arguments of one call, each to be asked for by name.
pub struct Fields<'n> {
    /// What errors call the owner: `Stage`, say.
    owner: &'static str,
    /// Where an error about what is missing points.
    pub head: Span,
    /// The fields that it may have, positional ones first.
    known: &'static [&'static str],
    arguments: &'n [Argument],
    /// What it lacks may have been lost in a fault that was reported.
    damaged: bool,
}

impl<'r> Decoder<'r> {
    /// A decoder that reports to `report`.
    pub fn new(report: &'r mut Report) -> Self {
        Self { report, named: HashMap::new() }
    }

    /// What errors call a value: the field or key that it belongs to.
    pub fn name(&self, node: &Node) -> Option<&str> {
        self.named.get(&node.span).map(String::as_str)
    }

    /// The fields of `node`, which should read `Owner(…)`. The first `positional` of `known` may come without a name.
    /// Unknown and repeated fields are reported here.
    pub fn fields<'n>(
        &mut self,
        node: &'n Node,
        owner: &'static str,
        known: &'static [&'static str],
        positional: usize,
    ) -> Option<Fields<'n>> {
        let Value::Call(call) = &node.value else {
            self.wanted(node, &if owner.is_empty() { "`( … )`".to_owned() } else { format!("`{owner}( … )`") });
            return None;
        };
        if let Some(name) = &call.name
            && name.value != owner
            && !owner.is_empty()
        {
            self.report.add(values::other_word(name.span, None, &name.value, &[owner]));
        }
        let mut seen: Vec<(&str, Span)> = Vec::new();
        for (position, argument) in call.arguments.iter().enumerate() {
            let (field, span) = match &argument.field {
                Some(field) => (field.value.as_str(), field.span),
                None if position < positional => (known[position], argument.value.span),
                None => {
                    if !node.damaged && argument.value.value != Value::Broken {
                        let span = argument.value.span;
                        self.report.add_error(|| unknown_field::extra(span, owner, known));
                    }
                    continue;
                }
            };
            self.named.insert(argument.value.span, field.to_owned());
            if !known.contains(&field) {
                self.report.add_error(|| unknown_field::report(span, owner, field, known));
            } else if let Some((_, first)) = seen.iter().find(|(earlier, _)| *earlier == field) {
                self.report.add_error(|| duplicate::field(span, owner, field, *first));
            } else {
                seen.push((field, span));
            }
        }
        Some(Fields { owner, head: node.head(), known, arguments: &call.arguments, damaged: node.damaged })
    }

    /// Reports that something else was wanted, unless that is due to a fault that was reported.
    pub fn wanted(&mut self, node: &Node, wanted: &str) {
        if node.value != Value::Broken {
            self.report.add(values::wanted(node.span, self.name(node), wanted, &node.value));
        }
    }

    /// A string.
    pub fn text(&mut self, node: &Node) -> Option<At<String>> {
        let Value::Text(text) = &node.value else {
            self.wanted(node, "a string");
            return None;
        };
        if text.is_empty() {
            self.report.add(values::empty(node.span, self.name(node)));
            return None;
        }
        Some(At { value: text.clone(), span: node.span })
    }

    /// A whole number inside `range`.
    pub fn integer(&mut self, node: &Node, range: RangeInclusive<u64>) -> Option<At<u64>> {
        let Some(number) = node.value.integer() else {
            match &node.value {
                Value::Number(text) => self.report.add(values::no_count(node.span, self.name(node), text, &range)),
                _ => self.wanted(node, "a whole number"),
            }
            return None;
        };
        if !range.contains(&number) {
            self.report.add(values::out_of_range(node.span, self.name(node), number, &range));
            return None;
        }
        Some(At { value: number, span: node.span })
    }

    /// A whole number inside `range`, of 32 bits.
    pub fn small(&mut self, node: &Node, range: RangeInclusive<u32>) -> Option<At<u32>> {
        let wide = self.integer(node, u64::from(*range.start())..=u64::from(*range.end()))?;
        Some(At { value: u32::try_from(wide.value).unwrap_or(u32::MAX), span: wide.span })
    }

    /// `true` or `false`.
    pub fn truth(&mut self, node: &Node) -> Option<bool> {
        self.choice(node, &[("true", true), ("false", false)])
    }

    /// One of some words.
    pub fn choice<T: Copy>(&mut self, node: &Node, words: &[(&str, T)]) -> Option<T> {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let Value::Word(word) = &node.value else {
            self.wanted(node, &crate::words::one_of(known));
            return None;
        };
        let found = words.iter().find(|(known, _)| known == word);
        if found.is_none() {
            self.report.add(values::other_word(node.span, self.name(node), word, &known));
        }
        found.map(|(_, meaning)| *meaning)
    }

    /// The items of a list, each decoded by `item`.
    pub fn list<T>(&mut self, node: &Node, mut item: impl FnMut(&mut Self, &Node) -> Option<T>) -> Listed<T> {
        let Value::List(nodes) = &node.value else {
            self.wanted(node, "a list `[ … ]`");
            return Listed { items: Vec::new(), whole: false };
        };
        if let Some(beyond) = nodes.get(MANY) {
            self.report.add(values::too_many(beyond.span, self.name(node), nodes.len(), MANY));
        }
        let items: Vec<T> = nodes.iter().take(MANY).filter_map(|node| item(self, node)).collect();
        Listed { whole: !node.damaged && items.len() == nodes.len(), items }
    }

    /// The entries of a map from strings, each value decoded by `entry`.
    pub fn map<T>(
        &mut self,
        node: &Node,
        mut entry: impl FnMut(&mut Self, At<String>, &Node) -> Option<T>,
    ) -> Listed<T> {
        let Value::Map(nodes) = &node.value else {
            self.wanted(node, "a map `{ \"name\": … }`");
            return Listed { items: Vec::new(), whole: false };
        };
        if let Some((beyond, _)) = nodes.get(MANY) {
            self.report.add(values::too_many(beyond.span, self.name(node), nodes.len(), MANY));
        }
        let decoded = nodes.iter().take(MANY).filter_map(|(key, value)| {
            let key = self.text(key)?;
            self.named.insert(value.span, key.value.clone());
            entry(self, key, value)
        });
        let items: Vec<T> = decoded.collect();
        Listed { whole: !node.damaged && items.len() == nodes.len(), items }
    }
}

impl<'n> Fields<'n> {
    /// The value of a field that may be absent.
    pub fn optional(&self, field: &str) -> Option<&'n Node> {
        let named = |argument: &&Argument| argument.field.as_ref().is_some_and(|name| name.value == field);
        let by_name = self.arguments.iter().find(named);
        let by_position = || {
            let position = self.known.iter().position(|known| *known == field)?;
            self.arguments.get(position).filter(|argument| argument.field.is_none())
        };
        by_name.or_else(by_position).map(|argument| &argument.value)
    }

    /// The value of a field that may not be absent.
    pub fn required(&self, decoder: &mut Decoder<'_>, field: &str) -> Option<&'n Node> {
        let found = self.optional(field);
        if found.is_none() && !self.damaged {
            decoder.report.add(missing_field::report(self.head, self.owner, field));
        }
        found
    }
}
