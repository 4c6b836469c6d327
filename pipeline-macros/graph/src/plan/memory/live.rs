//! How many tokens can be alive at once.

use crate::plan::{Edge, Plan, Role, StagePlan};

/// The most tokens of each stage that can be alive at once.
#[must_use]
pub fn live_tokens(plan: &Plan) -> Vec<u64> {
    let reach = Reach::of(plan);
    let joins: Vec<(usize, usize, &Edge)> = plan
        .edges
        .iter()
        .enumerate()
        .filter(|(_, edge)| edge.reserved_by != edge.from || plan.stages[edge.to].inputs.len() > 1)
        .filter_map(|(number, edge)| Some((plan.reserver(number)?, edge.to, edge)))
        .collect();
    let live = |(position, stage): (usize, &StagePlan)| {
        if stage.role == Role::Sink || stage.outputs.is_empty() {
            return stage.firings();
        }
        let readers = || stage.outputs.iter().map(|edge| plan.edges[*edge].to);
        let places: u64 = stage.outputs.iter().map(|edge| u64::from(plan.edges[*edge].capacity)).sum();
        // A firing reads as many tokens as its port takes at once.
        let read = |edge: usize| {
            let Edge { to, batch, .. } = plan.edges[edge];
            plan.stages[to].firings().saturating_mul(u64::from(batch))
        };
        let firings = stage.outputs.iter().map(|edge| read(*edge)).fold(0, u64::saturating_add);
        let waiting = if stage.opt_outs.reserves() { 0 } else { stage.firings() };
        let by_edges = places.saturating_add(firings).saturating_add(waiting);
        let inside = |join: usize| readers().all(|reader| reader == join || reach.leads(reader, join));
        let by_joins = joins.iter().filter(|(fork, join, _)| {
            (*fork == position || reach.leads(*fork, position)) && reach.leads(position, *join) && inside(*join)
        });
        let by_joins = by_joins.map(|(_, join, edge)| {
            // Batches on the way make one token at the join of several here.
            let each = stage.fires.div_ceil(plan.stages[edge.from].fires.max(1)).max(1);
            let own = stage.outputs.iter().filter(|own| plan.edges[**own].to == *join).map(|own| read(*own)).max();
            u64::from(edge.capacity).saturating_mul(each).saturating_add(own.unwrap_or(0))
        });
        by_joins.min().map_or(by_edges, |least| least.min(by_edges))
    };
    plan.stages.iter().enumerate().map(live).collect()
}

/// Which stage lies behind which.
pub(crate) struct Reach {
    words: usize,
    bits: Vec<u64>,
}

impl Reach {
    /// Stages are in topological order, so one pass from the back sees every stage behind all that follow it.
    pub(crate) fn of(plan: &Plan) -> Self {
        let words = plan.stages.len().div_ceil(64);
        let mut bits = vec![0; words * plan.stages.len()];
        for stage in (0..plan.stages.len()).rev() {
            for edge in &plan.stages[stage].outputs {
                let next = plan.edges[*edge].to;
                bits[stage * words + next / 64] |= 1 << (next % 64);
                for word in 0..words {
                    bits[stage * words + word] |= bits[next * words + word];
                }
            }
        }
        Self { words, bits }
    }

    /// Whether `to` lies behind `from`; no stage lies behind itself.
    pub(crate) fn leads(&self, from: usize, to: usize) -> bool {
        self.bits[from * self.words + to / 64] & (1 << (to % 64)) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::examples;
    use crate::checks::testing::{outcome, with};

    fn live(text: &str) -> Vec<(String, u64)> {
        let plan = outcome(text).plan.expect("the graph is good");
        let live = live_tokens(&plan);
        plan.stages.iter().map(|stage| stage.name.clone()).zip(live).filter(|(name, _)| name != "dealloc").collect()
    }

    #[test]
    fn a_token_has_a_place_or_a_reader() {
        // One place on the edge, one firing of `spmv` behind it; the sink's own token.
        assert_eq!(live(examples::SMALL.text()), [("synthesize".to_owned(), 2), ("spmv".to_owned(), 1)]);
    }

    #[test]
    fn a_firing_reads_a_whole_batch() {
        let text = with(
            examples::SMALL,
            "Edge(\"synthesize\", \"spmv\")",
            "Edge(\"synthesize\", \"spmv\", batch: 20, capacity: 20)",
        );
        assert_eq!(live(&text)[0], ("synthesize".to_owned(), 40));
    }

    #[test]
    fn the_join_lets_no_more_in_than_it_has_places() {
        // Two witnesses have places at the join; the other edges would allow four.
        let expected = [("synthesize", 2), ("spmv", 3), ("prep_msm", 3), ("gpu_ntt_msm", 1)];
        let expected = expected.map(|(name, count)| (name.to_owned(), count));
        assert_eq!(live(examples::FORK_AND_JOIN.text()), expected);
        let wide = with(
            examples::FORK_AND_JOIN,
            "Edge(\"spmv\", \"gpu_ntt_msm\")",
            "Edge(\"spmv\", \"gpu_ntt_msm\", capacity: 9)",
        );
        // The narrower of the join's edges counts.
        assert_eq!(live(&wide)[0].1, 2);
    }
}
