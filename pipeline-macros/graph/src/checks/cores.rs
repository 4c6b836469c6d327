//! PL0503: more threads than the cores of a group.

use super::placement::{placed, width};
use super::{Check, examples};
use crate::diagnostic::{Diagnostic, Report};
use crate::model::{Group, Insist, Share, Sku};
use crate::resolve::Resolved;

/// The page.
pub const CHECK: Check = Check {
    code: "PL0503",
    name: "more-threads-than-cores",
    rule: "The workers of a stage, and the threads that it states for them, fit the cores of its group; with `smt: true`, \
           the hardware threads.",
    why: "Two busy threads on one core share its multipliers, so each takes longer than alone. Some work gains from the second \
          hardware thread of a core all the same: `smt: true` says so. In a `Spread` group the workers of a stage go round \
          the CCDs, and the fullest CCD counts. Threads that are not stated are the cores, shared by the workers. \
          Stages of one group that state different numbers have threads of their own each; if these are together more \
          than the cores, that is a warning, since the stages may never run at once. Where the group says `insist: \
          Prefer`, too many threads are a warning too: they share what there is. With `sku: any` the machine is asked when the \
          pipeline starts.",
    bad: examples::chain! {
        sku: r#""small""#,
        pools: r#""mem_heavy": 1, "dealloc": 1"#,
        groups: r#""all": Ccds("*", share: Pack)"#,
        synthesize: r#"on: "all", workers: 4, threads: 8"#,
        spmv: r#"backend: "cuda", device: 0, needs: { "mem_heavy": 1 }"#,
    },
    good: examples::chain! {
        sku: r#""small""#,
        pools: r#""mem_heavy": 1, "dealloc": 1"#,
        groups: r#""all": Ccds("*", share: Pack, smt: true)"#,
        synthesize: r#"on: "all", workers: 4, threads: 8"#,
        spmv: r#"backend: "cuda", device: 0, needs: { "mem_heavy": 1 }"#,
    },
    fix: "Lower `workers` or `threads`, widen the group, or write `smt: true` on it.",
    run: Some(run),
};

fn run(graph: &Resolved<'_>, report: &mut Report) {
    for (stage, group, sku) in placed(graph) {
        let Some(width) = width(group, sku).filter(|width| *width > 0) else { continue };
        let workers = stage.stated.workers.map_or(1, |workers| workers.value);
        let threads = stage.stated.threads.map(|threads| threads.value);
        // Where the CCDs of a group are not shared, the fullest one counts.
        let (ccds, workers_there) = match group.share {
            Some(Share::Spread) => (1, workers.div_ceil(width)),
            Some(Share::Pack) => (width, workers),
            None => continue,
        };
        let Room { units, what, place } = Room::of(group, sku, ccds);
        let wanted = u64::from(workers_there) * u64::from(threads.unwrap_or(1));
        if wanted <= units {
            continue;
        }
        let name = stage.name();
        let product = match threads {
            Some(threads) if workers_there > 1 => {
                format!("{workers_there} workers × {threads} threads = {wanted} threads")
            }
            Some(_) => format!("{wanted} threads"),
            None => format!("{wanted} workers"),
        };
        let title =
            format!("stage `{name}` puts {product} on {place} `{}`, which has {units} {what}", group.name.value);
        let span = stage.stated.threads.or(stage.stated.workers).map_or(stage.stated.name.span, |number| number.span);
        let mut found = match group.insist {
            Insist::Demand => Diagnostic::error(CHECK.code, span, title),
            Insist::Prefer => Diagnostic::warning(CHECK.code, span, title),
        };
        if let Some(stated) = &group.ccds {
            found = found.and(stated.span, format!("{units} {what}"));
        }
        let all = u64::from(ccds) * u64::from(sku.cores_per_ccd.value) * u64::from(sku.threads_per_core.value);
        let more = !group.smt && wanted <= all;
        if more {
            found = found.help(format!("write `smt: true` on the group to use its {all} hardware threads"));
        }
        let most = units / u64::from(threads.unwrap_or(1));
        let or = if more { "or " } else { "" };
        report.add(match threads {
            Some(threads) if most > 0 => found.help(format!("{or}lower `workers`: {most} × {threads} fit there")),
            Some(_) if units >= u64::from(workers_there) => {
                found.help(format!("{or}lower `threads` to {}", units / u64::from(workers_there)))
            }
            Some(_) => found.help(format!("{or}lower `workers` and `threads`: {units} × 1 fit there")),
            None => found.help(format!("{or}lower `workers`: {units} fit there")),
        });
    }
}

/// Where threads of a group run.
struct Room {
    /// The cores there, or with `smt` the hardware threads.
    units: u64,
    /// What is counted.
    what: &'static str,
    /// What errors call it.
    place: &'static str,
}

