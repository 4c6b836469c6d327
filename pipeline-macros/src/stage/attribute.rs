//! The words inside `#[stage(…)]`: the name, the backend, the tags.

use pipeline_graph::words::{BACKENDS, TAGS, Tag, listed, nearest, type_name};
use proc_macro2::{Ident, TokenStream};
use quote::format_ident;
use syn::parse::{ParseStream, Parser};
use syn::{Token, parse::Parse};

use super::faults::Faults;

/// What `#[stage(…)]` says.
pub struct Attribute {
    /// The stage's name; the item's own where the attribute gives none.
    pub name: Ident,
    /// The backend; `host` where the attribute gives none that exists.
    pub backend: &'static str,
    /// The tags with the words that declare them.
    pub tags: Vec<(&'static Tag, Ident)>,
}

/// One comma-separated part of the attribute.
enum Word {
    Plain(Ident),
    Assigned(Ident, Ident),
}

impl Parse for Word {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let word: Ident = input.parse()?;
        if input.parse::<Option<Token![=]>>()?.is_some() {
            return Ok(Word::Assigned(word, input.parse()?));
        }
        Ok(Word::Plain(word))
    }
}

impl Attribute {
    /// Reads the attribute of `item`; goes on after every fault.
    pub fn parse(tokens: TokenStream, item: &Ident, faults: &mut Faults) -> Self {
        let mut read = Attribute { name: item.clone(), backend: BACKENDS[0], tags: Vec::new() };
        let words = match syn::punctuated::Punctuated::<Word, Token![,]>::parse_terminated.parse2(tokens) {
            Ok(words) => words,
            Err(error) => {
                faults.at(
                    Ident::new("stage", error.span()),
                    "PL0701",
                    format!("{error}; write `#[stage({item}, backend = host, …tags)]`"),
                );
                return read;
            }
        };
        let mut words = words.into_iter().peekable();
        let names_a_stage = |word: &Ident| TAGS.iter().all(|tag| word != tag.word);
        match words.next_if(|word| matches!(word, Word::Plain(word) if names_a_stage(word))) {
            Some(Word::Plain(name)) => read.name = name,
            _ => faults.at(item, "PL0701", format!("the stage's name comes first: `#[stage({item}, …)]`")),
        }
        let mut backend = None;
        for word in words {
            match word {
                Word::Plain(word) => read.tag(word, faults),
                Word::Assigned(key, value) if key == "backend" => {
                    if backend.is_some() {
                        faults.at(&key, "PL0701", "one implementation has one backend; this is the second");
                    }
                    backend = Some(value);
                }
                Word::Assigned(key, _) => {
                    faults.at(&key, "PL0701", format!("`#[stage]` has no option `{key}`, only `backend`"));
                }
            }
        }
        match backend {
            Some(word) => match BACKENDS.into_iter().find(|known| word == known) {
                Some(known) => read.backend = known,
                None => {
                    let hint = hint(&word, &BACKENDS);
                    faults.at(&word, "PL0702", format!("there is no backend `{word}`{hint}"));
                }
            },
            None => faults.at(
                read.name.clone(),
                "PL0701",
                format!("say what this implementation runs on: `#[stage({}, backend = host, …)]`", read.name),
            ),
        }
        read
    }

    /// The type that stands for the implementation.
    pub fn type_name(&self) -> Ident {
        format_ident!("{}", type_name(&self.name.to_string()), span = self.name.span())
    }

    /// Whether the attribute declares the tag `word`.
    pub fn declares(&self, word: &str) -> bool {
        self.tags.iter().any(|(tag, _)| tag.word == word)
    }

    fn tag(&mut self, word: Ident, faults: &mut Faults) {
        match TAGS.iter().find(|tag| word == tag.word) {
            Some(tag) if self.declares(tag.word) => {
                faults.at(&word, "PL0703", format!("the tag `{word}` is declared twice"));
            }
            Some(tag) => self.tags.push((tag, word)),
            None => {
                let hint = hint(&word, &TAGS.map(|tag| tag.word));
                faults.at(&word, "PL0703", format!("there is no tag `{word}`{hint}"));
            }
        }
    }
}

/// What to write instead of `word`.
fn hint(word: &Ident, known: &[&str]) -> String {
    match nearest(&word.to_string(), known.iter().copied()) {
        Some(meant) => format!("; did you mean `{meant}`?"),
        None => format!("; there are {}", listed(known.iter().copied())),
    }
}
