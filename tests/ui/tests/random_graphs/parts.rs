//! Random graphs as parts, written down as files.

use std::collections::HashMap;
use std::fmt::Write;

use pipeline_graph::{Plan, SkuFiles, Source, load};

/// Numbers from a seed: SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

/// A graph as parts, so that it can be changed and written down.
#[derive(Clone, Debug)]
pub struct Parts {
    /// Inputs of each stage; the first stage is the source, the last the sink.
    pub inputs: Vec<Vec<usize>>,
    workers: Vec<(u64, u64)>,
    needs: Vec<Vec<(usize, u64)>>,
    holds: Vec<u64>,
    pub pools: Vec<u64>,
    pub ram: u64,
    capacities: HashMap<(usize, usize), u64>,
    /// What stage and port take another token than its producer makes, after a slip.
    pub swapped: Option<(usize, usize)>,
}

pub fn parts(random: &mut Random) -> Parts {
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
    pub fn catalogue(&self) -> String {
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

    pub fn graph(&self) -> String {
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
    pub fn judged(&self) -> Option<Plan> {
        let (graph, catalogue) =
            (Source::inline("graph.ron", self.graph()), Source::inline("catalogue.ron", self.catalogue()));
        load(graph, catalogue, SkuFiles::Known(&[])).plan
    }
}
