//! Random graphs, judged by the checks and then run by the scheduler with stages that do nothing: what passes neither
//! stalls nor has more tokens alive than its memory plan says; what a slip makes of it is refused, or as good.

#![allow(missing_docs)]

use std::collections::HashMap;
use std::fmt::Write;

use pipeline_graph::plan::memory::live_tokens;
use pipeline_graph::{Plan, SkuFiles, Source, load};
use pipeline_runtime::key::{JobId, TokenKey};
use pipeline_runtime::permits::Claim;
use pipeline_runtime::plan as rt;
use pipeline_runtime::policy::{OldestFirst, Policy, RandomLegal};
use pipeline_runtime::scheduler::{Grant, Output, Scheduler};
use pipeline_runtime::stage::{Priority, Sizes};
use proofline_study::plan_of_graph;

/// Numbers from a seed: SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

/// A graph as parts, so that it can be changed and written down.
#[derive(Clone, Debug)]
struct Parts {
    /// Inputs of each stage; the first stage is the source, the last the sink.
    inputs: Vec<Vec<usize>>,
    workers: Vec<(u64, u64)>,
    needs: Vec<Vec<(usize, u64)>>,
    holds: Vec<u64>,
    pools: Vec<u64>,
    ram: u64,
    capacities: HashMap<(usize, usize), u64>,
    /// What stage and port take another token than its producer makes, after a slip.
    swapped: Option<(usize, usize)>,
}

fn parts(random: &mut Random) -> Parts {
    let inner = 1 + random.below(7) as usize;
    let mut inputs: Vec<Vec<usize>> = vec![Vec::new()];
    for stage in 1..=inner {
        let mut from: Vec<usize> = (0..1 + random.below(3)).map(|_| random.below(stage as u64) as usize).collect();
        from.sort_unstable();
        from.dedup();
        inputs.push(from);
    }
    let read: Vec<usize> = inputs.iter().flatten().copied().collect();
    inputs.push((0..=inner).filter(|stage| !read.contains(stage)).collect());
    let pools: Vec<u64> = (0..2).map(|_| 1 + random.below(4)).collect();
    let count = inputs.len();
    let needs = (0..count).map(|_| {
        let own: Vec<(usize, u64)> =
            (0..2).flat_map(|pool| (random.below(2) == 0).then(|| (pool, 1 + random.below(pools[pool])))).collect();
        own
    });
    let needs = needs.collect();
    let capacities = inputs.iter().enumerate().flat_map(|(to, from)| from.iter().map(move |from| (*from, to)));
    let capacities: Vec<(usize, usize)> = capacities.collect();
    let capacities =
        capacities.into_iter().flat_map(|edge| (random.below(2) == 0).then(|| (edge, 1 + random.below(4)))).collect();
    Parts {
        workers: (0..count).map(|_| (1 + random.below(3), 1 + random.below(2))).collect(),
        holds: (0..count).map(|_| random.below(3)).collect(),
        ram: 8 + random.below(40),
        needs,
        pools,
        capacities,
        inputs,
        swapped: None,
    }
}

impl Parts {
    fn catalogue(&self) -> String {
        let mut text = String::from("Catalogue(version: 1, tokens: {");
        for stage in 0..self.inputs.len() {
            let _ = write!(text, "\"T{stage}\": (bytes: \"{} * aux\"), ", stage + 1);
        }
        text.push_str("}, stages: [");
        for (stage, inputs) in self.inputs.iter().enumerate() {
            let ports = inputs.iter().enumerate().map(|(port, from)| {
                let token = if self.swapped == Some((stage, port)) { stage } else { *from };
                format!("(\"p{port}\", \"T{token}\")")
            });
            let ports: Vec<String> = ports.collect();
            let _ = write!(
                text,
                "Implementation(stage: \"s{stage}\", backend: \"host\", tags: [], inputs: [{}], output: \"T{stage}\"), ",
                ports.join(", ")
            );
        }
        text.push_str("Implementation(stage: \"dealloc\", backend: \"host\", tags: [\"unmaps\"], inputs: [(\"dead\", \"Dead\")], output: None)])");
        text
    }

