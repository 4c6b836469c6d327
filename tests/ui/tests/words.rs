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

/// What a graph may name is what the runtime takes, to the last bracket.
#[test]
fn arguments_of_policies() {
    let arguments = [
        "",
        "()",
        "(",
        "(5",
        "(5) ",
        "( 5 )",
        "(0)",
        "(-0)",
        "(-1)",
        "(1e-9)",
        "(3156000000)",
        "(3156000001)",
        "(4294967296)",
        "(1e300)",
        "(inf)",
        "(-inf)",
        "(nan)",
        "(x)",
        "(5 5)",
        "(18446744073709551615)",
        "(18446744073709551616)",
        "(0:0.0)",
        "(0:0.0 1:0.0)",
        "(0:0)",
        "(0.0:0)",
        "(:0.0)",
        "(0:0.0,1:0.0)",
        "(1:18446744073709551616.0)",
        "(1:0.4294967296)",
    ];
    for known in words::POLICIES {
        for argument in arguments {
            let named = format!("{}{argument}", known.word);
            let (word, fault) = match words::policy_parts(&named) {
                Ok((word, argument)) => (word, known.fault_of(argument, usize::MAX)),
                Err(word) => (word, Some(words::BadArgument::Form)),
            };
            assert_eq!(word, known.word);
            assert_eq!(fault.is_none(), policy::by_name(&named).is_some(), "{named}: {fault:?}");
        }
    }
}
