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
    assert_eq!(words::POLICIES.map(|policy| policy.shown()), policy::NAMES);
    for (known, facts) in words::POLICIES.iter().zip(policy::facts::FACTS) {
        let tags: Vec<&str> = facts.tags.words().collect();
        let declared = (facts.word, facts.age_order, facts.priorities, facts.bytes, tags.as_slice());
        assert_eq!((known.word, known.age_order, known.priorities, known.bytes, known.tags), declared);
        let named = known.shown().replace("SECONDS", "30").replace("SEED", "7").replace("LOG", "0:0.0");
        assert!(policy::by_name(&named).is_some(), "{named}");
    }
}
