//! The language's fixed words are those of the runtime.

#![allow(missing_docs)]

use pipeline_graph::words;
use pipeline_runtime::{policy, tags::Tags};

#[test]
fn tags() {
    let known: Vec<&str> = words::TAGS.iter().map(|tag| tag.word).collect();
    let of_the_runtime: Vec<&str> = Tags::ALL.iter().map(|(_, word)| *word).collect();
    assert_eq!(known, of_the_runtime);
}

#[test]
fn policies() {
    assert_eq!(words::POLICIES, policy::NAMES);
}
