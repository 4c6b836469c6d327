//! Changes numbers in the text of a graph file; all else, its comments too, stays as it was written.

use pipeline_graph::diagnostic::Report;
use pipeline_graph::ron::{Call, Node, Value};
use pipeline_graph::source::{Source, Sources};
use pipeline_graph::words::{listed, nearest};

use crate::SettingError;

/// The text of a graph with some settings applied: `stages.NAME.workers`, `stages.NAME.threads`,
/// `stages.NAME.in_flight`, `stages.NAME.needs.POOL`, `pools.NAME`, `edges.FROM.TO.capacity`, `policy`.
///
/// # Errors
/// The text has nothing at that path.
pub fn rewrite(text: &str, settings: &[(String, String)]) -> Result<String, SettingError> {
    let mut text = text.to_owned();
    for (path, value) in settings {
        let edit = edit(&text, path, value).ok_or_else(|| not_in_the_file(&text, path))?;
        text.replace_range(edit.from..edit.to, &edit.text);
    }
    Ok(text)
}

fn not_in_the_file(text: &str, path: &str) -> SettingError {
    let more = if path.starts_with("costs.") {
        "; costs stand in a file of their own: change them with --set".to_owned()
    } else {
        let known = paths(text);
        match nearest(path, known.iter().map(String::as_str)) {
            Some(meant) => format!("; is it `{meant}`?"),
            None => format!("; it has {}", listed(known.iter().map(String::as_str))),
        }
    };
    SettingError::NotInTheFile { path: path.to_owned(), more }
}

/// The paths that the text of a graph has a place for.
fn paths(text: &str) -> Vec<String> {
    let mut sources = Sources::default();
    let file = sources.add(Source::inline("graph", text));
    let tree = pipeline_graph::ron::read(file, &sources, &mut Report::default());
    let keys = |map: Option<&Node>| -> Vec<String> {
        let Some(Value::Map(entries)) = map.map(|map| &map.value) else { return Vec::new() };
        entries.iter().filter_map(|(key, _)| text_in(key)).collect()
    };
    let items = |name: &str| match field(&tree, name).map(|list| &list.value) {
        Some(Value::List(items)) => items.iter().collect(),
        _ => Vec::new(),
    };
    let name = |item: &Node, at: usize| text_in(&call(item)?.arguments.get(at)?.value);
    let mut paths = vec!["policy".to_owned()];
    paths.extend(keys(field(&tree, "pools")).iter().map(|pool| format!("pools.{pool}")));
    for stage in items("stages") {
        let Some(name) = name(stage, 0) else { continue };
        paths.extend(["workers", "threads", "in_flight"].map(|field| format!("stages.{name}.{field}")));
        paths.extend(keys(field(stage, "needs")).iter().map(|pool| format!("stages.{name}.needs.{pool}")));
    }
    for edge in items("edges") {
        paths.extend(name(edge, 0).zip(name(edge, 1)).map(|(from, to)| format!("edges.{from}.{to}.capacity")));
    }
    paths
}

fn text_in(node: &Node) -> Option<String> {
    match &node.value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    }
}

struct Edit {
    from: usize,
    to: usize,
    text: String,
}

fn edit(text: &str, path: &str, value: &str) -> Option<Edit> {
    let mut sources = Sources::default();
    let file = sources.add(Source::inline("graph", text));
    let tree = pipeline_graph::ron::read(file, &sources, &mut Report::default());
    let words: Vec<&str> = path.split('.').collect();
    match words.as_slice() {
        ["policy"] => Some(set_field(&tree, text, "policy", &format!("\"{value}\""))),
        ["pools", pool] => {
            let size = entry(field(&tree, "pools")?, pool)?;
            // Bytes stand in quotes.
            let quoted = matches!(size.value, Value::Text(_));
            Some(replace(size, &if quoted { format!("\"{value}\"") } else { value.to_owned() }))
        }
        ["stages", stage, "needs", pool] => {
            let stage = item(field(&tree, "stages")?, &[stage])?;
            Some(replace(entry(field(stage, "needs")?, pool)?, value))
        }
        ["stages", stage, name @ ("workers" | "threads" | "in_flight")] => {
            Some(set_field(item(field(&tree, "stages")?, &[stage])?, text, name, value))
        }
        ["edges", from, to, "capacity"] => {
            Some(set_field(item(field(&tree, "edges")?, &[from, to])?, text, "capacity", value))
        }
        _ => None,
    }
}

