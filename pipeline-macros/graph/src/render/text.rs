//! Diagnostics as text.

use annotate_snippets::{AnnotationKind, Level, Message, Renderer, Snippet};

use super::excerpt::excerpts;
use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::source::Sources;

/// How text is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// Letters only.
    Plain,
    /// With colours for a terminal.
    Coloured,
}

/// A diagnostic with its picture: `error: title [PL0107]`, the lines of the file, the help. No newline at the end.
#[must_use]
pub fn diagnostic(diagnostic: &Diagnostic, sources: &Sources, style: Style) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group =
        level.primary_title(format!("{} [{}]", diagnostic.title, diagnostic.code)).elements([] as [Message<'_>; 0]);
    let mut left: Vec<(usize, &Label)> = diagnostic.labels.iter().enumerate().collect();
    let mut cut = Vec::new();
    // One file after the other, that of the first label first.
    while let Some(file) = left.first().map(|(_, label)| label.span.file) {
        let source = sources.get(file);
        let (here, elsewhere) = left.into_iter().partition(|(_, label)| label.span.file == file);
        left = elsewhere;
        let here: Vec<(usize, &Label)> = here;
        let places: Vec<_> = here.iter().map(|(_, label)| label.span.start as usize..label.span.end as usize).collect();
        for excerpt in excerpts(&source.text, &places) {
            let annotations = excerpt.places.into_iter().map(|(index, place)| {
                let (position, label) = here[index];
                let kind = if position == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
                let annotation = kind.span(place);
                if label.text.is_empty() { annotation } else { annotation.label(label.text.as_str()) }
            });
            let annotations: Vec<_> = annotations.collect();
            let snippet = Snippet::source(excerpt.text).line_start(excerpt.first_line).path(source.shown.as_str());
            group = group.element(snippet.annotations(annotations));
            cut.extend(
                excerpt.cut.iter().map(|(line, column)| format!("line {line} is cut: the place is at letter {column}")),
            );
        }
    }
    group = group.elements(cut.into_iter().map(|note| Level::NOTE.message(note)));
    group = group.elements(diagnostic.notes.iter().map(|note| Level::NOTE.message(note.as_str())));
    group = group.elements(diagnostic.help.iter().map(|help| Level::HELP.message(help.as_str())));
    let renderer = match style {
        Style::Plain => Renderer::plain(),
        Style::Coloured => Renderer::styled(),
    };
    renderer.render(&[group])
}

/// The same, plain and without `error: ` in front: rustc writes that itself, and indents the other lines to fit.
#[must_use]
pub fn for_rustc(diagnostic_: &Diagnostic, sources: &Sources) -> String {
    let text = diagnostic(diagnostic_, sources, Style::Plain);
    let text = text.strip_prefix("error: ").or_else(|| text.strip_prefix("warning: ")).unwrap_or(&text);
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::{testing, weight_above_pool};

    #[test]
    fn the_picture_is_the_one_of_the_handbook() {
        let outcome = testing::outcome(weight_above_pool::CHECK.bad.text());
        let text = diagnostic(&outcome.diagnostics[0], &outcome.sources, Style::Plain);
        let expected = r#"error: stage `spmv` needs 2 permits of `mem_heavy`, the pool has 1 [PL0107]
 --> graph.ron:8:56
  |
4 |     pools: { "mem_heavy": 1, "dealloc": 1 },
  |                           - the pool has 1
...
8 |         Stage("spmv", on: "all", needs: { "mem_heavy": 2 }),
  |                                                        ^ needs 2
  |
  = help: raise the pool to 2 or lower the stage's weight"#;
        assert_eq!(text, expected);
        assert!(for_rustc(&outcome.diagnostics[0], &outcome.sources).starts_with("stage `spmv` needs 2 permits"));
        assert!(diagnostic(&outcome.diagnostics[0], &outcome.sources, Style::Coloured).contains('\u{1b}'));
    }
}
