//! PL0211 and PL0212: what is declared and changes nothing.

use super::{Check, Example, examples};
use crate::diagnostic::{Diagnostic, Report};
use crate::model::{Ccds, SkuChoice, Unit};
use crate::resolve::Resolved;

/// The page of PL0211.
pub const DEAD: Check = Check {
    code: "PL0211",
    name: "dead-part",
    rule: "Every pool, group, permit, device and CCD is used by something (a warning).",
    why: "A pool that no stage takes from bounds nothing, though its author thinks so; permits beyond what all firings together \
          can take are never taken. A device or CCD of the SKU that no stage runs on is paid for and idle. A dead stage \
          cannot be: it would be a second sink, which is an error.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 1, "pcie": 2, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack), "msm": Ccds("0", share: Pack) },
    stages: [
        Stage("synthesize", on: "all"),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv")],
)"#,
    ),
    good: examples::SMALL,
    fix: "Use it or remove it.",
    run: None,
};

/// The page of PL0212.
pub const REDUNDANT: Check = Check {
    code: "PL0212",
    name: "redundant-edge",
    rule: "A stage takes each token once (a warning).",
    why: "Two edges from one stage to two ports of another carry the same token twice: the second port sees what the first one \
          sees. That is rarely what was meant.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 1, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all"),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }),
        Stage("compare"),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv"), Edge("spmv", "compare.left"), Edge("spmv", "compare.right")],
)"#,
    ),
    good: examples::TWO_PORTS,
    fix: "Lead the second edge from the stage that was meant.",
    run: None,
};

/// Warns of what nothing uses.
pub fn dead(graph: &Resolved<'_>, report: &mut Report) {
    // Nothing can be said to be unused while names are open.
    if !graph.whole || graph.stages.iter().any(|stage| !stage.known) {
        return;
    }
    let file = graph.file;
    for (position, pool) in file.pools.items.iter().enumerate() {
        let name = &pool.name;
        let needs = || {
            graph.stages.iter().filter_map(|stage| Some((stage, stage.needs.iter().find(|(of, _)| *of == position)?.1)))
        };
        let bytes = graph.stages.iter().flat_map(|stage| stage.holds.iter().chain(&stage.workspace));
        if needs().next().is_none() && !bytes.into_iter().any(|(of, ..)| *of == position) {
            let title = format!("no stage takes from pool `{}`", name.value);
            report.add(Diagnostic::warning(DEAD.code, name.span, title).help("remove it, or let stages take from it"));
            continue;
        }
        let Some(size) = pool.size.filter(|_| pool.unit == Unit::Count) else { continue };
        let most = needs().fold(0_u64, |sum, (stage, weight)| {
            let of = |number: Option<crate::source::At<u32>>| u64::from(number.map_or(1, |number| number.value));
            let firings = of(stage.stated.workers) * of(stage.stated.in_flight);
            sum.saturating_add(weight.value.saturating_mul(firings))
        });
        if most > 0 && most < size.value {
            let title =
                format!("pool `{}` has {}, all its stages together take at most {most}", name.value, size.value);
            report.add(
                Diagnostic::warning(DEAD.code, size.span, title)
                    .note("the pool bounds nothing: every firing that could run finds its permits")
                    .help(format!("lower the pool to {most} or less, or give its stages more workers")),
            );
        }
    }
    for (position, group) in file.groups.items.iter().enumerate() {
        if !graph.stages.iter().any(|stage| stage.group == Some(position)) {
            let title = format!("no stage runs on group `{}`", group.name.value);
            report.add(
                Diagnostic::warning(DEAD.code, group.name.span, title).help("remove it, or write `on` in a stage"),
            );
        }
    }
    parts_of_the_sku(graph, report);
}