fn call(node: &Node) -> Option<&Call> {
    match &node.value {
        Value::Call(call) => Some(call),
        _ => None,
    }
}

fn field<'a>(node: &'a Node, name: &str) -> Option<&'a Node> {
    let named = |field: &Option<pipeline_graph::source::At<String>>| field.as_ref().is_some_and(|at| at.value == name);
    call(node)?.arguments.iter().find(|argument| named(&argument.field)).map(|argument| &argument.value)
}

/// The item of a list whose first arguments are these strings.
fn item<'a>(list: &'a Node, names: &[&str]) -> Option<&'a Node> {
    let Value::List(items) = &list.value else { return None };
    let is = |node: &Node, name: &str| matches!(&node.value, Value::Text(text) if text == name);
    items.iter().find(|item| {
        let arguments = call(item).map(|call| call.arguments.as_slice()).unwrap_or_default();
        arguments.len() >= names.len() && arguments.iter().zip(names).all(|(argument, name)| is(&argument.value, name))
    })
}

fn entry<'a>(map: &'a Node, name: &str) -> Option<&'a Node> {
    let Value::Map(entries) = &map.value else { return None };
    entries.iter().find(|(key, _)| matches!(&key.value, Value::Text(text) if text == name)).map(|(_, value)| value)
}

fn replace(node: &Node, value: &str) -> Edit {
    Edit { from: node.span.start as usize, to: node.span.end as usize, text: value.to_owned() }
}

/// Replaces a field of a call, or writes it behind the last one.
fn set_field(node: &Node, text: &str, name: &str, value: &str) -> Edit {
    if let Some(there) = field(node, name) {
        return replace(there, value);
    }
    let last = call(node).and_then(|call| call.arguments.last());
    let at = last.map_or(node.span.end.saturating_sub(1), |last| last.value.span.end) as usize;
    // Fields that stand on lines of their own go on doing so.
    let line = text[..at].rfind('\n').map_or("", |line| &text[line + 1..at]);
    let indent: String = line.chars().take_while(|letter| *letter == ' ').collect();
    let own_line = text[at..].trim_start_matches(',').starts_with('\n');
    let separator = if own_line && !indent.is_empty() { format!(",\n{indent}") } else { ", ".to_owned() };
    Edit { from: at, to: at, text: format!("{separator}{name}: {value}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRAPH: &str = r#"Graph(
    version: 1, // the first
    pools: { "mem_heavy": 4, "dealloc": 1 },
    stages: [
        Stage("a", workers: 10, needs: { "mem_heavy": 1 }),
        Stage("b"), // lonely
    ],
    edges: [Edge("a", "b", capacity: 1), Edge("a", "c")],
)
"#;

    #[test]
    fn numbers_change_and_the_rest_stays() {
        let set = |path: &str, value: &str| (path.to_owned(), value.to_owned());
        let settings = [
            set("stages.a.workers", "12"),
            set("stages.b.threads", "32"),
            set("pools.mem_heavy", "6"),
            set("stages.a.needs.mem_heavy", "2"),
            set("edges.a.b.capacity", "3"),
            set("edges.a.c.capacity", "2"),
            set("policy", "critical_path"),
        ];
        let expected = r#"Graph(
    version: 1, // the first
    pools: { "mem_heavy": 6, "dealloc": 1 },
    stages: [
        Stage("a", workers: 12, needs: { "mem_heavy": 2 }),
        Stage("b", threads: 32), // lonely
    ],
    edges: [Edge("a", "b", capacity: 3), Edge("a", "c", capacity: 2)],
    policy: "critical_path",
)
"#;
        assert_eq!(rewrite(GRAPH, &settings).unwrap(), expected);
    }

    #[test]
    fn what_is_not_there_cannot_be_changed() {
        let error = rewrite(GRAPH, &[("stages.c.workers".into(), "2".into())]).unwrap_err();
        assert_eq!(error.to_string(), "the graph file has nothing at `stages.c.workers`; is it `stages.a.workers`?");
        let error = rewrite(GRAPH, &[("stages.b.needs.mem_heavy".into(), "2".into())]).unwrap_err();
        assert!(error.to_string().contains("is it `stages.a.needs.mem_heavy`?"), "{error}");
        let error = rewrite(GRAPH, &[("costs.host.smt_gain".into(), "0".into())]).unwrap_err();
        assert!(error.to_string().contains("costs stand in a file of their own"), "{error}");
    }
}
