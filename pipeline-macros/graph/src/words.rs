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

    /// Why it does not take `text` for its argument in a graph of so many stages; `None` if it does.
    #[must_use]
    pub fn fault_of(&self, text: Option<&str>, stages: usize) -> Option<BadArgument> {
        match (self.argument, text) {
            (None, None) => None,
            (Some(_), None) if self.alone => None,
            (None, Some(_)) | (Some(_), None) => Some(BadArgument::Form),
            (Some("SECONDS"), Some(text)) => {
                let fits = |seconds: &f64| *seconds > 0.0 && *seconds <= MOST_SECONDS;
                text.parse().ok().filter(fits).is_none().then_some(BadArgument::Seconds)
            }
            (Some("SEED"), Some(text)) => text.parse::<u64>().is_err().then_some(BadArgument::Seed),
            (Some(_), Some(log)) => fault_of_log(log, stages),
        }
    }
}

/// The longest step of the policy `priority`: a century.
pub const MOST_SECONDS: f64 = 3.156e9;

/// Why a policy does not take an argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BadArgument {
    /// It has one and takes none, or the other way round, or its bracket stays open.
    Form,
    /// It is no number of seconds above 0, [`MOST_SECONDS`] at most.
    Seconds,
    /// It is no whole number of 64 bits.
    Seed,
    /// It is a log without decisions.
    NoLog,
    /// A word of a log is no decision.
    NoDecision {
        /// Its number, counted from 0.
        number: usize,
        /// The word.
        word: String,
    },
    /// A decision is about a stage that the graph has not.
    NoStage {
        /// The decision's number, counted from 0.
        number: usize,
        /// The decision.
        word: String,
        /// How many stages there are.
        stages: usize,
    },
}

/// The word of a policy as a graph names it, and its argument; `Err` is the word of one whose bracket stays open.
///
/// # Errors
/// The argument has no end.
pub fn policy_parts(text: &str) -> Result<(&str, Option<&str>), &str> {
    match text.split_once('(') {
        None => Ok((text, None)),
        Some((word, rest)) => match rest.strip_suffix(')') {
            Some(argument) => Ok((word.trim(), Some(argument.trim()))),
            None => Err(word.trim()),
        },
    }
}

/// A log is decisions `stage:job.partition`, separated by spaces; the runtime's `policy::Log` reads the same.
fn fault_of_log(log: &str, stages: usize) -> Option<BadArgument> {
    let stage_of = |word: &str| {
        let (stage, key) = word.split_once(':')?;
        let (job, partition) = key.split_once('.')?;
        (job.parse::<u64>().is_ok() && partition.parse::<u32>().is_ok()).then(|| stage.parse::<usize>().ok())?
    };
    if log.is_empty() {
        return Some(BadArgument::NoLog);
    }
    log.split_whitespace().enumerate().find_map(|(number, word)| match stage_of(word) {
        None => Some(BadArgument::NoDecision { number, word: word.to_owned() }),
        Some(stage) if stage >= stages => Some(BadArgument::NoStage { number, word: word.to_owned(), stages }),
        Some(_) => None,
    })
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

/// An amount to write into a file where at least so many bytes are needed: read back it is no less.
#[must_use]
pub fn at_least(bytes: u64) -> String {
    to_write(bytes, true)
}

/// An amount to write into a file where at most so many bytes are allowed: read back it is no more.
#[must_use]
pub fn at_most(bytes: u64) -> String {
    to_write(bytes, false)
}

fn to_write(bytes: u64, up: bool) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let Some((name, unit)) = UNITS.into_iter().find(|(_, unit)| bytes >= *unit) else { return format!("{bytes} B") };
    if bytes.is_multiple_of(unit) {
        return format!("{} {name}", bytes / unit);
    }
    let (hundred, unit) = (100 * u128::from(bytes), u128::from(unit));
    let hundredths = if up { hundred.div_ceil(unit) } else { hundred / unit };
    format!("{}.{:02} {name}", hundredths / 100, hundredths % 100)
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
    fn amounts_to_write_are_enough_and_not_too_much() {
        let read = |text: &str| crate::decode::bytes::amount(text).expect("it is an amount");
        for bytes in [0, 1, 1023, 1025, (1 << 20) + 1, 16_672_218_496, 17_051_816_193, (1 << 40) + 1, u64::MAX >> 12] {
            let (up, down) = (read(&at_least(bytes)), read(&at_most(bytes)));
            assert!(down <= bytes && bytes <= up, "{bytes}: {} {}", at_least(bytes), at_most(bytes));
            assert!(up - down <= bytes / 90 + 11, "{bytes}: {} {}", at_least(bytes), at_most(bytes));
        }
        assert_eq!((at_least(16 << 30), at_most(16 << 30)), ("16 GiB".to_owned(), "16 GiB".to_owned()));
    }

    #[test]
    fn lists_read_as_sentences() {
        assert_eq!(listed([]), "none");
        assert_eq!(listed(["a"]), "`a`");
        assert_eq!(listed(["a", "b", "c"]), "`a`, `b` and `c`");
    }
}