fn parts_of_the_sku(graph: &Resolved<'_>, report: &mut Report) {
    let (Some(sku), Some(choice)) = (graph.sku, &graph.file.sku) else { return };
    if !matches!(choice.value, SkuChoice::Named(_)) {
        return;
    }
    for (device, gpu) in sku.gpus.iter().enumerate() {
        let uses = |stage: &crate::resolve::Stage<'_>| {
            stage.stated.device.is_some_and(|own| own.value as usize == device)
                && stage.branches.iter().any(|branch| branch.tags.has("gpu"))
        };
        if !graph.stages.iter().any(uses) {
            let title = format!("no stage runs on device {device} of the SKU \"{}\", {}", sku.name, gpu.name.value);
            report.add(
                Diagnostic::warning(DEAD.code, choice.span, title)
                    .here("has the device")
                    .help(match on_a_device(graph) {
                        Some((stage, backend)) => format!(
                            "give the stage `{stage}` `backend: \"{backend}\", device: {device}`, or choose a SKU without it"
                        ),
                        None => "the catalogue has no implementation of these stages for a device: choose a SKU without it"
                            .to_owned(),
                    }),
            );
        }
    }
    let used = graph.stages.iter().filter_map(|stage| graph.file.groups.items[stage.group?].ccds.as_ref());
    let used: Vec<&Ccds> = used.map(|ccds| &ccds.value).collect();
    if used.is_empty() || used.contains(&&Ccds::All) {
        return;
    }
    let covered = |ccd: &u32| used.iter().any(|ccds| matches!(ccds, Ccds::List(list) if list.contains(ccd)));
    let idle: Vec<u32> = (0..sku.ccds.value).filter(|ccd| !covered(ccd)).collect();
    if !idle.is_empty() {
        let title = format!("no stage is placed on {} of the SKU \"{}\"", super::placement::ccds(&idle), sku.name);
        report.add(Diagnostic::warning(DEAD.code, choice.span, title).here("has them").help("add them to a group"));
    }
}

/// A stage of the graph that the catalogue has an implementation on a device for, with its backend.
fn on_a_device<'g>(graph: &'g Resolved<'_>) -> Option<(&'g str, &'g str)> {
    let on_device = graph.catalogue.implementations.iter().filter(|one| one.tags.has("gpu"));
    let mut names = on_device.map(|one| (one.stage.value.as_str(), one.backend.value.as_str()));
    names.find(|(name, _)| graph.stages.iter().any(|stage| stage.name() == *name))
}

/// Warns of tokens that a stage takes twice.
pub fn redundant(graph: &Resolved<'_>, report: &mut Report) {
    let mut seen = std::collections::HashMap::new();
    for edge in &graph.edges {
        let Some(first) = seen.insert((edge.from, edge.to), edge) else { continue };
        // Two edges to one port are another fault.
        if first.port == edge.port {
            continue;
        }
        let (from, to) = (graph.stages[edge.from].name(), graph.stages[edge.to].name());
        let ports = graph.stages[edge.to].ports();
        let (one, other) = (&ports[first.port].name, &ports[edge.port].name);
        let title = format!("stage `{to}` takes the same token of `{from}` at the ports `{one}` and `{other}`");
        report.add(
            Diagnostic::warning(REDUNDANT.code, edge.stated.to.span, title)
                .here("again")
                .and(first.stated.to.span, "once")
                .help("lead one of the edges from another stage"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::testing::{titles, with};
    use crate::load::{SkuFiles, load};
    use crate::source::Source;

    #[test]
    fn pools_groups_and_permits() {
        assert_eq!(titles(DEAD.bad.text()), ["no stage takes from pool `pcie`", "no stage runs on group `msm`"]);
        let text = with(examples::SMALL, "\"mem_heavy\": 1,", "\"mem_heavy\": 5,");
        assert_eq!(titles(&text), ["pool `mem_heavy` has 5, all its stages together take at most 1"]);
    }

    #[test]
    fn devices_and_ccds_of_the_sku() {
        let text = with(examples::SMALL, "sku: any", "sku: \"small\"").replace("\"*\"", "\"0\"");
        let found = titles(&text);
        assert!(
            found.contains(&"no stage runs on device 0 of the SKU \"small\", NVIDIA GeForce RTX 5070 Ti".to_owned())
        );
        assert!(found.contains(&"no stage is placed on CCD 1 of the SKU \"small\"".to_owned()), "{found:?}");
    }

    #[test]
    fn no_backend_is_advised_that_there_is_not() {
        let graph = with(examples::SMALL, "sku: any", "sku: \"small\"");
        let help = |catalogue: Source| {
            let outcome =
                load(Source::inline("graph.ron", graph.as_str()), catalogue, SkuFiles::Known(&examples::SKUS));
            outcome.diagnostics.iter().map(|found| found.help[0].clone()).collect::<Vec<_>>()
        };
        assert_eq!(
            help(examples::catalogue()),
            ["give the stage `spmv` `backend: \"cuda\", device: 0`, or choose a SKU without it"]
        );
        let program = Source::inline("catalogue.ron", include_str!("../../../../stages/catalogue.ron"));
        assert_eq!(
            help(program),
            ["the catalogue has no implementation of these stages for a device: choose a SKU without it"]
        );
    }

    #[test]
    fn the_same_token_twice() {
        assert_eq!(
            titles(REDUNDANT.bad.text()),
            ["stage `compare` takes the same token of `spmv` at the ports `left` and `right`"]
        );
    }
}
