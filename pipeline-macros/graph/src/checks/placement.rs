//! PL0501, PL0502, PL0504 and PL0505: groups that the SKU has no room for, and sizes that do not fit it well.

use super::{Check, examples};
use crate::diagnostic::{Diagnostic, Report};
use crate::model::{Ccds, Group, Insist, Share, Sku};
use crate::resolve::{Resolved, Stage};

/// The page of PL0501.
pub const OVERLAP: Check = Check {
    code: "PL0501",
    name: "exclusive-overlap",
    rule: "No other group has a CCD of a group that is `exclusive`.",
    why: "An exclusive group keeps an L3 to itself. `\"*\"` is every CCD, so it overlaps all.",
    bad: examples::chain! {
        sku: "any",
        pools: r#""mem_heavy": 1, "dealloc": 1"#,
        groups: r#""synthesis": Ccds("0-2", share: Spread), "msm": Ccds("2-3", share: Pack, exclusive: true)"#,
        synthesize: r#"on: "synthesis""#,
        spmv: r#"on: "msm", needs: { "mem_heavy": 1 }"#,
    },
    good: examples::chain! {
        sku: "any",
        pools: r#""mem_heavy": 1, "dealloc": 1"#,
        groups: r#""synthesis": Ccds("0-1", share: Spread), "msm": Ccds("2-3", share: Pack, exclusive: true)"#,
        synthesize: r#"on: "synthesis""#,
        spmv: r#"on: "msm", needs: { "mem_heavy": 1 }"#,
    },
    fix: "Take the CCDs that the error names out of one of the groups, or remove `exclusive`.",
    run: Some(overlap),
};

/// The page of PL0502.
pub const BEYOND: Check = Check {
    code: "PL0502",
    name: "no-such-ccd",
    rule: "A group names CCDs that the SKU has.",
    why: "CCDs are counted from 0. Where the group says `insist: Prefer` it is a warning: the start goes on with the CCDs \
          that are there, and says so. With `sku: any` the machine is asked when the pipeline starts.",
    bad: examples::chain! {
        sku: r#""small""#,
        pools: r#""mem_heavy": 1, "dealloc": 1"#,
        groups: r#""all": Ccds("0-3", share: Pack)"#,
        synthesize: r#"on: "all""#,
        spmv: r#"backend: "cuda", device: 0, needs: { "mem_heavy": 1 }"#,
    },
    good: examples::WITH_DEVICE,
    fix: "Name CCDs that are there, or write `insist: Prefer`.",
    run: Some(beyond),
};

/// The page of PL0504.
pub const PACKED: Check = Check {
    code: "PL0504",
    name: "mem-heavy-in-one-ccd",
    rule: "A stage that streams memory has more than one CCD, where the SKU has more (a warning).",
    why: "All cores of a CCD reach memory over one link, which carries a fraction of what the memory controllers give: a stage \
          that streams memory is as fast as that link, however many cores it has.",
    bad: examples::chain! {
        sku: r#""two-ccds""#,
        pools: r#""mem_heavy": 1, "dealloc": 1"#,
        groups: r#""first": Ccds("0", share: Pack), "second": Ccds("1", share: Pack)"#,
        synthesize: r#"on: "first""#,
        spmv: r#"on: "second", needs: { "mem_heavy": 1 }"#,
    },
    good: examples::chain! {
        sku: r#""two-ccds""#,
        pools: r#""mem_heavy": 1, "dealloc": 1"#,
        groups: r#""first": Ccds("0", share: Pack), "both": Ccds("0-1", share: Pack)"#,
        synthesize: r#"on: "first""#,
        spmv: r#"on: "both", needs: { "mem_heavy": 1 }"#,
    },
    fix: "Give the group CCDs beside the one that it has.",
    run: None,
};

