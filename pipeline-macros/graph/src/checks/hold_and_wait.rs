//! PL0403: stages that hold what others wait for, in a circle.
//!
//! The wait-for graph has a node for every finite thing: the workers of a stage, the permits of a pool, the places of an
//! edge. An arc leads from a thing to another if one of the first may be held by what waits for one of the second. A
//! deadlock needs a circle of arcs. A stage that keeps the discipline holds nothing while it waits, so arcs come from
//! tokens that keep their places alone, and these lead down the graph: without opt-outs there is no circle.

mod circles;
mod story;
mod waits;

use std::cell::Cell;

use self::circles::circles;
use self::story::{Told, thing_name};
use self::waits::{Thing, Waits};
use super::{Check, Example, Planned, examples};
use crate::diagnostic::{Diagnostic, Report};
use crate::plan::OptOuts;

/// The page.
pub const CHECK: Check = Check {
    code: "PL0403",
    name: "hold-and-wait",
    rule: "Stages that hold something while they wait never wait in a circle.",
    why: "A firing takes its worker, its permits and the places of its output at once and never waits after that; so it \
          holds nothing while it waits. `acquire: InOrder([…])` waits for a permit with the permits before it in hand, and \
          `send: Blocking` waits for a place with worker and permits in hand; with them a circle can close. The places of a \
          join need care of their own: reserved at the fork, a token that came in finds all of them; taken when a stage \
          sends, tokens of other keys may fill one while the join waits for the partner that finds no room. A pool from \
          which a firing lacks permits is kept for it under all policies that order firings, and is judged so under every policy: \
          another may be set for a run without building anew. The error tells one round of the circle.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 1, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all"),
        Stage("spmv", on: "all", workers: 2, needs: { "mem_heavy": 1 }, send: Blocking),
        Stage("scale", on: "all", needs: { "mem_heavy": 1 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv"), Edge("spmv", "scale", capacity: 1)],
)"#,
    ),
    good: examples::FORK_AND_JOIN,
    fix: "Remove the opt-out that the error marks, or break the circle: the same order of pools in all stages, a pool \
          that is large enough for all firings at once, a pool of its own for the stage behind the edge.",
    run: None,
};

/// Judges a plan in which a stage departs from the discipline. What `piling` stages release before they send has been
/// reported; they are judged as if they did not, so that circles that go with it are not reported too.
pub fn judge(graph: &Planned<'_>, piling: &[usize], report: &mut Report) {
    let mut repaired;
    let graph = if piling.is_empty() {
        *graph
    } else {
        repaired = graph.plan.clone();
        piling.iter().for_each(|stage| repaired.stages[*stage].opt_outs.before_send = false);
        Planned { plan: &repaired, ..*graph }
    };
    let graph = &graph;
    if graph.plan.stages.iter().all(|stage| stage.opt_outs.none()) {
        return;
    }
    let waits = Waits::of(graph);
    for circle in circles(&waits) {
        report.add(tell(&waits, &circle));
    }
}

fn tell(waits: &Waits<'_>, circle: &[Thing]) -> Diagnostic {
    let graph = &waits.graph;
    let round = circle.iter().zip(circle.iter().cycle().skip(1));
    let mut told: Vec<Told> = round.filter_map(|(from, to)| waits.told(*from, *to)).collect();
    // The story begins with the stage that departs from the discipline.
    let opts =
        |arc: &Told| arc.label.starts_with("holds") || arc.label.starts_with("waits") || arc.label.starts_with("takes");
    let first = told.iter().position(opts).unwrap_or(0);
    told.rotate_left(first);
    let names: Vec<String> =
        (0..=circle.len()).map(|position| thing_name(graph.plan, circle[(position + first) % circle.len()])).collect();
    let (first, others) = names.split_first().expect("a circle has a node");
    let title =
        format!("stages can wait for each other for ever: {first} waits for {}", others.join(", which waits for "));
    let mut found = Diagnostic::error(CHECK.code, told[0].at, title).here(told[0].label.clone());
    for arc in told.iter().skip(1).filter(|arc| arc.at != told[0].at) {
        found = found.and(arc.at, arc.label.clone());
    }
    let story: Vec<String> =
        told.iter().enumerate().map(|(step, arc)| format!("{}. {}", step + 1, arc.sentence)).collect();
    found = found.note(format!("{}\nand so on, in a circle", story.join("\n")));
    advise(waits, circle, found)
}

