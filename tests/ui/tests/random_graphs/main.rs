//! Random graphs, judged by the checks and then run with stages that do nothing, by the pipeline's threads and by the
//! simulator: what passes neither stalls nor takes more memory than its plan says; what a slip makes of it is refused, or
//! as good.

#![allow(missing_docs)]

mod engines;
mod parts;

use pipeline_graph::{SkuFiles, Source, load};
use pipeline_runtime::policy::{OldestFirst, Policy, RandomLegal};

use engines::{race, simulate, thread};
use parts::{Random, parts};

#[test]
fn what_passes_runs_to_its_end_within_its_memory() {
    let mut passed = 0;
    for seed in 0..400 {
        let mut random = Random(seed);
        let parts = parts(&mut random);
        let Some(plan) = parts.judged() else { continue };
        passed += 1;
        let policy = |second: bool| -> Box<dyn Policy> {
            if second { Box::new(RandomLegal::new(seed)) } else { Box::new(OldestFirst) }
        };
        simulate(&plan, &mut *policy(false), seed);
        simulate(&plan, &mut *policy(true), seed);
        race(&plan, policy(seed % 2 == 1));
        if seed % 8 < 2 {
            thread(&plan, policy(seed % 2 == 1), &mut random);
        }
    }
    assert!(passed > 200, "only {passed} of 400 graphs are lawful: the test says little");
}

#[test]
fn slips_are_caught_or_harmless() {
    let (mut caught, mut harmless) = (0, 0);
    for seed in 0..400 {
        let mut random = Random(seed);
        let mut parts = parts(&mut random);
        if parts.judged().is_none() {
            continue;
        }
        let stage = 1 + random.below(parts.inputs.len() as u64 - 1) as usize;
        match random.below(4) {
            // An edge is lost: its port stays in the catalogue.
            0 => {
                let text = parts.graph();
                let from = parts.inputs[stage][0];
                let start = text.find(&format!("Edge(\"s{from}\", \"s{stage}.p0\"")).expect("the edge is there");
                let end = start + text[start..].find("), ").expect("it ends") + 3;
                let text = format!("{}{}", &text[..start], &text[end..]);
                let catalogue = Source::inline("catalogue.ron", parts.catalogue());
                let outcome = load(Source::inline("graph.ron", text), catalogue, SkuFiles::Known(&[]));
                assert!(outcome.plan.is_none(), "a lost edge passes");
                caught += 1;
                continue;
            }
            1 => parts.pools[0] = (parts.pools[0] / 2).max(1),
            2 => parts.ram /= 4,
            _ => parts.swapped = Some((stage, 0)),
        }
        match parts.judged() {
            None => caught += 1,
            Some(plan) => {
                harmless += 1;
                simulate(&plan, &mut OldestFirst, seed);
                race(&plan, Box::new(OldestFirst));
            }
        }
    }
    assert!(caught > 50 && harmless > 20, "{caught} caught, {harmless} harmless");
}
