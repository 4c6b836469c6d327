//! Where in a file something stands.

use std::collections::HashMap;
use std::path::Path;

use pipeline_graph::diagnostic::Report;
use pipeline_graph::ron::{Node, Value};
use pipeline_graph::source::{Source, Sources};

use crate::StudyError;
use crate::numbers::{Fault, Step};
use crate::read::{MOST_BYTES, text_of};

/// A fault of a file, with the line and the column of what it is about: of the last step of its way that the text has.
pub(crate) fn fault_in(file: &Path, text: &str, fault: &Fault) -> StudyError {
    let mut sources = Sources::default();
    let id = sources.add(Source::inline("file", text));
    let tree = pipeline_graph::ron::read(id, &sources, &mut Report::default());
    let mut node = &tree;
    for step in &fault.way {
        let Some(next) = below(node, step) else { break };
        node = next;
    }
    let (line, column) = place_of(text, node.head().start);
    StudyError::Costs { file: file.to_owned(), line, column, why: fault.to_string() }
}

/// As [`fault_in`], of a file that was read before.
pub(crate) fn fault_of_file(file: &Path, fault: &Fault) -> StudyError {
    match text_of(file, MOST_BYTES) {
        Ok(text) => fault_in(file, &text, fault),
        Err(error) => error,
    }
}

/// The line of a text that a place of it is in, and the column, both counted from 1.
fn place_of(text: &str, at: u32) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at as usize)];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// A key that a map has twice: a reader of maps would take the last one and say nothing.
pub(crate) fn twice(file: &Path, text: &str) -> Option<StudyError> {
    let mut sources = Sources::default();
    let id = sources.add(Source::inline("file", text));
    let tree = pipeline_graph::ron::read(id, &sources, &mut Report::default());
    let (key, first, again) = twice_in(&tree)?;
    let ((line, column), (first, first_column)) = (place_of(text, again), place_of(text, first));
    let why =
        format!("`{key}` is there twice, here and at {}:{first}:{first_column}; keep one of them", file.display());
    Some(StudyError::Costs { file: file.to_owned(), line, column, why })
}

fn twice_in(node: &Node) -> Option<(String, u32, u32)> {
    match &node.value {
        Value::Map(entries) => {
            let mut seen: HashMap<&str, u32> = HashMap::new();
            let repeated = entries.iter().find_map(|(key, _)| {
                let Value::Text(name) = &key.value else { return None };
                seen.insert(name, key.span.start).map(|first| (name.clone(), first, key.span.start))
            });
            repeated.or_else(|| entries.iter().find_map(|(_, value)| twice_in(value)))
        }
        Value::List(items) => items.iter().find_map(twice_in),
        Value::Call(call) => call.arguments.iter().find_map(|argument| twice_in(&argument.value)),
        _ => None,
    }
}

fn below<'a>(node: &'a Node, step: &Step) -> Option<&'a Node> {
    // `Some(…)` may be written or left out.
    if let Value::Call(call) = &node.value
        && call.name.as_ref().is_some_and(|name| name.value == "Some")
        && let [only] = call.arguments.as_slice()
    {
        return below(&only.value, step);
    }
    match (&node.value, step) {
        (Value::Call(call), Step::Field(name)) => {
            let named =
                call.arguments.iter().find(|argument| argument.field.as_ref().is_some_and(|at| at.value == *name));
            named.map(|argument| &argument.value)
        }
        (Value::Map(entries), Step::Key(name)) => {
            entries.iter().find(|(key, _)| key.value == Value::Text(name.clone())).map(|(_, value)| value)
        }
        (Value::List(items), Step::Item(at)) => items.get(*at),
        _ => None,
    }
}

/// What RON's reader says of a text that it cannot read, with the field that it was at.
pub(crate) fn unreadable(file: &Path, text: &str, error: &ron::error::SpannedError) -> StudyError {
    let (line, column) = (error.span.start.line, error.span.start.col);
    let why = match field_before(text, line, error.span.end.col.max(column)) {
        Some(field) => format!("{}, at `{field}`", error.code),
        None => error.code.to_string(),
    };
    StudyError::Costs { file: file.to_owned(), line, column, why }
}

/// The last field whose colon stands before a place of a line.
fn field_before(text: &str, line: usize, column: usize) -> Option<&str> {
    let line = text.lines().nth(line.checked_sub(1)?)?;
    let end = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    let (head, _) = line[..end].rsplit_once(':')?;
    let start = head.rfind(|letter: char| !letter.is_alphanumeric() && letter != '_').map_or(0, |at| at + 1);
    Some(&head[start..]).filter(|field| !field.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_ends_where_the_text_ends() {
        let text = "// A model.\nCosts(\n    host: Some((\n        smt_gain: 0.5,\n    )),\n    stages: {\n        \"a\": (work: [(core_s: 1.0), (\n            core_s: -1.0)]),\n    },\n)\n";
        let at = |way: &[Step]| {
            let fault = Fault::new(way.to_vec(), "x", -1, "0");
            match fault_in(Path::new("f"), text, &fault) {
                StudyError::Costs { line, column, .. } => (line, column),
                other => panic!("{other}"),
            }
        };
        let (field, key) = (Step::Field, |name: &str| Step::Key(name.to_owned()));
        assert_eq!(at(&[field("host"), field("smt_gain")]), (4, 19));
        assert_eq!(at(&[field("stages"), key("a"), field("work"), Step::Item(1), field("core_s")]), (8, 21));
        assert_eq!(at(&[field("stages"), key("a"), field("spread")]), (7, 14), "the stage, which states none");
        assert_eq!(at(&[field("retained")]), (2, 1));
    }
}