/// The page of PL0505.
pub const UNEVEN: Check = Check {
    code: "PL0505",
    name: "uneven-sizes",
    rule: "Workers divide evenly over the CCDs of their `Spread` group, threads over the cores that they share (a warning).",
    why: "Worker i goes to CCD i modulo their number, so 5 workers on 4 CCDs put two on the first: those two take twice as long, \
          and the others wait for them at every join. With `smt: true` an odd number of threads leaves one core with \
          one thread, which runs ahead of the others.",
    bad: examples::chain! {
        sku: r#""two-ccds""#,
        pools: r#""mem_heavy": 1, "dealloc": 1"#,
        groups: r#""all": Ccds("*", share: Spread)"#,
        synthesize: r#"on: "all", workers: 3"#,
        spmv: r#"on: "all", workers: 2, needs: { "mem_heavy": 1 }"#,
    },
    good: examples::chain! {
        sku: r#""two-ccds""#,
        pools: r#""mem_heavy": 1, "dealloc": 1"#,
        groups: r#""all": Ccds("*", share: Spread)"#,
        synthesize: r#"on: "all", workers: 4"#,
        spmv: r#"on: "all", workers: 2, needs: { "mem_heavy": 1 }"#,
    },
    fix: "Choose a multiple.",
    run: None,
};

fn overlap(graph: &Resolved<'_>, report: &mut Report) {
    let groups = &graph.file.groups.items;
    for (position, first) in groups.iter().enumerate() {
        for second in &groups[position + 1..] {
            let (Some(one), Some(other)) = (&first.ccds, &second.ccds) else { continue };
            if !first.exclusive && !second.exclusive {
                continue;
            }
            let Some(shared) = shared(&one.value, &other.value) else { continue };
            let (keeper, intruder) = if first.exclusive { (first, second) } else { (second, first) };
            let title = format!(
                "group `{}` is exclusive, and group `{}` has {shared} too",
                keeper.name.value, intruder.name.value
            );
            let (at, and) = if first.exclusive { (other.span, one.span) } else { (one.span, other.span) };
            report.add(
                Diagnostic::error(OVERLAP.code, at, title)
                    .here("these CCDs")
                    .and(and, "exclusive")
                    .help(format!("take {shared} out of one of the groups, or remove `exclusive`")),
            );
        }
    }
}

/// What two choices have in common, in words.
fn shared(one: &Ccds, other: &Ccds) -> Option<String> {
    match (one, other) {
        (Ccds::All, Ccds::All) => Some("all CCDs".to_owned()),
        (Ccds::All, Ccds::List(list)) | (Ccds::List(list), Ccds::All) => Some(ccds(list)),
        (Ccds::List(one), Ccds::List(other)) => {
            let both: Vec<u32> = one.iter().copied().filter(|ccd| other.contains(ccd)).collect();
            (!both.is_empty()).then(|| ccds(&both))
        }
    }
}

/// `CCD 3`, or `CCDs 0-2, 5`.
#[must_use]
pub fn ccds(list: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for ccd in list {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *ccd => *last = *ccd,
            _ => runs.push((*ccd, *ccd)),
        }
    }
    let words: Vec<String> = runs
        .iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") })
        .collect();
    format!("{} {}", if list.len() == 1 { "CCD" } else { "CCDs" }, words.join(", "))
}

fn beyond(graph: &Resolved<'_>, report: &mut Report) {
    let Some(sku) = graph.sku else { return };
    for group in &graph.file.groups.items {
        let Some(stated) = &group.ccds else { continue };
        let Ccds::List(list) = &stated.value else { continue };
        let missing: Vec<u32> = list.iter().copied().filter(|ccd| *ccd >= sku.ccds.value).collect();
        if missing.is_empty() {
            continue;
        }
        let (name, has) = (&group.name.value, sku.ccds.value);
        let there = if has == 1 { "1 CCD".to_owned() } else { format!("{has} CCDs") };
        let found = if group.insist == Insist::Demand {
            let title = format!("group `{name}` asks for {}, the SKU \"{}\" has {there}", ccds(&missing), sku.name);
            Diagnostic::error(BEYOND.code, stated.span, title)
        } else {
            let title = format!("group `{name}` prefers {}, the SKU \"{}\" has {there}", ccds(&missing), sku.name);
            Diagnostic::warning(BEYOND.code, stated.span, title)
        };
        let found = found.and(sku.ccds.span, there);
        report.add(found.help(if has == 1 {
            "the only CCD is 0".to_owned()
        } else {
            format!("the CCDs are 0 to {}", has - 1)
        }));
    }
}

/// How many CCDs of a group the SKU has.
#[must_use]
pub fn width(group: &Group, sku: &Sku) -> Option<u32> {
    match &group.ccds.as_ref()?.value {
        Ccds::All => Some(sku.ccds.value),
        Ccds::List(list) => u32::try_from(list.iter().filter(|ccd| **ccd < sku.ccds.value).count()).ok(),
    }
}

