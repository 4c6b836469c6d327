//! `Catalogue(…)`.

use super::fields::Decoder;
use crate::checks::{duplicate, unknown_name, values};
use crate::diagnostic::Report;
use crate::kind::Kind;
use crate::model::{Catalogue, Implementation, Linear, Port, TagSet, Token};
use crate::ron::{Node, Value};
use crate::source::At;
use crate::words::{BACKENDS, TAGS};

/// Decodes a catalogue file.
pub fn catalogue(node: &Node, report: &mut Report) -> Option<Catalogue> {
    if let Some(kind) = Kind::of(node).filter(|kind| *kind != Kind::Catalogue) {
        report.add(values::other_kind(node.head(), kind, "a catalogue"));
        return None;
    }
    let mut decoder = Decoder::new(report);
    let d = &mut decoder;
    let fields = d.fields(node, "Catalogue", &["version", "tokens", "stages"], 0)?;
    d.version(&fields);
    let tokens = fields.required(d, "tokens").map(|node| d.map(node, Decoder::token))?;
    let stages = fields.required(d, "stages").map(|node| d.list(node, Decoder::implementation))?;
    duplicate::names(tokens.items.iter().map(|token| &token.name), "token", d.report);
    duplicate::implementations(&stages.items, d.report);
    let catalogue = Catalogue { tokens: tokens.items, implementations: stages.items };
    (tokens.whole && stages.whole).then_some(catalogue)
}

impl Decoder<'_> {
    fn token(&mut self, name: At<String>, node: &Node) -> Option<Token> {
        let fields = self.fields(node, "", &["bytes"], 0)?;
        let bytes = fields.required(self, "bytes").and_then(|node| self.linear(node));
        Some(Token { name, bytes: bytes? })
    }

    fn implementation(&mut self, node: &Node) -> Option<Implementation> {
        const FIELDS: &[&str] = &["stage", "backend", "tags", "inputs", "output", "workspace"];
        let fields = self.fields(node, "Implementation", FIELDS, 0)?;
        let stage = fields.required(self, "stage").and_then(|node| self.text(node));
        let backend = fields.required(self, "backend").and_then(|node| self.text(node));
        if let Some(backend) = &backend
            && !BACKENDS.contains(&backend.value.as_str())
        {
            self.report.add(unknown_name::report("backend", backend.span, &backend.value, BACKENDS));
        }
        let tags = fields.required(self, "tags").map(|node| self.tag_set(node));
        let ports = fields.required(self, "inputs").map(|node| self.list(node, Decoder::port));
        let output = fields.required(self, "output").map(|node| self.output(node));
        let workspace = fields.optional("workspace").map(|node| self.linear(node));
        let ports = ports.filter(|ports| ports.whole)?;
        Some(Implementation {
            stage: stage?,
            backend: backend?,
            tags: tags?,
            ports: ports.items,
            output: output??,
            workspace: workspace.unwrap_or(Some(Linear::default()))?,
        })
    }

    fn tag_set(&mut self, node: &Node) -> TagSet {
        let words = self.list(node, Decoder::text);
        let mut tags = TagSet::default();
        for word in words.items {
            if !tags.add(&word.value) {
                self.report.add(unknown_name::report("tag", word.span, &word.value, TAGS.map(|tag| tag.word)));
            }
        }
        tags
    }

    /// `("evaluated", "Evaluated")`.
    fn port(&mut self, node: &Node) -> Option<Port> {
        let fields = self.fields(node, "", &["port", "token"], 2)?;
        let name = fields.required(self, "port").and_then(|node| self.text(node));
        let token = fields.required(self, "token").and_then(|node| self.text(node));
        Some(Port { name: name?.value, token: token?.value })
    }

    /// `"SumG2"`, `Some("SumG2")` or `None`.
    fn output(&mut self, node: &Node) -> Option<Option<String>> {
        match &node.value {
            Value::Word(word) if word == "None" => Some(None),
            Value::Text(token) => Some(Some(token.clone())),
            Value::Call(call) if call.name.as_ref().is_some_and(|name| name.value == "Some") => {
                let [only] = call.arguments.as_slice() else {
                    self.wanted(node, "`Some(\"Token\")`");
                    return None;
                };
                self.text(&only.value).map(|token| Some(token.value))
            }
            _ => {
                self.wanted(node, "a token's name as a string, or `None`");
                None
            }
        }
    }
}
