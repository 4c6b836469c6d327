//! What is wrong with a machine in hwloc's synthetic notation: hwloc itself says no more than that something is.

use super::hwloc::MOST_HARDWARE_THREADS;

/// Parts of a machine, as they are usually written; hwloc knows more names for some of them.
const KINDS: [&str; 10] = ["pack", "die", "group", "numa", "l1", "l2", "l3", "l4", "core", "pu"];

const ATTRIBUTES: [&str; 3] = ["memory", "size", "indexes"];

/// A level of a description: `l3:12(size=33554432)` is the words `l3`, `12` and `size=33554432`.
struct Level<'a> {
    text: &'a str,
    kind: Option<&'a str>,
    count: &'a str,
    attributes: Option<&'a str>,
}

/// The levels, those in square brackets, which multiply nothing, left out; `Err` says which bracket stays open.
fn levels(description: &str) -> Result<Vec<Level<'_>>, String> {
    let (mut levels, mut rest) = (Vec::new(), description.trim_start());
    while let Some(first) = rest.chars().next() {
        let closing = if first == '[' { Some(']') } else { None };
        let mut depth = 0_u32;
        let end = rest.char_indices().find(|(at, letter)| {
            depth = match letter {
                '(' => depth + 1,
                ')' => depth.saturating_sub(1),
                _ => depth,
            };
            match closing {
                Some(closing) => *letter == closing,
                None => depth == 0 && *at > 0 && letter.is_whitespace(),
            }
        });
        let end = end.map(|(at, letter)| if closing.is_some() { at + letter.len_utf8() } else { at });
        if closing.is_some() && end.is_none() || depth > 0 {
            return Err(format!("the bracket of `{}` stays open", rest.trim_end()));
        }
        let (text, behind) = rest.split_at(end.unwrap_or(rest.len()));
        rest = behind.trim_start();
        if closing.is_some() || first == '(' {
            continue;
        }
        let (head, attributes) = match text.split_once('(') {
            Some((head, attributes)) => (head, Some(attributes.trim_end_matches(')'))),
            None => (text, None),
        };
        let (kind, count) = head.split_once(':').map_or((None, head), |(kind, count)| (Some(kind), count));
        levels.push(Level { text, kind, count, attributes });
    }
    Ok(levels)
}

/// That a description is of more hardware threads than there can be.
pub(super) fn too_large(description: &str) -> Option<String> {
    let counts =
        levels(description).ok()?.iter().map(|level| level.count.parse::<u64>().ok()).collect::<Option<Vec<_>>>()?;
    let all = counts.iter().try_fold(1_u64, |all, count| all.checked_mul(*count));
    let too_many = all.is_none_or(|all| all > MOST_HARDWARE_THREADS as u64);
    let factors: Vec<String> = counts.iter().map(u64::to_string).collect();
    too_many.then(|| {
        format!(
            "{} are more than the {MOST_HARDWARE_THREADS} hardware threads that Linux can number",
            factors.join(" × ")
        )
    })
}

/// What is wrong with a description that hwloc refuses; `None` where it cannot be told.
pub(super) fn fault(description: &str) -> Option<String> {
    const EXAMPLE: &str = "`pack:1 [numa(memory=549755813888)] l3:12(size=33554432) core:8 pu:2`";
    let levels = match levels(description) {
        Ok(levels) => levels,
        Err(open) => return Some(open),
    };
    let Some(last) = levels.last() else {
        return Some(format!("it has no levels; write something like {EXAMPLE}"));
    };
    let is_kind = |kind: &str| {
        let kind = kind.to_ascii_lowercase();
        let known = KINDS.iter().any(|known| kind.starts_with(known) || kind.starts_with("socket") || kind == "node");
        known && kind.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    for level in &levels {
        let text = level.text;
        if let Some(kind) = level.kind.filter(|kind| !is_kind(kind)) {
            return Some(format!("`{text}`: `{kind}` is no part of a machine; there are {}", KINDS.join(", ")));
        }
        match level.count.parse::<u32>() {
            Ok(count) if count > 0 => {}
            Err(_) if level.kind.is_none() && is_kind(level.count) => {
                return Some(format!("`{text}` does not say how many: write `{}:1`", level.count));
            }
            _ => return Some(format!("`{text}`: `{}` is no count; write a whole number from 1", level.count)),
        }
        let attributes = level.attributes.unwrap_or_default().split_whitespace();
        let names = attributes.map(|attribute| attribute.split_once('=').map_or(attribute, |(name, _)| name));
        if let Some(name) = names.clone().find(|name| !ATTRIBUTES.contains(name)) {
            return Some(format!("`{text}`: `{name}` is no attribute; there are {}", ATTRIBUTES.join(", ")));
        }
    }
    let is_pu = |kind: &str| kind.eq_ignore_ascii_case("pu");
    if !last.kind.is_none_or(is_pu) {
        return Some(format!(
            "its last level is `{}`; below it, say how many hardware threads each has: `pu:1`",
            last.text
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::hwloc::Hwloc;

    #[test]
    fn the_word_that_is_wrong_is_named() {
        for (text, why) in [
            ("", "it has no levels; write something like `pack:1 "),
            ("pack:x", "`pack:x`: `x` is no count; write a whole number from 1"),
            ("pack:1 core:0 pu:1", "`core:0`: `0` is no count; write a whole number from 1"),
            ("pack:1 core:-2 pu:1", "`core:-2`: `-2` is no count"),
            ("pack:1 ccd:2 pu:1", "`ccd:2`: `ccd` is no part of a machine; there are pack, die, "),
            ("pack:1 core pu:1", "`core` does not say how many: write `core:1`"),
            ("pack:1 core:4", "its last level is `core:4`; below it, say how many hardware threads each has: `pu:1`"),
            (
                "pack:1 l3:2(sizes=4) core:2 pu:1",
                "`l3:2(sizes=4)`: `sizes` is no attribute; there are memory, size, indexes",
            ),
            ("pack:1 l3:2(size=4 core:2 pu:1", "the bracket of `l3:2(size=4 core:2 pu:1` stays open"),
            ("pack:1 [numa(memory=4) core:2 pu:1", "the bracket of `[numa(memory=4) core:2 pu:1` stays open"),
            ("pack:2 core:4096 pu:2", "2 × 4096 × 2 are more than the 8192 hardware threads that Linux can number"),
            ("pack:4294967295 core:4294967295 pu:9", "4294967295 × 4294967295 × 9 are more than the 8192 "),
        ] {
            let error = Hwloc::synthetic(text).err().map(|error| error.to_string()).unwrap_or_default();
            let head = format!("hwloc cannot read the synthetic machine `{text}`: {why}");
            assert!(error.starts_with(&head), "{text}: {error}");
        }
    }

    /// Each CCD is looked at once; with a look at every core for each of them this would take minutes.
    #[test]
    fn the_largest_machine_is_read() {
        let machine = Hwloc::synthetic("pack:8 [numa(memory=1073741824)] l3:512 core:1 pu:2").unwrap().machine();
        assert_eq!((machine.ccds.len(), machine.cores(), machine.numa_nodes), (4096, 4096, 8));
        assert_eq!(machine.ccds[4095].cpus().to_string(), "8190-8191");
        assert_eq!(machine.devices, None, "nobody has looked");
    }
}
