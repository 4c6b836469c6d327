//! What the policies declare of themselves, as constants: graphs are checked against them when they are compiled.

use crate::tags::Tags;

/// What a policy declares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    /// Its word in graph files, without the argument.
    pub word: &'static str,
    /// It serves in an order of age in the end, so no firing waits for ever while others take the permits that it lacks.
    pub age_order: bool,
    /// It tells jobs of different priority apart.
    pub priorities: bool,
    /// It understands pools of bytes, not of permits alone.
    pub bytes: bool,
    /// The tags that it understands.
    pub tags: Tags,
}

const EVERY_TAG: Tags = Tags::MEM_HEAVY.with(Tags::GPU).with(Tags::CCD_PINNED).with(Tags::UNMAPS);

const fn facts(word: &'static str, age_order: bool, priorities: bool) -> Facts {
    Facts { word, age_order, priorities, bytes: true, tags: EVERY_TAG }
}

/// Every policy of [`super::NAMES`], in that order.
pub const FACTS: &[Facts] = &[
    facts("oldest_first", true, false),
    // Whoever waits rises, so age wins in the end.
    facts("priority", true, true),
    // Jobs go by age, and a job has finitely many firings.
    facts("critical_path", true, false),
    // A long stage may be overtaken by short ones for as long as they come.
    facts("shortest_stage_first", false, false),
    facts("random_legal", false, false),
    facts("replay", false, false),
];

/// What the policy of that word declares; a constant can ask.
#[must_use]
pub const fn of(word: &str) -> Option<Facts> {
    let mut policy = 0;
    while policy < FACTS.len() {
        if same(FACTS[policy].word.as_bytes(), word.as_bytes()) {
            return Some(FACTS[policy]);
        }
        policy += 1;
    }
    None
}

const fn same(one: &[u8], other: &[u8]) -> bool {
    let (mut same, mut byte) = (one.len() == other.len(), 0);
    while same && byte < one.len() {
        same = one[byte] == other[byte];
        byte += 1;
    }
    same
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_policy_declares_itself() {
        let words = super::super::NAMES.iter().map(|name| name.split('(').next().unwrap_or(name));
        assert!(words.eq(FACTS.iter().map(|facts| facts.word)));
        assert_eq!(EVERY_TAG.words().count(), Tags::ALL.len());
    }

    #[test]
    fn a_policy_is_found_by_its_word() {
        assert_eq!(of("critical_path"), Some(FACTS[2]));
        assert_eq!((of("critical"), of("critical_paths"), of("")), (None, None, None));
    }
}
