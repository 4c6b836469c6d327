//! The fixed words of the language, and how to guess the one that was meant.

/// A backend that an implementation of a stage may name, in the order of preference when errors list them.
pub const BACKENDS: [&str; 2] = ["host", "cuda"];

/// The backend of a stage that names none.
pub const DEFAULT_BACKEND: &str = BACKENDS[0];

/// A scheduling policy of the runtime, with what it declares of itself (`runtime::policy::facts`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policy {
    /// Its word.
    pub word: &'static str,
    /// What it takes in parentheses, if it takes anything.
    pub argument: Option<&'static str>,
    /// Whether it can be named without its argument.
    pub alone: bool,
    /// It serves in an order of age in the end.
    pub age_order: bool,
    /// It tells jobs of different priority apart.
    pub priorities: bool,
    /// It understands pools of bytes.
    pub bytes: bool,
    /// The tags that it understands.
    pub tags: &'static [&'static str],
}

impl Policy {
    /// How errors and pages show it: `random_legal(SEED)`.
    #[must_use]
    pub fn shown(&self) -> String {
        self.argument.map_or_else(|| self.word.to_owned(), |argument| format!("{}({argument})", self.word))
    }

    /// Whether `text` is an argument that it takes.
    #[must_use]
    pub fn takes(&self, text: Option<&str>) -> bool {
        match (self.argument, text) {
            (None, None) => true,
            (None, Some(_)) => false,
            (Some(_), None) => self.alone,
            (Some("SECONDS"), Some(text)) => text.parse::<f64>().is_ok_and(|seconds| seconds > 0.0),
            (Some("SEED"), Some(text)) => text.parse::<u64>().is_ok(),
            (Some(_), Some(text)) => !text.is_empty(),
        }
    }
}

const EVERY_TAG: &[&str] = &["mem_heavy", "gpu", "ccd_pinned", "unmaps"];

const fn policy(word: &'static str, argument: Option<&'static str>, age_order: bool, priorities: bool) -> Policy {
    Policy { word, argument, alone: argument.is_none(), age_order, priorities, bytes: true, tags: EVERY_TAG }
}

/// The scheduling policies of the runtime.
pub const POLICIES: [Policy; 6] = [
    policy("oldest_first", None, true, false),
    Policy { alone: true, ..policy("priority", Some("SECONDS"), true, true) },
    policy("critical_path", None, true, false),
    policy("shortest_stage_first", None, false, false),
    policy("random_legal", Some("SEED"), false, false),
    policy("replay", Some("LOG"), false, false),
];

/// The policy of a graph that names none.
pub const DEFAULT_POLICY: &str = POLICIES[0].word;

/// A tag of an implementation, with the capability that pays it out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tag {
    /// The word in `#[stage(…)]`, in graph files and in the catalogue.
    pub word: &'static str,
    /// The constant of `runtime::tags::Tags`.
    pub constant: &'static str,
    /// The capability's type, which a stage function takes by reference.
    pub capability: &'static str,
    /// How errors name the parameter.
    pub parameter: &'static str,
    /// The method of `runtime::export::Firing` that pays it out.
    pub accessor: &'static str,
}

/// Every tag.
pub const TAGS: [Tag; 4] = [
    tag("mem_heavy", "MEM_HEAVY", "MemPermit", "permit", "mem_permit"),
    tag("gpu", "GPU", "GpuDevice", "gpu", "gpu"),
    tag("ccd_pinned", "CCD_PINNED", "CcdPool", "cores", "cores"),
    tag("unmaps", "UNMAPS", "DeallocPermit", "permit", "dealloc_permit"),
];

const fn tag(
    word: &'static str,
    constant: &'static str,
    capability: &'static str,
    parameter: &'static str,
    accessor: &'static str,
) -> Tag {
    Tag { word, constant, capability, parameter, accessor }
}

/// The type name that `#[stage]` gives the stage `name`: `gpu_ntt_msm` is `GpuNttMsm`.
#[must_use]
pub fn type_name(name: &str) -> String {
    name.split('_')
        .flat_map(|part| {
            let mut letters = part.chars();
            let head = letters.next().map(|first| first.to_ascii_uppercase());
            head.into_iter().chain(letters)
        })
        .collect()
}

/// The word of `known` that `wrong` was probably meant to be: at most a third of the letters differ.
#[must_use]
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = wrong.chars().count();
    let limit = letters.max(3).div_ceil(3);
    // Nobody misspells more than that; the distance costs the product of the lengths.
    const LONG: usize = 64;
    let close = |word: &&str| letters <= LONG && word.chars().count().abs_diff(letters) <= limit;
    known
        .into_iter()
        .filter(close)
        .map(|word| (distance(&wrong.to_lowercase(), &word.to_lowercase()), word))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// Words as a sentence has them: `` `a`, `b` and `c` ``; "none" where there are none.
#[must_use]
pub fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match words.as_slice() {
        [] => "none".to_owned(),
        [one] => one.clone(),
        [head @ .., last] => format!("{} and {last}", head.join(", ")),
    }
}

/// Words of which one is to be chosen: `` `a`, `b` or `c` ``.
#[must_use]
pub fn one_of<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let list = listed(words);
    match list.rsplit_once(" and ") {
        Some((head, last)) => format!("{head} or {last}"),
        None => list,
    }
}

/// An amount of memory in its largest unit, exact where that takes no fraction, else with two digits behind the point.
#[must_use]
pub fn amount(bytes: u64) -> String {
    const UNITS: [(&str, u64); 5] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];
    let unit = UNITS.iter().find(|(_, unit)| bytes >= *unit).unwrap_or(&UNITS[4]);
    // Memory is spoken of in GiB: 512 GiB, 2560 GiB, not 2.5 TiB, which is hard to compare.
    let (name, unit) = if unit.0 == "TiB" { UNITS[1] } else { *unit };
    if bytes.is_multiple_of(unit) {
        return format!("{} {name}", bytes / unit);
    }
    format!("{:.2} {name}", bytes as f64 / unit as f64)
}

/// The optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = change.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = above;
        above = row;
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_names_are_camel_case() {
        assert_eq!(type_name("spmv"), "Spmv");
        assert_eq!(type_name("gpu_ntt_msm"), "GpuNttMsm");
        assert_eq!(type_name("b_g2_msm"), "BG2Msm");
    }

    #[test]
    fn nearest_finds_slips_and_refuses_strangers() {
        let known = ["synthesize", "spmv", "prep_msm"];
        assert_eq!(nearest("sypnthesize", known), Some("synthesize"));
        assert_eq!(nearest("smpv", known), Some("spmv"));
        assert_eq!(nearest("Prep_MSM", known), Some("prep_msm"));
        assert_eq!(nearest("dealloc", known), None);
        assert_eq!(nearest("", known), None);
    }

    #[test]
    fn amounts_are_short() {
        assert_eq!(amount(0), "0 B");
        assert_eq!(amount(576), "576 B");
        assert_eq!(amount(16 << 30), "16 GiB");
        assert_eq!(amount(2560 << 30), "2560 GiB");
        assert_eq!(amount(16_672_218_496), "15.53 GiB");
    }

    #[test]
    fn lists_read_as_sentences() {
        assert_eq!(listed([]), "none");
        assert_eq!(listed(["a"]), "`a`");
        assert_eq!(listed(["a", "b", "c"]), "`a`, `b` and `c`");
    }
}