/// The stages on a group, where the machine is known.
pub fn placed<'g>(graph: &'g Resolved<'_>) -> impl Iterator<Item = (&'g Stage<'g>, &'g Group, &'g Sku)> {
    let with = graph.sku.into_iter().flat_map(move |sku| graph.stages.iter().map(move |stage| (stage, sku)));
    with.filter_map(|(stage, sku)| Some((stage, &graph.file.groups.items[stage.group?], sku)))
}

/// Warns of stages that stream memory over the link of one CCD.
pub fn packed(graph: &Resolved<'_>, report: &mut Report) {
    for (stage, group, sku) in placed(graph) {
        let mem_heavy = stage.branches.iter().any(|branch| branch.tags.has("mem_heavy"));
        let Some(stated) = group.ccds.as_ref().filter(|_| mem_heavy && sku.ccds.value > 1) else { continue };
        if width(group, sku) != Some(1) {
            continue;
        }
        let name = stage.name();
        let title = format!(
            "stage `{name}` streams memory, and its group `{}` is one CCD of {}",
            group.name.value, sku.ccds.value
        );
        report.add(
            Diagnostic::warning(PACKED.code, stated.span, title)
                .here("one link to memory")
                .and(stage.stated.name.span, "mem-heavy")
                .help(format!("give the group more CCDs; the SKU has 0 to {}", sku.ccds.value - 1)),
        );
    }
}

/// Warns of sizes that do not divide evenly.
pub fn uneven(graph: &Resolved<'_>, report: &mut Report) {
    for (stage, group, sku) in placed(graph) {
        let (name, group_name) = (stage.name(), &group.name.value);
        if let (Some(Share::Spread), Some(width), Some(workers)) =
            (group.share, width(group, sku), stage.stated.workers)
            && width > 0
            && workers.value > width
            && !workers.value.is_multiple_of(width)
        {
            let title = format!(
                "{} workers of stage `{name}` do not divide evenly over the {width} CCDs of group `{group_name}`",
                workers.value
            );
            let (below, above) = (workers.value / width * width, workers.value.div_ceil(width) * width);
            report.add(
                Diagnostic::warning(UNEVEN.code, workers.span, title)
                    .note(format!("{} CCDs have a worker more than the others", workers.value % width))
                    .help(format!("write {below} or {above}")),
            );
        }
        if let Some(threads) = stage.stated.threads
            && group.smt
            && !threads.value.is_multiple_of(sku.threads_per_core.value)
        {
            let each = sku.threads_per_core.value;
            let title =
                format!("{} threads of stage `{name}` do not fill cores of {each} hardware threads", threads.value);
            report
                .add(Diagnostic::warning(UNEVEN.code, threads.span, title).help(format!("write a multiple of {each}")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::testing::{diagnostics, titles};

    #[test]
    fn overlaps_are_named() {
        assert_eq!(titles(OVERLAP.bad.text()), ["group `msm` is exclusive, and group `synthesis` has CCD 2 too"]);
        let all = OVERLAP.bad.text().replace("\"0-2\"", "\"*\"");
        assert_eq!(titles(&all), ["group `msm` is exclusive, and group `synthesis` has CCDs 2-3 too"]);
    }

    #[test]
    fn ccds_beyond_the_sku_are_an_error_or_a_warning() {
        assert_eq!(titles(BEYOND.bad.text()), ["group `all` asks for CCDs 2-3, the SKU \"small\" has 2 CCDs"]);
        let preferred = BEYOND.bad.text().replace("share: Pack", "share: Pack, insist: Prefer");
        let found = diagnostics(&preferred);
        assert_eq!(found[0].severity, crate::Severity::Warning);
        assert_eq!(found[0].title, "group `all` prefers CCDs 2-3, the SKU \"small\" has 2 CCDs");
    }

    #[test]
    fn odd_threads_leave_a_core_half_empty() {
        let odd = crate::checks::cores::CHECK.good.text().replace("workers: 4, threads: 8", "threads: 7");
        assert_eq!(titles(&odd), ["7 threads of stage `synthesize` do not fill cores of 2 hardware threads"]);
    }

    #[test]
    fn lists_of_ccds_are_short() {
        assert_eq!(ccds(&[3]), "CCD 3");
        assert_eq!(ccds(&[0, 1, 2, 5]), "CCDs 0-2, 5");
    }
}