/// The most arcs that are looked at while ways out are tried, all tries together.
const MOST_WORK: usize = 8_000_000;

/// Names what breaks the circle: each way out was tried on the plan, so that the advice is true.
fn advise(waits: &Waits<'_>, circle: &[Thing], mut found: Diagnostic) -> Diagnostic {
    let (graph, plan) = (&waits.graph, waits.graph.plan);
    // Another plan of the same graph has about as many arcs.
    let tries_left = Cell::new(MOST_WORK / waits.work().max(1));
    let breaks = |change: &dyn Fn(usize, &mut OptOuts)| {
        let Some(left) = tries_left.get().checked_sub(1) else { return false };
        tries_left.set(left);
        let mut changed = plan.clone();
        changed.stages.iter_mut().enumerate().for_each(|(number, stage)| change(number, &mut stage.opt_outs));
        let left = circles(&Waits::of(&Planned { plan: &changed, ..*graph }));
        !left.iter().flatten().any(|thing| circle.contains(thing))
    };
    let names = |stages: &[usize]| crate::words::listed(stages.iter().map(|stage| plan.stages[*stage].name.as_str()));
    let in_circle = |pool: &usize| circle.contains(&Thing::Permits(*pool));
    let orders =
        |stage: &usize| plan.stages[*stage].opt_outs.in_order.as_ref().is_some_and(|order| order.iter().any(in_circle));
    let orders: Vec<usize> = (0..plan.stages.len()).filter(orders).collect();
    // Who puts tokens on an edge of the circle, and who would have reserved their places.
    let ends = circle.iter().filter_map(|thing| if let Thing::Places(edge) = thing { Some(*edge) } else { None });
    let ends = ends.flat_map(|edge| [plan.edges[edge].from, plan.edges[edge].reserved_by]);
    let mut sends: Vec<usize> = ends.filter(|stage| !plan.stages[*stage].opt_outs.reserves()).collect();
    sends.sort_unstable();
    sends.dedup();
    let reserve = |opt_outs: &mut OptOuts| (opt_outs.blocking, opt_outs.before_send) = (false, false);
    let mut advised = false;
    let in_one_order = |number: usize, opt_outs: &mut OptOuts| {
        if orders.contains(&number) {
            opt_outs.in_order.iter_mut().for_each(|order| order.sort_unstable());
        }
    };
    if orders.len() > 1 && breaks(&in_one_order) {
        found = found.help(format!("name the pools of {} in the same order", names(&orders)));
        advised = true;
    }
    let without_orders = |number: usize, opt_outs: &mut OptOuts| {
        if orders.contains(&number) {
            opt_outs.in_order = None;
        }
    };
    if !orders.is_empty() && breaks(&without_orders) {
        let stages = names(&orders);
        found = found.help(format!("remove `acquire` from {stages}: a firing then takes all its permits at once"));
        advised = true;
    }
    let alone = |stage: &usize| {
        breaks(&|number, opt_outs| {
            if number == *stage {
                reserve(opt_outs)
            }
        })
    };
    let enough: Vec<usize> = sends.iter().copied().filter(alone).take(1).collect();
    let of = if enough.is_empty() { &sends } else { &enough };
    let reserving = |number: usize, opt_outs: &mut OptOuts| {
        if of.contains(&number) {
            reserve(opt_outs);
        }
    };
    if !of.is_empty() && breaks(&reserving) {
        found = found.help(format!(
            "remove the opt-out from {}: a firing then has its places before it starts, and holds nothing while it waits",
            names(of)
        ));
        advised = true;
    }
    if !advised {
        let all: Vec<usize> = (0..plan.stages.len()).filter(|stage| !plan.stages[*stage].opt_outs.none()).collect();
        found = found.help(format!("remove the opt-outs from {}: without them there is no circle", names(&all)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::testing::{diagnostics, titles, with};

    #[test]
    fn a_permit_across_a_blocking_send_is_told_as_a_story() {
        let found = diagnostics(CHECK.bad.text());
        assert_eq!(
            found[0].title,
            "stages can wait for each other for ever: `mem_heavy` waits for room in `spmv` -> `scale`, which waits for `mem_heavy`"
        );
        assert_eq!(
            found[0].notes,
            ["1. `spmv` holds `mem_heavy` while it waits for room in `spmv` -> `scale`\n\
              2. a token keeps its place in `spmv` -> `scale` until `scale` gets a permit of `mem_heavy`\n\
              and so on, in a circle"]
        );
    }

    #[test]
    fn enough_permits_for_everybody_break_the_circle() {
        let enough = CHECK.bad.text().replace("\"mem_heavy\": 1, \"dealloc\"", "\"mem_heavy\": 3, \"dealloc\"");
        assert_eq!(titles(&enough), [""; 0]);
    }

    #[test]
    fn a_pool_of_its_own_breaks_the_circle() {
        let own =
            CHECK.bad.text().replace("\"dealloc\": 1 },\n    groups", "\"dealloc\": 1, \"scale\": 1 },\n    groups");
        let own = own.replace(
            "Stage(\"scale\", on: \"all\", needs: { \"mem_heavy\": 1 })",
            "Stage(\"scale\", on: \"all\", needs: { \"scale\": 1 })",
        );
        assert_eq!(titles(&own), [""; 0]);
    }

    const CATALOGUE: &str = r#"Catalogue(version: 1, tokens: { "A": (bytes: "8"), "B": (bytes: "8"), "C": (bytes: "8") },
        stages: [
            Implementation(stage: "src", backend: "host", tags: [], inputs: [], output: "A"),
            Implementation(stage: "b", backend: "host", tags: [], inputs: [("a", "A")], output: "B"),
            Implementation(stage: "x", backend: "host", tags: [], inputs: [("a", "A")], output: "C"),
            Implementation(stage: "z", backend: "host", tags: [], inputs: [("b", "B")], output: "C"),
            Implementation(stage: "y", backend: "host", tags: [], inputs: [("c", "C")], output: "C"),
            Implementation(stage: "w", backend: "host", tags: [], inputs: [("b", "B")], output: "B"),
            Implementation(stage: "jt", backend: "host", tags: [], inputs: [("a", "A"), ("b", "B")], output: "C"),
            Implementation(stage: "jd", backend: "host", tags: [], inputs: [("b", "B"), ("c", "C")], output: "C"),
            Implementation(stage: "dealloc", backend: "host", tags: ["unmaps"], inputs: [("dead", "Dead")], output: None),
        ])"#;

    fn of_this_catalogue(pools: &str, stages: &str, edges: &str) -> Vec<Diagnostic> {
        let text = format!(
            r#"Graph(version: 1, sku: any, pools: {{ {pools} "dealloc": 1 }},
                stages: [{stages}, Stage("dealloc", needs: {{ "dealloc": 1 }})], edges: [{edges}])"#
        );
        let source = crate::Source::inline;
        let skus = crate::SkuFiles::Known(&[]);
        crate::load(source("graph.ron", text), source("catalogue.ron", CATALOGUE.to_owned()), skus).diagnostics
    }

    #[test]
    fn a_partner_that_was_put_out_before_is_not_waited_for() {
        let tokens = of_this_catalogue(
            "",
            r#"Stage("src"), Stage("b", send: Blocking), Stage("jt")"#,
            r#"Edge("src", "b"), Edge("src", "jt"), Edge("b", "jt")"#,
        );
        assert_eq!(tokens, []);
    }

    #[test]
    fn the_fork_that_reserves_nothing_is_marked_and_named() {
        let found = of_this_catalogue(
            "",
            r#"Stage("src", send: Blocking), Stage("b"), Stage("x"), Stage("jd")"#,
            r#"Edge("src", "b"), Edge("src", "x"), Edge("b", "jd"), Edge("x", "jd")"#,
        );
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].labels.len(), 1, "{found:?}");
        assert!(found[0].help[0].starts_with("remove the opt-out from `src`:"), "{found:?}");
    }

    #[test]
    fn advice_that_leaves_the_circle_is_not_given() {
        let found = of_this_catalogue(
            r#""p": 1, "o": 1,"#,
            r#"Stage("src", workers: 3, send: Blocking), Stage("b", workers: 3, needs: { "p": 1 }, send: Blocking),
               Stage("z", workers: 3, needs: { "p": 1, "o": 1 }, acquire: InOrder(["o", "p"]))"#,
            r#"Edge("src", "b", capacity: 1), Edge("b", "z", capacity: 4)"#,
        );
        let help: Vec<&str> = found.iter().flat_map(|found| found.help.iter().map(String::as_str)).collect();
        assert_eq!(
            help,
            [
                "remove the opt-out from `b`: a firing then has its places before it starts, and holds nothing while it waits"
            ]
        );
    }

    #[test]
    fn what_is_kept_for_the_oldest_is_waited_for() {
        let graph = |x: &str| {
            of_this_catalogue(
                r#""p": 1, "q": 1,"#,
                &format!(
                    r#"Stage("src"), Stage("b", needs: {{ "p": 1 }}, send: Blocking), Stage("w", needs: {{ "q": 1 }}),
                       Stage("x"), Stage("y", needs: {{ {x} }}), Stage("jd")"#
                ),
                r#"Edge("src", "b", capacity: 9), Edge("src", "x", capacity: 9), Edge("x", "y", capacity: 9),
                   Edge("b", "w", capacity: 1), Edge("w", "jd", capacity: 9), Edge("y", "jd", capacity: 9)"#,
            )
        };
        assert_eq!(graph(r#""q": 1"#), []);
        let found = graph(r#""p": 1, "q": 1"#);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].notes[0].contains("`q` is kept for `y`, whose turn it is, while it waits for `p`"),
            "{found:?}"
        );
    }

    #[test]
    fn a_blocking_send_before_a_join_can_shut_the_partner_out() {
        let text = with(
            examples::FORK_AND_JOIN,
            "Stage(\"spmv\", on: \"all\", needs: { \"mem_heavy\": 1 })",
            "Stage(\"spmv\", on: \"all\", workers: 2, needs: { \"mem_heavy\": 1 }, send: Blocking)",
        );
        let titles = titles(&text);
        assert_eq!(titles.len(), 1, "{titles:?}");
        assert!(titles[0].contains("room in `spmv` -> `gpu_ntt_msm`"), "{titles:?}");
    }

    #[test]
    fn opposite_orders_are_refused_and_equal_ones_are_not() {
        let order = |first: &str, second: &str| {
            let text = with(examples::FORK_AND_JOIN, "\"mem_heavy\": 2,", "\"mem_heavy\": 2, \"link\": 1,");
            let text = text.replace("Stage(\"spmv\", on: \"all\", needs: { \"mem_heavy\": 1 })",
                &format!("Stage(\"spmv\", on: \"all\", needs: {{ \"mem_heavy\": 2, \"link\": 1 }}, acquire: InOrder([{first}]))"));
            text.replace("Stage(\"prep_msm\", on: \"all\", needs: { \"mem_heavy\": 1 })",
                &format!("Stage(\"prep_msm\", on: \"all\", needs: {{ \"mem_heavy\": 2, \"link\": 1 }}, acquire: InOrder([{second}]))"))
        };
        let (one, other) = ("\"mem_heavy\", \"link\"", "\"link\", \"mem_heavy\"");
        assert_eq!(titles(&order(one, one)), [""; 0]);
        assert_eq!(
            titles(&order(one, other)),
            ["stages can wait for each other for ever: `mem_heavy` waits for `link`, which waits for `mem_heavy`"]
        );
    }

    /// A source, rows of `wide` stages that read all stages of the row before, and a sink.
    fn dense(rows: usize, wide: usize, stage: &str) -> (String, String) {
        let port = |of: usize| format!("(\"p{of}\", \"T{of}\")");
        let all: Vec<String> = (0..wide).map(port).collect();
        let (all, tokens) =
            (all.join(", "), (0..wide).map(|of| format!("\"T{of}\": (bytes: \"8\")")).collect::<Vec<_>>());
        let mut implementations = String::from(
            r#"Implementation(stage: "s", backend: "host", tags: [], inputs: [], output: "S"),
               Implementation(stage: "dealloc", backend: "host", tags: ["unmaps"], inputs: [("dead", "Dead")], output: None),"#,
        );
        let (mut stages, mut edges) = (String::from(r#"Stage("s"),"#), String::new());
        let name = dense_name;
        for row in 0..rows {
            for at in 0..wide {
                let (own, inputs) = (name(row, at), if row == 0 { "(\"s\", \"S\")" } else { &all });
                implementations.push_str(&format!(
                    "Implementation(stage: \"{own}\", backend: \"host\", tags: [], inputs: [{inputs}], output: \"T{at}\"),\n"
                ));
                stages.push_str(&format!("Stage(\"{own}\"{stage}),\n"));
                for from in 0..if row == 0 { 1 } else { wide } {
                    let from = if row == 0 { "s".to_owned() } else { name(row - 1, from) };
                    edges.push_str(&format!("Edge(\"{from}\", \"{own}\"),\n"));
                }
            }
        }
        implementations.push_str(&format!(
            "Implementation(stage: \"end\", backend: \"host\", tags: [], inputs: [{all}], output: \"End\"),"
        ));
        (0..wide).for_each(|at| edges.push_str(&format!("Edge(\"{}\", \"end\"),\n", name(rows - 1, at))));
        let catalogue = format!(
            "Catalogue(version: 1, tokens: {{ \"S\": (bytes: \"8\"), \"End\": (bytes: \"8\"), {} }}, stages: [{implementations}])",
            tokens.join(", ")
        );
        let graph = format!(
            "Graph(version: 1, sku: any, pools: {{ \"dealloc\": 1, \"q\": 2 }}, stages: [{stages} Stage(\"end\", needs: {{ \"q\": 1 }}), \
             Stage(\"dealloc\", needs: {{ \"dealloc\": 1 }})], edges: [{edges}])"
        );
        (graph, catalogue)
    }

    fn dense_name(row: usize, at: usize) -> String {
        format!("r{row}x{at}")
    }

    /// What is looked at grows as stages × edges, not as their square; a clock would say less.
    #[test]
    fn dense_graphs_take_as_many_arcs_as_tokens_wait_for_starts() {
        for stage in [", send: Blocking", ", send: Blocking, needs: { \"q\": 1 }"] {
            let (graph, catalogue) = dense(10, 20, stage);
            let (mut sources, mut report) = (crate::source::Sources::default(), Report::default());
            let mut read = |name: &str, text: String| {
                let file = sources.add(crate::Source::inline(name, text));
                crate::ron::read(file, &sources, &mut Report::default())
            };
            let (graph, catalogue) = (read("graph.ron", graph), read("catalogue.ron", catalogue));
            let graph = crate::decode::graph(&graph, &mut report).expect("it is read");
            let catalogue = crate::decode::catalogue(&catalogue, &mut report).expect("it is read");
            let graph = crate::resolve::resolve(&graph, &catalogue, None, &mut report);
            let plan = crate::plan::plan(&graph, "graph.ron", String::new());
            assert_eq!((plan.stages.len(), plan.edges.len()), (203, 3640));
            let planned = Planned { graph: &graph, plan: &plan };
            let waits = Waits::of(&planned);
            assert!(waits.work() > plan.edges.len(), "it has arcs");
            assert!(waits.work() < plan.edges.len() * plan.stages.len() / 2, "{}", waits.work());
            judge(&planned, &[], &mut report);
            let told = report.into_sorted();
            assert!(told.iter().all(|found| found.code == CHECK.code) && !told.is_empty(), "{told:?}");
        }
    }
}
