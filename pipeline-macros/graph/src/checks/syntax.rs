//! PL0001: the file is not well-formed.

use super::{Check, Example, examples};
use crate::diagnostic::Diagnostic;
use crate::ron::Token;
use crate::source::Span;

/// The page.
pub const CHECK: Check = Check {
    code: "PL0001",
    name: "syntax",
    rule: "A file is one value in RON: calls `Name(…)`, maps `{ key: value }`, lists `[…]`, strings, numbers and words.",
    why: "Positional arguments of a call come first, named ones after them. Items are separated by commas; a comma \
          behind the last one is welcome. Comments are `//` and `/* */`. Reading goes on after a fault, so that one \
          build shows them all.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any
    pools: { "mem_heavy": 1, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all"),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv")],
)"#,
    ),
    good: examples::SMALL,
    fix: "Put the bracket, the comma or the quote where the caret is.",
    run: None,
};

/// The fields of the notation that stand in calls alone: one of them in a map or a list says that a bracket is missing.
pub const FIELDS: [&str; 13] = [
    "version",
    "catalogue",
    "sku",
    "sizes",
    "load",
    "resident",
    "pools",
    "groups",
    "stages",
    "edges",
    "policy",
    "tokens",
    "share",
];

const CODE: &str = CHECK.code;

fn name(token: &Token) -> String {
    match token {
        Token::Open(bracket) | Token::Close(bracket) => format!("`{bracket}`"),
        Token::Comma => "`,`".to_owned(),
        Token::Colon => "`:`".to_owned(),
        Token::Number(text) | Token::Word(text) => format!("`{text}`"),
        Token::Text(text) => format!("the string \"{text}\""),
        Token::End => "the end of the file".to_owned(),
    }
}

/// A letter that begins nothing.
pub fn stray(span: Span, letter: char) -> Diagnostic {
    let shown = if letter.is_control() { letter.escape_debug().to_string() } else { letter.to_string() };
    let found = Diagnostic::error(CODE, span, format!("`{shown}` has no meaning here"));
    match letter {
        '\'' | '“' | '”' | '‘' | '’' | '`' => found.help("strings stand in straight double quotes: \"…\""),
        '#' => found.help("comments begin with `//`"),
        ';' => found.help("items are separated by `,`"),
        '=' => found.help("a field is written `name: value`"),
        _ => found,
    }
}

/// `/*` without `*/`.
pub fn open_comment(span: Span) -> Diagnostic {
    Diagnostic::error(CODE, span, "this comment is not closed").help("write `*/` where it ends")
}

/// A string without its closing quote.
pub fn open_string(span: Span) -> Diagnostic {
    Diagnostic::error(CODE, span, "this string is not closed").help("write `\"` where it ends, on the same line")
}

/// A backslash before something that it does not go with.
pub fn bad_escape(span: Span) -> Diagnostic {
    Diagnostic::error(CODE, span, "there is no such escape").help("`\\\\` is a backslash, `\\\"` a quote")
}

/// More than one value.
pub fn behind_the_end(span: Span) -> Diagnostic {
    Diagnostic::error(CODE, span, "the file goes on behind its last bracket")
        .help("a file holds one value; remove the rest")
}

/// Brackets in brackets in brackets.
pub fn too_deep(span: Span, limit: usize) -> Diagnostic {
    Diagnostic::error(CODE, span, format!("more than {limit} brackets are open here"))
        .help("graph, SKU and catalogue files need five")
}

/// Something else where a value should be.
pub fn value_wanted(span: Span, found: &Token) -> Diagnostic {
    let error = Diagnostic::error(CODE, span, format!("a value is missing before {}", name(found)));
    match found {
        Token::End => error.help("the file is empty, or ends in the middle: it begins with `Graph(` and ends with `)`"),
        _ => error.help("write the value here, or remove the name and the colon before it"),
    }
}

/// A map entry without a colon.
pub fn colon_wanted(key: Span) -> Diagnostic {
    Diagnostic::error(CODE, key, "`:` and a value are missing behind this key").help("an entry is written `key: value`")
}

/// A positional argument behind a named one.
pub fn positional_behind_named(span: Span) -> Diagnostic {
    Diagnostic::error(CODE, span, "this value has no field name, but the one before it has")
        .help("write `field: value`, or move it in front of the named fields")
}

/// Two items without a comma.
pub fn comma_wanted(before: Span, found: &Token, next: Span) -> Diagnostic {
    Diagnostic::error(CODE, before.behind(), format!("`,` is missing before {}", name(found)))
        .here("write `,` here")
        .and(next, "before this")
}

/// A bracket of another kind than the one that is open.
pub fn wrong_bracket(span: Span, found: char, opened: Span, wanted: char) -> Diagnostic {
    Diagnostic::error(CODE, span, format!("`{found}` closes nothing; `{wanted}` is missing"))
        .here(format!("`{wanted}` should come before this"))
        .and(opened, "to close this")
}

/// Something that stands in brackets, without the first of them.
pub fn opening_wanted(span: Span, bracket: char, before: &Token) -> Diagnostic {
    Diagnostic::error(CODE, span, format!("`{bracket}` is missing before {}", name(before)))
        .here(format!("write `{bracket}` before this"))
}

/// Several calls where a field has one value.
pub fn unopened_list(first: Span) -> Diagnostic {
    Diagnostic::error(CODE, first, "`[` is missing before this list").here("write `[` before this")
}

/// A bracket that nothing waits for.
pub fn stray_bracket(span: Span, found: char) -> Diagnostic {
    Diagnostic::error(CODE, span, format!("`{found}` closes nothing")).help("remove it, or open it before")
}

/// A bracket that is still open where the file ends, or where something begins that cannot lie inside it.
pub fn open_bracket(next: Span, found: &Token, opened: Span, wanted: char) -> Diagnostic {
    let before = if *found == Token::End { "the file ends here" } else { "before this" };
    Diagnostic::error(CODE, opened, format!("this bracket is not closed; `{wanted}` is missing"))
        .here("opened here")
        .and(next, before)
}

#[cfg(test)]
mod tests {
    use crate::checks::examples;
    use crate::checks::testing::{titles, with};

    #[test]
    fn one_pass_shows_all_and_nothing_follows() {
        let text = with(examples::SMALL, "sku: any,", "sku: any;");
        let text = text.replace("\"mem_heavy\": 1,", "\"mem_heavy\" 1,");
        let text = text.replace("\"all\": Ccds(\"*\", ", "'all': Ccds(\"*, ");
        let text = text.replace("Stage(\"synthesize\", on: \"all\"),", "Stage(\"synthesize\", on: \"all\"");
        assert_eq!(
            titles(&text),
            [
                "`;` has no meaning here",
                "`:` and a value are missing behind this key",
                "`'` has no meaning here",
                "this string is not closed",
                "this bracket is not closed; `)` is missing",
            ]
        );
    }

    #[test]
    fn the_end_of_a_file_is_not_in_the_middle() {
        assert_eq!(
            titles("Graph(version: 1, sku: any, edges: [], stages: ["),
            ["this bracket is not closed; `]` is missing"; 1]
        );
        assert_eq!(titles(""), ["a value is missing before the end of the file"]);
        assert_eq!(titles(&format!("{} }}", examples::SMALL.text())), ["the file goes on behind its last bracket"]);
        let deep = titles(&"[".repeat(100_000));
        assert!(deep.contains(&"more than 64 brackets are open here".to_owned()), "{deep:?}");
    }
}
