//! The reader against `ron`: what is RON to the one is RON to the other, with the same values.

#![allow(missing_docs)]

use pipeline_graph::diagnostic::Report;
use pipeline_graph::ron::{self as own, Node, Value};
use pipeline_graph::source::{Source, Sources};
use proptest::prelude::*;

/// A document of the subset, with the value that it stands for.
#[derive(Clone, Debug)]
enum Document {
    Number(u32),
    Text(String),
    Truth(bool),
    List(Vec<Document>),
    Map(Vec<(String, Document)>),
}

fn documents() -> impl Strategy<Value = Document> {
    let leaf = prop_oneof![
        any::<u32>().prop_map(Document::Number),
        "[ -~é]{0,12}".prop_map(Document::Text),
        any::<bool>().prop_map(Document::Truth),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Document::List),
            prop::collection::btree_map("[a-z]{1,6}", inner, 0..5)
                .prop_map(|map| Document::Map(map.into_iter().collect())),
        ]
    })
}

/// Writes it, with more or less white space and commas as `style` says.
fn write(document: &Document, style: u8, text: &mut String) {
    let space = ["", " ", "\n    ", " /* c */ "][usize::from(style % 4)];
    match document {
        Document::Number(number) => text.push_str(&number.to_string()),
        Document::Text(value) => text.push_str(&format!("{:?}", value)),
        Document::Truth(value) => text.push_str(&value.to_string()),
        Document::List(items) => {
            text.push('[');
            for (position, item) in items.iter().enumerate() {
                text.push_str(space);
                write(item, style, text);
                text.push_str(if position + 1 < items.len() || style & 4 != 0 { "," } else { "" });
            }
            text.push_str(space);
            text.push(']');
        }
        Document::Map(entries) => {
            text.push('{');
            for (position, (key, value)) in entries.iter().enumerate() {
                text.push_str(&format!("{space}{key:?}:{space}"));
                write(value, style, text);
                text.push_str(if position + 1 < entries.len() || style & 4 != 0 { "," } else { "" });
            }
            text.push('}');
        }
    }
}

fn same(node: &Node, value: &ron::Value) -> bool {
    match (&node.value, value) {
        (Value::Number(_), ron::Value::Number(number)) => {
            node.value.integer().is_some_and(|own| own as f64 == number.into_f64())
        }
        (Value::Text(text), ron::Value::String(other)) => text == other,
        (Value::Word(word), ron::Value::Bool(other)) => *word == other.to_string(),
        (Value::List(items), ron::Value::Seq(others)) => {
            items.len() == others.len() && items.iter().zip(others).all(|(item, other)| same(item, other))
        }
        (Value::Map(entries), ron::Value::Map(others)) => {
            entries.len() == others.len()
                && entries.iter().all(|(key, value)| {
                    let Value::Text(key) = &key.value else { return false };
                    let found =
                        others.iter().find(|(other, _)| matches!(other, ron::Value::String(other) if other == key));
                    found.is_some_and(|(_, other)| same(value, other))
                })
        }
        _ => false,
    }
}

fn read(text: &str) -> (Node, bool) {
    let (mut sources, mut report) = (Sources::default(), Report::default());
    let file = sources.add(Source::inline("document.ron", text));
    let node = own::read(file, &sources, &mut report);
    (node, report.has_errors())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn documents_mean_the_same(document in documents(), style in 0_u8..8) {
        let mut text = String::new();
        write(&document, style, &mut text);
        let other: ron::Value = ron::from_str(&text).expect("it is RON");
        let (node, refused) = read(&text);
        prop_assert!(!refused, "{text}");
        prop_assert!(same(&node, &other), "{text}");
    }

    #[test]
    fn what_ron_still_reads_after_a_slip_is_read_here_too(document in documents(), style in 0_u8..8, at in any::<prop::sample::Index>(), with in "[\\[\\]{}(),:\"a0]") {
        let mut text = String::new();
        write(&document, style, &mut text);
        let places: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
        let place = places[at.index(places.len())];
        let letter = text[place..].chars().next().map_or(0, char::len_utf8);
        text.replace_range(place..place + letter, &with);
        let refused = read(&text).1;
        let other: Result<ron::Value, _> = ron::from_str(&text);
        // Not the other way round: words without quotes, `Pack` say, are values here alone. Neither may panic.
        if other.is_ok() {
            prop_assert!(!refused, "{text}");
        }
    }
}
