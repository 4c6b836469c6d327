//! PL0004: a value of the wrong kind, or outside its range.

use std::ops::RangeInclusive;

use super::{Check, Example, examples};
use crate::diagnostic::Diagnostic;
use crate::kind::Kind;
use crate::ron::Value;
use crate::source::Span;
use crate::words::{BadArgument, MOST_SECONDS, Policy, nearest, one_of};

/// The page.
pub const CHECK: Check = Check {
    code: "PL0004",
    name: "wrong-value",
    rule: "Every value is of the kind that its field takes, and inside its range.",
    why: "Names and amounts with a unit are strings (`\"all\"`, `\"6 GiB\"`), counts are whole numbers from 1, choices are \
          words (`Pack`).",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 1, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Packed) },
    stages: [
        Stage("synthesize", on: "all", workers: 0),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv")],
)"#,
    ),
    good: examples::SMALL,
    fix: "Write a value of the kind that the error names.",
    run: None,
};

/// Something else than was wanted; `name` is the field or the key that the value belongs to.
pub fn wanted(span: Span, name: Option<&str>, wanted: &str, found: &Value) -> Diagnostic {
    let title = of(span, name, format!("expected {wanted}, found {}", found.kind()));
    let takes_a_string = wanted.contains("a string") || wanted.contains("a backend's name");
    match found {
        Value::Word(word) if takes_a_string => title.help(format!("write it in quotes: \"{word}\"")),
        Value::Text(text)
            if wanted.contains(&format!("`{text}`")) || (wanted.contains("number") && text.parse::<u64>().is_ok()) =>
        {
            title.help(format!("write it without quotes: {text}"))
        }
        _ => title,
    }
}

/// A call among the backends of a `Prefer`.
pub fn nested_prefer(span: Span) -> Diagnostic {
    Diagnostic::error(CHECK.code, span, "`backend`: a `Prefer` has backends' names in it, nothing else")
        .help("write all names in one, the best first: `Prefer(\"cuda\", \"host\")`")
}

/// A file of another kind where a graph should be.
pub fn other_kind(span: Span, found: Kind, wanted: &str) -> Diagnostic {
    let error = Diagnostic::error(CHECK.code, span, format!("this is {}, not {wanted}", found.words()));
    match wanted {
        "a graph" => error.help("give the file that begins with `Graph(`; it names its SKU and its catalogue"),
        _ => error.help(found.used_by()),
    }
}

fn of(span: Span, name: Option<&str>, message: String) -> Diagnostic {
    let title = name.map_or_else(|| message.clone(), |name| format!("`{name}`: {message}"));
    Diagnostic::error(CHECK.code, span, title)
}

/// A word that is none of those that make sense.
pub fn other_word(span: Span, name: Option<&str>, word: &str, known: &[&str]) -> Diagnostic {
    let found = of(span, name, format!("expected {}, found `{word}`", one_of(known.iter().copied())));
    match nearest(word, known.iter().copied()) {
        Some(meant) => found.help(format!("did you mean `{meant}`?")),
        None => found,
    }
}

/// An empty string.
pub fn empty(span: Span, name: Option<&str>) -> Diagnostic {
    of(span, name, "this string is empty".to_owned())
}

/// A number that is too small or too large.
pub fn out_of_range(span: Span, name: Option<&str>, found: u64, range: &RangeInclusive<u64>) -> Diagnostic {
    let (first, last) = (range.start(), range.end());
    let error = of(span, name, format!("{found} is outside {first} to {last}"));
    let write = if found < *first { format!("write {first} or more") } else { format!("write {last} or less") };
    match (name, found) {
        (Some("capacity"), 0) => {
            error.help(format!("{write}, or leave it out: as many as the stages before it can work on"))
        }
        _ => error.help(write),
    }
}

/// A number that is negative, has a fraction, or more digits than a computer counts to.
pub fn no_count(span: Span, name: Option<&str>, found: &str, range: &RangeInclusive<u64>) -> Diagnostic {
    let (first, last) = (range.start(), range.end());
    let is_whole = !found.contains(['.', 'e', 'E']) || found.starts_with("0x");
    if !is_whole {
        return of(span, name, format!("expected a whole number, found the number {found}"))
            .help(format!("write a whole number, {first} to {last}"));
    }
    let write = if found.starts_with('-') { format!("{first} or more") } else { format!("{last} or less") };
    of(span, name, format!("{found} is outside {first} to {last}")).help(format!("write {write}"))
}

/// A list or a map of more items than make sense.
pub fn too_many(span: Span, name: Option<&str>, found: usize, limit: usize) -> Diagnostic {
    of(span, name, format!("{found} items are more than {limit}"))
}

/// An amount that is too small or too large; all as one writes them.
pub fn amount_out_of_range(span: Span, name: Option<&str>, found: &str, [first, last]: [&str; 2]) -> Diagnostic {
    of(span, name, format!("\"{found}\" is outside \"{first}\" to \"{last}\""))
        .help(format!("write at least \"{first}\" and at most \"{last}\""))
}

