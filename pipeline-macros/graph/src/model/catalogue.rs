//! The catalogue file: which implementations of stages there are.

use super::bytes::Linear;
use crate::source::At;
use crate::words::TAGS;

/// A catalogue.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Catalogue {
    /// The tokens.
    pub tokens: Vec<Token>,
    /// The implementations.
    pub implementations: Vec<Implementation>,
}

/// A kind of token.
#[derive(Clone, PartialEq, Debug)]
pub struct Token {
    /// Its name.
    pub name: At<String>,
    /// The bytes of one.
    pub bytes: Linear,
}

/// One implementation of a stage.
#[derive(Clone, PartialEq, Debug)]
pub struct Implementation {
    /// The stage.
    pub stage: At<String>,
    /// The backend.
    pub backend: At<String>,
    /// Its tags.
    pub tags: TagSet,
    /// Its input ports.
    pub ports: Vec<Port>,
    /// The token that it puts out; `dealloc` puts out none.
    pub output: Option<String>,
    /// The bytes that it needs beside its tokens.
    pub workspace: Linear,
}

/// An input port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// The token that it takes.
    pub token: String,
}

/// A set of [`TAGS`], a bit each.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct TagSet(u8);

impl TagSet {
    /// Adds the tag `word`; `false` if there is none.
    pub fn add(&mut self, word: &str) -> bool {
        match TAGS.iter().position(|tag| tag.word == word) {
            Some(position) => {
                self.0 |= 1 << position;
                true
            }
            None => false,
        }
    }

    /// Whether the tag `word` is in it.
    #[must_use]
    pub fn has(self, word: &str) -> bool {
        self.words().any(|own| own == word)
    }

    /// The words, in the order of [`TAGS`].
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        let tags = TAGS.iter().enumerate();
        tags.filter(move |(position, _)| self.0 & (1 << position) != 0).map(|(_, tag)| tag.word)
    }
}

impl Catalogue {
    /// The implementation of `stage` on `backend`.
    #[must_use]
    pub fn find(&self, stage: &str, backend: &str) -> Option<&Implementation> {
        self.implementations.iter().find(|one| one.stage.value == stage && one.backend.value == backend)
    }

    /// The token of that name.
    #[must_use]
    pub fn token(&self, name: &str) -> Option<&Token> {
        self.tokens.iter().find(|token| token.name.value == name)
    }

    /// The implementations of `stage`.
    pub fn of_stage(&self, stage: &str) -> impl Iterator<Item = &Implementation> {
        self.implementations.iter().filter(move |implementation| implementation.stage.value == stage)
    }

    /// The names of all stages, each once.
    pub fn stages(&self) -> impl Iterator<Item = &str> {
        let names = self.implementations.iter().enumerate();
        names.filter_map(|(position, one)| {
            let earlier = &self.implementations[..position];
            earlier.iter().all(|other| other.stage.value != one.stage.value).then_some(one.stage.value.as_str())
        })
    }
}

impl Implementation {
    /// Whether it is the stage that takes every dead slot.
    #[must_use]
    pub fn is_dealloc(&self) -> bool {
        self.output.is_none()
    }

    /// The ports that `dealloc` counts as none: it takes dead slots, not edges.
    #[must_use]
    pub fn edge_ports(&self) -> &[Port] {
        if self.is_dealloc() { &[] } else { &self.ports }
    }
}