    fn graph(&self) -> String {
        let mut text = format!(
            "Graph(version: 1, sku: any, sizes: {{ \"c\": (aux: 1) }}, pools: {{ \"dealloc\": 1, \"ram\": \"{} B\", ",
            self.ram
        );
        for (pool, size) in self.pools.iter().enumerate() {
            let _ = write!(text, "\"p{pool}\": {size}, ");
        }
        text.push_str("}, stages: [");
        for stage in 0..self.inputs.len() {
            let (workers, in_flight) = self.workers[stage];
            let needs: Vec<String> =
                self.needs[stage].iter().map(|(pool, weight)| format!("\"p{pool}\": {weight}")).collect();
            let holds = match self.holds[stage] {
                0 => String::new(),
                bytes => format!(", holds: {{ \"ram\": \"{bytes} * aux\" }}"),
            };
            let _ = write!(
                text,
                "Stage(\"s{stage}\", workers: {workers}, in_flight: {in_flight}, needs: {{ {} }}{holds}), ",
                needs.join(", ")
            );
        }
        text.push_str("Stage(\"dealloc\", needs: { \"dealloc\": 1 })], edges: [");
        for (to, inputs) in self.inputs.iter().enumerate() {
            for (port, from) in inputs.iter().enumerate() {
                let capacity =
                    self.capacities.get(&(*from, to)).map(|places| format!(", capacity: {places}")).unwrap_or_default();
                let _ = write!(text, "Edge(\"s{from}\", \"s{to}.p{port}\"{capacity}), ");
            }
        }
        text.push_str("])");
        text
    }

    /// Its plan, if the checks let it pass.
    fn judged(&self) -> Option<Plan> {
        let (graph, catalogue) =
            (Source::inline("graph.ron", self.graph()), Source::inline("catalogue.ron", self.catalogue()));
        load(graph, catalogue, SkuFiles::Known(&[])).plan
    }
}

/// Runs a plan to its end, firings ending in a random order, and watches how many tokens are alive.
fn run(plan: &Plan, random: &mut Random, policy: &mut dyn Policy) {
    const JOBS: u64 = 3;
    const PARTITIONS: u32 = 5;
    // Nothing here departs from the discipline, which the runtime could not follow.
    assert!(plan.stages.iter().all(|stage| stage.opt_outs.none()) && plan.edges.iter().all(|edge| edge.batch == 1));
    let (made, most) = (plan_of_graph(plan), live_tokens(plan));
    let mut scheduler = Scheduler::new(&made).expect("the workspace fits");
    for job in 0..JOBS {
        scheduler
            .submit(JobId(job), PARTITIONS, &Sizes { aux: 1, ..Sizes::default() }, Priority::Normal, 0)
            .expect("a partition fits");
    }
    let mut running: Vec<Grant> = Vec::new();
    // Readers that a token still waits for, by stage and key; a token that is being made waits for all of them.
    let mut alive: HashMap<(usize, TokenKey), usize> = HashMap::new();
    let mut holds: HashMap<(usize, TokenKey), Claim> = HashMap::new();
    let mut ended = vec![0_u64; made.stages.len()];
    loop {
        let mut grants = Vec::new();
        scheduler.grant(policy, 0, &mut grants).expect("the policy keeps the rules");
        for grant in &grants {
            alive.insert((grant.stage, grant.key), made.stages[grant.stage].outputs.len().max(1));
            let count = alive.keys().filter(|(stage, _)| *stage == grant.stage).count() as u64;
            assert!(
                count <= most[grant.stage],
                "stage {} has {count} tokens alive, planned {}",
                grant.stage,
                most[grant.stage]
            );
        }
        running.extend(grants);
        if running.is_empty() {
            break;
        }
        let grant = running.swap_remove(random.below(running.len() as u64) as usize);
        let own = &made.stages[grant.stage];
        let is_sink = own.role == rt::Role::Sink;
        let hold = scheduler.hold_of(grant.stage, grant.key.job);
        own.outputs.iter().for_each(|edge| scheduler.arrived(*edge, grant.key, false, 0));
        scheduler.ended(&grant, if is_sink { Output::Tombstone } else { Output::Token }, 0);
        if is_sink {
            alive.remove(&(grant.stage, grant.key));
        } else {
            holds.insert((grant.stage, grant.key), hold);
        }
        for input in &own.inputs {
            let token = (made.edges[*input].from, grant.key);
            let left = alive.get_mut(&token).expect("a token that is read is alive");
            *left -= 1;
            if *left == 0 {
                alive.remove(&token);
                scheduler.hold_came_home(&holds.remove(&token).unwrap_or_default());
            }
        }
        ended[grant.stage] += 1;
    }
    assert!(scheduler.is_idle(), "it stands still: {ended:?} of {} firings each", JOBS * u64::from(PARTITIONS));
    let live = made.stages.iter().zip(&ended).filter(|(stage, _)| stage.role != rt::Role::Dealloc);
    live.for_each(|(stage, count)| assert_eq!(*count, JOBS * u64::from(PARTITIONS), "{}", stage.name));
}

#[test]
fn what_passes_runs_to_its_end_within_its_memory() {
    let mut passed = 0;
    for seed in 0..400 {
        let mut random = Random(seed);
        let parts = parts(&mut random);
        let Some(plan) = parts.judged() else { continue };
        passed += 1;
        run(&plan, &mut random, &mut OldestFirst);
        run(&plan, &mut random, &mut RandomLegal::new(seed));
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
                run(&plan, &mut random, &mut OldestFirst);
            }
        }
    }
    assert!(caught > 50 && harmless > 20, "{caught} caught, {harmless} harmless");
}
