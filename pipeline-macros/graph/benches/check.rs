//! How long graphs of 200 stages and 400 edges, and of ten times as much, take to check: `cargo bench -p pipeline-graph`.
//! The first should stay under 100 ms; on one core of an AMD EPYC it takes 5 ms (worst of 20: 7 ms), the second 200 ms.

#[path = "../tests/large.rs"]
#[allow(dead_code)]
mod large;

use std::time::Instant;

use pipeline_graph::{SkuFiles, Source, load};

fn main() {
    const ROUNDS: u32 = 20;
    for stages in [200, 2000] {
        let (graph, catalogue) = large::ladder(stages);
        let mut times: Vec<f64> = (0..ROUNDS)
            .map(|_| {
                let (graph, catalogue) =
                    (Source::inline("ladder.ron", graph.as_str()), Source::inline("catalogue.ron", catalogue.as_str()));
                let clock = Instant::now();
                let outcome = load(graph, catalogue, SkuFiles::Known(&[]));
                assert!(outcome.plan.is_some());
                clock.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        times.sort_by(f64::total_cmp);
        let edges = graph.matches("Edge(").count();
        println!(
            "{stages} stages, {edges} edges: median {:.1} ms, worst {:.1} ms",
            times[times.len() / 2],
            times[times.len() - 1]
        );
    }
}