impl Room {
    /// The room on so many CCDs of a group.
    fn of(group: &Group, sku: &Sku, ccds: u32) -> Self {
        let cores = u64::from(ccds) * u64::from(sku.cores_per_ccd.value);
        let (units, what) = match group.smt {
            true => (cores * u64::from(sku.threads_per_core.value), "hardware threads"),
            false => (cores, "cores"),
        };
        let place = if group.share == Some(Share::Spread) { "a CCD of group" } else { "group" };
        Self { units, what, place }
    }
}

/// Warns of stages on one group whose threads are together more than its cores. Stages that state the same number share
/// the same threads.
pub fn together(graph: &Resolved<'_>, report: &mut Report) {
    let Some(sku) = graph.sku else { return };
    for (position, group) in graph.file.groups.items.iter().enumerate() {
        let Some(ccds) = width(group, sku).filter(|ccds| *ccds > 0) else { continue };
        let ccds = if group.share == Some(Share::Spread) { 1 } else { ccds };
        let stages = graph.stages.iter().filter(|stage| stage.group == Some(position));
        let mut stated: Vec<(&str, _)> = Vec::new();
        for stage in stages {
            if let Some(threads) = stage.stated.threads
                && stated.iter().all(|(_, known): &(&str, crate::source::At<u32>)| known.value != threads.value)
            {
                stated.push((stage.name(), threads));
            }
        }
        let sum = stated.iter().map(|(_, threads)| u64::from(threads.value)).sum::<u64>();
        let Room { units: has, what, place } = Room::of(group, sku, ccds);
        let Some((_, last)) = stated.last().filter(|_| stated.len() > 1 && sum > has) else { continue };
        let title = format!(
            "the stages on group `{}` have {sum} threads together, {place} `{}` has {has} {what}",
            group.name.value, group.name.value
        );
        let mut found = Diagnostic::warning(CHECK.code, last.span, title);
        for (name, threads) in &stated {
            found = found.and(threads.span, format!("`{name}`: {}", threads.value));
        }
        report.add(
            found
                .note(
                    "each number is a pool of threads of its own; where such stages run at once, they slow each other",
                )
                .help("state one number, which they share, or none, or give them groups of their own"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Severity;
    use crate::checks::testing::{diagnostics, titles};

    #[test]
    fn threads_are_counted_where_they_run() {
        assert_eq!(
            titles(CHECK.bad.text()),
            ["stage `synthesize` puts 4 workers × 8 threads = 32 threads on group `all`, which has 16 cores"]
        );
        let spread = CHECK.bad.text().replace("Pack", "Spread");
        assert_eq!(
            titles(&spread),
            ["stage `synthesize` puts 2 workers × 8 threads = 16 threads on a CCD of group `all`, which has 8 cores"]
        );
        let workers = CHECK.bad.text().replace("workers: 4, threads: 8", "workers: 17");
        assert_eq!(titles(&workers), ["stage `synthesize` puts 17 workers on group `all`, which has 16 cores"]);
    }

    #[test]
    fn an_alternative_stands_behind_another() {
        let help = |text: &str| diagnostics(text)[0].help.clone();
        assert_eq!(
            help(CHECK.bad.text()),
            ["write `smt: true` on the group to use its 32 hardware threads", "or lower `workers`: 2 × 8 fit there"]
        );
        let smt = CHECK.bad.text().replace("share: Pack", "share: Pack, smt: true");
        assert_eq!(help(&smt.replace("workers: 4", "workers: 5")), ["lower `workers`: 4 × 8 fit there"]);
        assert_eq!(help(&smt.replace("workers: 4, threads: 8", "threads: 33")), ["lower `threads` to 32"]);
        assert_eq!(help(&smt.replace("workers: 4, threads: 8", "workers: 33")), ["lower `workers`: 32 fit there"]);
    }

    #[test]
    fn what_is_preferred_is_a_warning() {
        let preferred = CHECK.bad.text().replace("share: Pack", "share: Pack, insist: Prefer");
        let found = diagnostics(&preferred);
        assert_eq!((found.len(), found[0].severity, found[0].code), (1, Severity::Warning, CHECK.code));
    }

    #[test]
    fn threads_of_several_stages_are_summed() {
        let text = |spmv: &str| {
            CHECK
                .good
                .text()
                .replace("\"small\"", "\"two-ccds\"")
                .replace(", smt: true", "")
                .replace("workers: 4, threads: 8", "threads: 10")
                .replace("backend: \"cuda\", device: 0, needs", &format!("on: \"all\", {spmv}needs"))
        };
        assert_eq!(titles(&text("")), [""; 0], "what states no number takes the cores that are idle");
        assert_eq!(titles(&text("threads: 10, ")), [""; 0], "the same threads");
        assert_eq!(titles(&text("threads: 6, ")), [""; 0]);
        let found = diagnostics(&text("threads: 7, "));
        assert_eq!(found[0].title, "the stages on group `all` have 17 threads together, group `all` has 16 cores");
        assert_eq!((found.len(), found[0].severity, found[0].code), (1, Severity::Warning, CHECK.code));
    }
}
