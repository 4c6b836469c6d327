//! `pipeline!`: finds the files, asks `pipeline-graph`, writes the expansion down.

mod expansion;
mod files;
mod input;

use std::path::Path;

use pipeline_graph::emit::{self, Target};
use pipeline_graph::words::{listed, nearest};
use pipeline_graph::{Source, load_file};
use proc_macro2::TokenStream;

use files::Finder;
use input::Input;

/// Expands `pipeline!(tokens)`; `caller` is the file that has the call, if the compiler knows it.
pub fn expand(tokens: TokenStream, caller: Option<&Path>) -> TokenStream {
    let input: Input = match syn::parse2(tokens) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let target = Target {
        name: input.name.clone(),
        stages: input.stages.clone(),
        env: input.env.clone(),
        span: input.graph.span(),
    };
    let finder = Finder::new(caller);
    let shown = input.chosen_graph();
    let catalogue = match catalogue(&finder, &input) {
        Ok(catalogue) => catalogue,
        Err(message) => return emit::unreadable(&message, None, &target),
    };
    let named_by = input.env.as_deref().filter(|_| shown != input.graph.value());
    match graph(&finder, &shown, named_by, catalogue.clone()) {
        Ok(outcome) => {
            let tokens = emit::pipeline(&outcome, &target);
            expansion::write_down(&shown, &tokens);
            tokens
        }
        Err(message) => emit::unreadable(&message, Some(catalogue), &target),
    }
}

fn catalogue(finder: &Finder, input: &Input) -> Result<Source, String> {
    let shown = &input.catalogue;
    let read = finder.find(shown).and_then(|path| Source::read(&path, shown));
    read.map_err(|error| {
        format!("cannot read the catalogue {shown}: {error} [PL0006]\nit is looked for from the package's folder; `catalogue = \"…\"` names another")
    })
}

fn graph(
    finder: &Finder,
    shown: &str,
    named_by: Option<&str>,
    catalogue: Source,
) -> Result<pipeline_graph::Outcome, String> {
    let outcome = finder.find(shown).and_then(|path| load_file(&path, shown, catalogue));
    outcome.map_err(|error| {
        let mut message = format!("cannot read the graph {shown}: {error} [PL0006]");
        let known = finder.siblings(shown);
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        if let Some(meant) = nearest(shown, known.iter().copied()) {
            message.push_str(&format!("\ndid you mean `{meant}`?"));
        } else if !known.is_empty() {
            message.push_str(&format!("\nthere are {}", listed(known)));
        }
        message.push_str(&looked_for(shown, named_by));
        message
    })
}

/// Where a graph is looked for that is not found, and what names it if the call does not.
fn looked_for(shown: &str, named_by: Option<&str>) -> String {
    let named = named_by.map(|variable| format!("\nthe environment variable {variable} names it")).unwrap_or_default();
    if Path::new(shown).is_absolute() {
        return named;
    }
    let from = "a path that does not begin with `/` is looked for from the folder of the package's Cargo.toml, then from that of \
                the file that calls `pipeline!`, wherever cargo is started";
    format!("{named}\n{from}")
}

#[cfg(test)]
mod tests {
    use super::looked_for;

    #[test]
    fn it_is_said_what_a_path_is_relative_to() {
        let text = looked_for("graphs/mine.ron", Some("PROOFLINE_GRAPH"));
        assert!(text.starts_with("\nthe environment variable PROOFLINE_GRAPH names it\n"), "{text}");
        assert!(text.contains("from the folder of the package's Cargo.toml, then"), "{text}");
        assert!(looked_for("mine.ron", None).starts_with("\na path that does not begin"));
        assert_eq!(looked_for("/no/mine.ron", None), "");
    }
}