/// A policy with an argument that it does not take.
pub fn not_its_argument(span: Span, found: &str, policy: &Policy, fault: &BadArgument) -> Diagnostic {
    let (word, shown) = (policy.word, policy.shown());
    let error = |why: String| Diagnostic::error(CHECK.code, span, format!("`policy`: \"{found}\" {why}"));
    let log = format!(
        "the log itself stands here, as the runtime's `Logged` writes it, not the name of a file: `{word}(0:0.0 1:0.0)`, \
         each decision stage:job.partition"
    );
    match fault {
        BadArgument::Form if policy.argument.is_none() => {
            error(format!("is not written as `{shown}`")).help(format!("it takes no argument: write \"{word}\""))
        }
        BadArgument::Form => error(format!("is not written as `{shown}`"))
            .help(format!("write {}, in brackets, behind the word", policy.argument.unwrap_or_default())),
        BadArgument::Seconds => error(format!("is not written as `{shown}`"))
            .help(format!("SECONDS is a number above 0 and at most {MOST_SECONDS}, a century: write \"{word}(60)\"")),
        BadArgument::Seed => error(format!("is not written as `{shown}`"))
            .help(format!("SEED is a whole number from 0 to {}: write \"{word}(7)\"", u64::MAX)),
        BadArgument::NoLog => error("has no decisions".to_owned()).help(log),
        BadArgument::NoDecision { number, word } => {
            error(format!("is no log: decision {number} is `{word}`")).help(log)
        }
        BadArgument::NoStage { number, word, stages } => {
            error(format!("is the log of another graph: decision {number} is `{word}`"))
                .help(format!("the stages of this one are 0 to {}, in the order of the file", stages.saturating_sub(1)))
        }
    }
}

/// A choice of CCDs that is none.
pub fn not_ccds(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error(CHECK.code, span, format!("\"{found}\" does not name CCDs"))
        .help("write `\"*\"` for all, or each once, counted from 0: `\"0-9\"`, `\"0,2,4-7\"`")
}

#[cfg(test)]
mod tests {
    use crate::checks::examples;
    use crate::checks::testing::{diagnostics, titles, with};

    #[test]
    fn kinds_are_named() {
        let of = |old, new| titles(&with(examples::SMALL, old, new));
        assert_eq!(
            of("sku: any", "sku: 7"),
            ["`sku`: expected `any`, or a SKU's name as a string, found the number 7"]
        );
        assert_eq!(
            of("\"mem_heavy\": 1", "\"mem_heavy\": 1.5"),
            ["`mem_heavy`: expected a whole number, found the number 1.5"]
        );
        for backend in
            ["Prefer(\"cuda\", Prefer(\"cuda\", \"host\"))", "Prefer(Prefer(\"cuda\"), \"host\")", "Prefer(Prefer())"]
        {
            let stage = format!("Stage(\"synthesize\", backend: {backend}, on: \"all\"");
            assert_eq!(
                titles(&with(examples::SMALL, "Stage(\"synthesize\", on: \"all\"", &stage)),
                ["`backend`: a `Prefer` has backends' names in it, nothing else"],
                "{backend}"
            );
        }
        for (found, help) in [("-3", "1 or more"), ("-0x3", "1 or more"), ("99999999999999999999", "65536 or less")] {
            let found_there =
                diagnostics(&with(examples::SMALL, "\"mem_heavy\": 1", &format!("\"mem_heavy\": {found}")));
            assert_eq!(found_there[0].title, format!("`mem_heavy`: {found} is outside 1 to 65536"));
            assert_eq!(found_there[0].help, [format!("write {help}")]);
        }
        assert_eq!(of("on: \"all\"", "on: all"), ["`on`: expected a string, found `all`"]);
        assert_eq!(of("\"*\"", "\"9-2\""), ["\"9-2\" does not name CCDs"]);
        assert_eq!(of("edges: [Edge(", "edges: [Egde("), ["expected `Edge`, found `Egde`"]);
        assert_eq!(of("\"mem_heavy\": 1", "\"mem_heavy\": 0"), ["`mem_heavy`: 0 is outside 1 to 65536"]);
        let ram = "\"dealloc\": 1, \"ram\": \"0 GiB\"";
        assert_eq!(of("\"dealloc\": 1", ram)[0], "`ram`: \"0 GiB\" is outside \"1 B\" to \"1024 TiB\"");
    }

    #[test]
    fn policies_take_what_is_theirs() {
        let found = |policy: &str| {
            let line = format!("edges: [Edge(\"synthesize\", \"spmv\")],\n    policy: \"{policy}\",");
            diagnostics(&with(examples::SMALL, "edges: [Edge(\"synthesize\", \"spmv\")],", &line))
        };
        for good in ["priority", "priority(0.5)", "priority(3156000000)", "random_legal(0)", "replay(0:0.0  2:9.7)"] {
            assert_eq!(found(good), [], "{good}");
        }
        for (bad, title, help) in [
            ("priority(inf)", "is not written as `priority(SECONDS)`", "at most 3156000000, a century"),
            ("priority(4294967296)", "is not written as `priority(SECONDS)`", "write \"priority(60)\""),
            ("priority(nan)", "is not written as `priority(SECONDS)`", "above 0"),
            ("priority(-1)", "is not written as `priority(SECONDS)`", "above 0"),
            ("priority(5", "is not written as `priority(SECONDS)`", "in brackets"),
            ("priority(5) ", "is not written as `priority(SECONDS)`", "in brackets"),
            ("oldest_first()", "is not written as `oldest_first`", "write \"oldest_first\""),
            ("random_legal", "is not written as `random_legal(SEED)`", "in brackets"),
            ("random_legal(-1)", "is not written as `random_legal(SEED)`", "18446744073709551615"),
            ("replay()", "has no decisions", "replay(0:0.0 1:0.0)"),
            ("replay(x)", "is no log: decision 0 is `x`", "not the name of a file"),
            ("replay(0:0.0 0:0)", "is no log: decision 1 is `0:0`", "stage:job.partition"),
            ("replay(0:0.0 3:0.0)", "is the log of another graph: decision 1 is `3:0.0`", "0 to 2"),
        ] {
            let found = found(bad);
            assert_eq!(found.iter().map(|found| found.code).collect::<Vec<_>>(), ["PL0004"], "{bad}");
            assert_eq!(found[0].title, format!("`policy`: \"{bad}\" {title}"));
            assert!(found[0].help[0].contains(help), "{bad}: {:?}", found[0].help);
        }
    }
}
