//! The page of a code.

use crate::checks::{self, Check, Example, examples};
use crate::diagnostic::Diagnostic;
use crate::load::{self, SkuFiles, load};
use crate::render::{Style, diagnostic};
use crate::source::{Source, Sources};

/// The page of `code` as text, `None` if there is no such code: rule, reason, a bad example with its error, the fix, a
/// good example.
#[must_use]
pub fn explain(code: &str) -> Option<String> {
    checks::find(code).map(page)
}

/// Every code with its name and its rule.
pub fn codes() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    checks::ALL.iter().map(|check| (check.code, check.name, check.rule))
}

/// All pages as one document in Markdown: what `docs/errors.md` holds.
#[must_use]
pub fn document() -> String {
    let mut text = String::from(
        "# Errors\n\nWhat the build and `proofline check` refuse, by code. Written from the checks themselves by \
         `PROOFLINE_BLESS=1 cargo test -p pipeline-graph`; `proofline explain CODE` prints one page.\n",
    );
    for check in checks::ALL {
        let Check { code, name, rule, why, bad, good, fix, .. } = check;
        let fence = |example: &Example| match example {
            Example::Graph(text) | Example::Sku(text) => format!("```ron\n{text}\n```"),
            Example::Rust(text) => format!("```rust,ignore\n{text}\n```"),
        };
        let gives = match bad {
            Example::Graph(_) | Example::Sku(_) => format!("gives\n\n```text\n{}\n```", errors(bad)),
            Example::Rust(_) => "is refused at the word that is wrong.".to_owned(),
        };
        let (bad, good) = (fence(bad), fence(good));
        text.push_str(&format!(
            "\n## {code} {name}\n\n{rule}\n\n{why}\n\n{bad}\n\n{gives}\n\n{fix} Like this:\n\n{good}\n"
        ));
    }
    text
}

fn page(check: &Check) -> String {
    let Check { code, name, rule, why, bad, good, fix, .. } = check;
    let errors = match bad {
        Example::Graph(_) | Example::Sku(_) => format!("gives\n\n{}\n", indented(&errors(bad))),
        Example::Rust(_) => "is refused at the word that is wrong.\n".to_owned(),
    };
    let (bad, good) = (indented(bad.text()), indented(good.text()));
    format!("{code} {name}\n\n{rule}\n\n{why}\n\nThis\n\n{bad}\n\n{errors}\n{fix} Like this:\n\n{good}\n")
}

fn errors(example: &Example) -> String {
    let shown = |found: &Diagnostic, sources: &Sources| diagnostic(found, sources, Style::Plain);
    let texts: Vec<String> = match example {
        Example::Graph(text) => {
            let source = Source::inline("graph.ron", *text);
            let outcome = load(source, examples::catalogue(), SkuFiles::Known(&examples::SKUS));
            outcome.refusals().map(|found| shown(found, &outcome.sources)).collect()
        }
        Example::Sku(text) => {
            let outcome = load::sku("machine", Source::inline("machine.ron", *text));
            outcome.diagnostics.iter().map(|found| shown(found, &outcome.sources)).collect()
        }
        Example::Rust(_) => Vec::new(),
    };
    texts.join("\n\n")
}

fn indented(text: &str) -> String {
    let lines = text.lines().map(|line| if line.is_empty() { String::new() } else { format!("    {line}") });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_page_that_shows_it() {
        for (code, name, rule) in codes() {
            let page = explain(code).unwrap_or_default();
            assert!(page.starts_with(&format!("{code} {name}\n\n{rule}\n")), "{page}");
            if matches!(checks::find(code).map(|check| check.bad), Some(Example::Graph(_) | Example::Sku(_))) {
                assert!(page.contains(&format!("[{code}]")), "{page}");
            }
        }
        assert_eq!(explain("PL9999"), None);
        assert!(explain("pl0107").is_some());
    }
}
