//! What a circle is told with: a sentence for each arc, and the place that shows it.

use super::waits::{Held, Keep, Thing, Waits};
use crate::model::Stage;
use crate::plan::Plan;
use crate::source::Span;

/// Why the one waits for the other.
pub(super) struct Told {
    pub(super) sentence: String,
    pub(super) at: Span,
    pub(super) label: String,
}

pub(super) fn edge_name(plan: &Plan, edge: usize) -> String {
    let edge = &plan.edges[edge];
    format!("`{}` -> `{}`", plan.stages[edge.from].name, plan.stages[edge.to].name)
}

pub(super) fn thing_name(plan: &Plan, thing: Thing) -> String {
    match thing {
        Thing::Workers(stage) => format!("a worker of `{}`", plan.stages[stage].name),
        Thing::Permits(pool) => format!("`{}`", plan.pools[pool].name),
        Thing::Places(edge) => format!("room in {}", edge_name(plan, edge)),
    }
}

impl Waits<'_> {
    /// The arc from one thing to another; `None` if there is none. Of several, the first that was found.
    pub(super) fn told(&self, from: Thing, to: Thing) -> Option<Told> {
        let Thing::Places(edge) = from else {
            return self.held.get(&(from, to)).map(|why| self.of_a_firing(*why));
        };
        let leads = |keep: &&Keep| match **keep {
            Keep::Start(stage) | Keep::PartnersStart(stage) => self.starts[stage].contains(&to),
            Keep::Partner(other) => to == Thing::Places(other),
        };
        self.keeps[edge].iter().find(leads).map(|keep| self.of_a_token(edge, *keep, to))
    }

    fn of_a_firing(&self, why: Held) -> Told {
        let (plan, graph) = (self.graph.plan, self.graph);
        let name = |stage: usize| &plan.stages[stage].name;
        let pool = |pool: usize| &plan.pools[pool].name;
        let in_order = |stage: usize| {
            let stated = graph.stated(stage);
            stated.in_order.as_ref().map_or(stated.name.span, |order| order.span)
        };
        let sending = |stage: usize| graph.stated(stage).blocking.unwrap_or(graph.stated(stage).name.span);
        let with_all = || "waits for room with all that it has".to_owned();
        match why {
            Held::Kept { stage, pool: kept, lacked } => {
                let (has, wanted) = (pool(kept), pool(lacked));
                let who = name(stage);
                Told {
                    sentence: format!("`{has}` is kept for `{who}`, whose turn it is, while it waits for `{wanted}`"),
                    at: graph.stated(stage).name.span,
                    label: format!("`{has}` is kept while this waits for `{wanted}`"),
                }
            }
            Held::WorkerInOrder { stage, wanted } => Told {
                sentence: format!(
                    "`{}` keeps its worker while it waits for a permit of `{}`",
                    name(stage),
                    pool(wanted)
                ),
                at: in_order(stage),
                label: "waits with what it has".to_owned(),
            },
            Held::PermitInOrder { stage, has, wanted } => {
                let (has, wanted) = (pool(has), pool(wanted));
                Told {
                    sentence: format!("`{}` holds `{has}` while it waits for `{wanted}`", name(stage)),
                    at: in_order(stage),
                    label: format!("holds `{has}`, waits for `{wanted}`"),
                }
            }
            Held::WorkerSending { stage, edge } => Told {
                sentence: format!(
                    "`{}` keeps its worker while it waits for room in {}",
                    name(stage),
                    edge_name(plan, edge)
                ),
                at: sending(stage),
                label: with_all(),
            },
            Held::PermitSending { stage, has, edge } => Told {
                sentence: format!(
                    "`{}` holds `{}` while it waits for room in {}",
                    name(stage),
                    pool(has),
                    edge_name(plan, edge)
                ),
                at: sending(stage),
                label: with_all(),
            },
        }
    }

    fn of_a_token(&self, edge: usize, keep: Keep, to: Thing) -> Told {
        let plan = self.graph.plan;
        let room = edge_name(plan, edge);
        match keep {
            Keep::Start(stage) => self.of_a_start(&format!("a token keeps its place in {room} until"), stage, to),
            Keep::PartnersStart(stage) => {
                let start = format!("a token in {room} waits for its partner, which waits until");
                self.of_a_start(&start, stage, to)
            }
            Keep::Partner(other) => {
                let producer = self.graph.stated(plan.edges[other].from);
                let fork = self.graph.stated(plan.edges[other].reserved_by);
                let opt_out = |stage: &Stage| stage.blocking.or(stage.before_send);
                Told {
                    sentence: format!(
                        "a token keeps its place in {room} until its partner of the same key comes over {}, where tokens of \
                         other keys may have filled every place",
                        edge_name(plan, other)
                    ),
                    at: opt_out(producer).or(opt_out(fork)).unwrap_or(producer.name.span),
                    label: "takes its place only when it sends".to_owned(),
                }
            }
        }
    }

    /// `start` is the beginning of the sentence, up to the stage whose start waits for `to`.
    fn of_a_start(&self, start: &str, stage: usize, to: Thing) -> Told {
        let plan = self.graph.plan;
        let (own, stated) = (&plan.stages[stage], self.graph.stated(stage));
        let (name, at) = (&own.name, stated.name.span);
        match to {
            Thing::Workers(_) => Told {
                sentence: format!("{start} `{name}` has a worker free"),
                at,
                label: "must have a worker free".to_owned(),
            },
            Thing::Permits(pool) => {
                let wanted = &plan.pools[pool].name;
                let weight = own.needs.iter().find(|(of, _)| *of == pool).map_or(1, |(_, weight)| *weight);
                let permits = if weight == 1 { "a permit" } else { "permits" };
                let needs = stated.needs.items.iter().find(|(pool, _)| pool.value == *wanted);
                Told {
                    sentence: format!("{start} `{name}` gets {permits} of `{wanted}`"),
                    at: needs.map_or(at, |(_, weight)| weight.span),
                    label: format!("needs `{wanted}`"),
                }
            }
            Thing::Places(edge) => Told {
                sentence: format!("{start} `{name}` finds room in {}", edge_name(plan, edge)),
                at,
                label: "needs room behind it".to_owned(),
            },
        }
    }
}
