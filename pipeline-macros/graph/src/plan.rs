//! A lawful graph → its plan: the same data as `runtime::plan::Plan`, from which [`crate::emit`] makes tokens.

mod digest;
pub mod memory;
mod order;
pub mod period;
mod reserve;

use std::path::Path;

use crate::checks::gpu_without_device;
use crate::model::{Ccds, Dealloc, GiveBack, Implementation, Insist, Load, Share, Sku, TagSet, Unit};
use crate::resolve::Resolved;
use crate::source::Span;
use crate::words::DEFAULT_POLICY;

pub use crate::model::Linear;
pub use digest::digest;

/// A plan. Indices of one list into another are positions.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// The graph's name: its file's stem.
    pub graph: String,
    /// The graph's path, as it was given.
    pub file: String,
    /// SHA-256 over graph, SKU and catalogue.
    pub digest: String,
    /// The machine; `None` for `sku: any`.
    pub sku: Option<Sku>,
    /// The permit pools.
    pub pools: Vec<Pool>,
    /// The placement groups.
    pub groups: Vec<Group>,
    /// The stages in topological order, `dealloc` last.
    pub stages: Vec<StagePlan>,
    /// The edges.
    pub edges: Vec<Edge>,
    /// The policy.
    pub policy: String,
    /// Where the file names it; where it does not, the file's beginning.
    pub policy_at: Span,
    /// Whether jobs of different priority are to be told apart.
    pub priorities: bool,
    /// The circuits that it is meant for: names and sizes.
    pub sizes: Vec<(String, [u64; 6])>,
    /// What the process keeps beside tokens and workspace: names and bytes.
    pub resident: Vec<(String, Linear)>,
    /// The load that it is judged for.
    pub load: Option<Load>,
    /// What becomes of dead slots.
    pub dealloc: Dealloc,
    /// How memory goes back to the kernel.
    pub give_back: GiveBack,
}

/// A permit pool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pool {
    /// Its name.
    pub name: String,
    /// How much it has.
    pub size: u64,
    /// What it counts.
    pub unit: Unit,
}

/// A placement group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Its CCDs.
    pub ccds: Ccds,
    /// How its workers share them.
    pub share: Share,
    /// Whether no other group may overlap it.
    pub exclusive: bool,
    /// What to do where the machine refuses.
    pub insist: Insist,
    /// Whether its threads may use all hardware threads of a core.
    pub smt: bool,
}

/// A stage.
#[derive(Clone, PartialEq, Debug)]
pub struct StagePlan {
    /// Its name.
    pub name: String,
    /// Where the file names it.
    pub name_at: Span,
    /// Where the file states its tags, if it does.
    pub tags_at: Option<Span>,
    /// The backend that was chosen.
    pub backend: String,
    /// Every branch that was checked: one, or those of a `Prefer`.
    pub branches: Vec<Implementation>,
    /// The tags of the chosen implementation.
    pub tags: TagSet,
    /// Its part.
    pub role: Role,
    /// Its group.
    pub group: Option<usize>,
    /// Its device.
    pub device: Option<u32>,
    /// Firings at once.
    pub workers: u32,
    /// Threads of a worker.
    pub threads: Option<u32>,
    /// Firings of a worker between `start` and `finish`.
    pub in_flight: u32,
    /// Pools and weights of a firing.
    pub needs: Vec<(usize, u64)>,
    /// Pools and bytes of an output token.
    pub holds: Vec<(usize, Linear)>,
    /// Pools and bytes of a worker.
    pub workspace: Vec<(usize, Linear)>,
    /// The edges into its ports, in the order of the ports.
    pub inputs: Vec<usize>,
    /// The edges that its output goes to.
    pub outputs: Vec<usize>,
    /// How often it fires in one period; 0 for `dealloc`, which fires for every dead slot.
    pub fires: u64,
    /// Its position in the file.
    pub origin: usize,
    /// The token that it puts out, with its bytes.
    pub output: Option<(String, Linear)>,
    /// The bytes that the implementation needs for a firing beside its tokens.
    pub scratch: Linear,
    /// Whether and how it departs from the discipline.
    pub opt_outs: OptOuts,
}

/// How a stage departs from the discipline that a firing takes all that it needs at once and never waits after that.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct OptOuts {
    /// It takes its permits one after the other, and waits with those that it has: the pools in that order.
    pub in_order: Option<Vec<usize>>,
    /// It takes the places of its output when it sends, and waits with all that it has.
    pub blocking: bool,
    /// Its worker and its permits are free before its output has a place.
    pub before_send: bool,
}

/// The part that a stage plays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// It has no ports.
    Source,
    /// It has ports and readers.
    Inner,
    /// Its output leaves the graph.
    Sink,
    /// It takes dead slots.
    Dealloc,
}

/// An edge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The stage before it.
    pub from: usize,
    /// The stage behind it.
    pub to: usize,
    /// The port of `to`.
    pub port: usize,
    /// The token.
    pub token: String,
    /// Places.
    pub capacity: u32,
    /// The stage whose firing takes the place.
    pub reserved_by: usize,
    /// Where the file names the two stages.
    pub ends_at: [Span; 2],
    /// Tokens that the port takes for one firing.
    pub batch: u32,
    /// Its position in the file.
    pub origin: usize,
}

impl StagePlan {
    /// Firings at once.
    #[must_use]
    pub fn firings(&self) -> u64 {
        u64::from(self.workers) * u64::from(self.in_flight)
    }
}

impl OptOuts {
    /// Whether it departs in no way.
    #[must_use]
    pub fn none(&self) -> bool {
        self.in_order.is_none() && self.reserves()
    }

    /// Whether a firing takes the places of its output when it starts.
    #[must_use]
    pub fn reserves(&self) -> bool {
        !self.blocking && !self.before_send
    }
}

impl Plan {
    /// The stage whose start takes the place of a token on `edge`; `None` if its producer takes it when it sends.
    #[must_use]
    pub fn reserver(&self, edge: usize) -> Option<usize> {
        let Edge { from, reserved_by, .. } = self.edges[edge];
        let reserves = |stage: usize| self.stages[stage].opt_outs.reserves();
        match (reserves(from), reserves(reserved_by)) {
            (true, true) => Some(reserved_by),
            (true, false) => Some(from),
            (false, _) => None,
        }
    }
}

/// Plans a graph that no check refused.
///
/// # Panics
/// A check let something pass that it should not have.
#[must_use]
pub fn plan(graph: &Resolved<'_>, shown: &str, digest: String) -> Plan {
    let order = order::topological(graph);
    let mut place = vec![0; order.len()];
    for (position, stage) in order.iter().enumerate() {
        place[*stage] = position;
    }
    let mut stages: Vec<StagePlan> = order.iter().map(|stage| stage_plan(graph, *stage)).collect();
    let edges = graph.edges.iter().enumerate();
    let mut edges: Vec<Edge> = edges.map(|(origin, edge)| edge_plan(graph, origin, edge, &place)).collect();
    edges.sort_by_key(|edge| (edge.from, edge.to, edge.port));
    for (number, edge) in edges.iter().enumerate() {
        stages[edge.from].outputs.push(number);
        stages[edge.to].inputs.push(number);
    }
    for (position, stage) in stages.iter_mut().enumerate() {
        stage.inputs.sort_by_key(|edge| edges[*edge].port);
        stage.role = match (stage.role, stage.inputs.is_empty(), stage.outputs.is_empty()) {
            (Role::Dealloc, ..) => Role::Dealloc,
            (_, true, _) => Role::Source,
            (_, _, true) => Role::Sink,
            _ => Role::Inner,
        };
        debug_assert!(position == 0 || stage.role != Role::Source, "the source comes first");
    }
    reserve::places(&stages, &mut edges);
    let name =
        Path::new(shown).file_stem().map_or_else(|| shown.to_owned(), |stem| stem.to_string_lossy().into_owned());
    let mut plan = Plan {
        graph: name,
        file: shown.to_owned(),
        digest,
        sku: graph.sku.cloned(),
        pools: pools(graph),
        groups: groups(graph),
        stages,
        edges,
        policy: graph.file.policy.as_ref().map_or_else(|| DEFAULT_POLICY.to_owned(), |policy| policy.value.clone()),
        policy_at: graph.file.policy.as_ref().map_or(graph.file.span, |policy| policy.span),
        priorities: graph.file.priorities.is_some(),
        sizes: graph.file.sizes.items.iter().map(|sizes| (sizes.name.value.clone(), sizes.counts)).collect(),
        resident: graph.resident.iter().map(|(name, bytes)| ((*name).to_owned(), *bytes)).collect(),
        load: graph.file.load.map(|load| load.value),
        dealloc: graph.file.dealloc.map_or_else(Dealloc::default, |dealloc| dealloc.value),
        give_back: graph.file.give_back.map_or_else(GiveBack::default, |give_back| give_back.value),
    };
    if let Ok(fires) = period::repetitions(&plan) {
        let live = plan.stages.iter_mut().zip(fires).filter(|(stage, _)| stage.role != Role::Dealloc);
        live.for_each(|(stage, fires)| stage.fires = fires);
    }
    plan
}

fn pools(graph: &Resolved<'_>) -> Vec<Pool> {
    let pools = graph.file.pools.items.iter();
    let size = |pool: &crate::model::Pool| pool.size.expect("a pool without a size was refused").value;
    pools.map(|pool| Pool { name: pool.name.value.clone(), size: size(pool), unit: pool.unit }).collect()
}

fn groups(graph: &Resolved<'_>) -> Vec<Group> {
    let groups = graph.file.groups.items.iter();
    let refused = "a group without CCDs or share was refused";
    groups
        .map(|group| Group {
            name: group.name.value.clone(),
            ccds: group.ccds.clone().expect(refused).value,
            share: group.share.expect(refused),
            exclusive: group.exclusive,
            insist: group.insist,
            smt: group.smt,
        })
        .collect()
}

fn stage_plan(graph: &Resolved<'_>, origin: usize) -> StagePlan {
    let stage = &graph.stages[origin];
    let stated = stage.stated;
    let chosen = stage.branches[gpu_without_device::chosen(graph, stage)];
    let formulas = |list: &[(usize, Linear, _)]| list.iter().map(|(pool, bytes, _)| (*pool, *bytes)).collect();
    StagePlan {
        name: stage.name().to_owned(),
        name_at: stated.name.span,
        tags_at: stated.tags.as_ref().map(|tags| tags.span),
        backend: chosen.backend.value.clone(),
        branches: stage.branches.iter().map(|branch| (*branch).clone()).collect(),
        tags: chosen.tags,
        role: if stage.is_dealloc() { Role::Dealloc } else { Role::Inner },
        group: stage.group,
        device: stated.device.map(|device| device.value).filter(|_| chosen.tags.has("gpu")),
        workers: stated.workers.map_or(1, |workers| workers.value),
        threads: stated.threads.map(|threads| threads.value),
        in_flight: stated.in_flight.map_or(1, |in_flight| in_flight.value),
        needs: stage.needs.iter().map(|(pool, weight)| (*pool, weight.value)).collect(),
        holds: formulas(&stage.holds),
        workspace: formulas(&stage.workspace),
        inputs: Vec::new(),
        outputs: Vec::new(),
        fires: 0,
        origin,
        output: chosen.output.clone().map(|name| {
            let bytes = graph.catalogue.token(&name).map(|token| token.bytes).unwrap_or_default();
            (name, bytes)
        }),
        scratch: chosen.workspace,
        opt_outs: OptOuts {
            in_order: stage.in_order.clone(),
            blocking: stated.blocking.is_some(),
            before_send: stated.before_send.is_some(),
        },
    }
}

/// An edge; a capacity of 0 stands for the default, which [`reserve`] knows.
fn edge_plan(graph: &Resolved<'_>, origin: usize, edge: &crate::resolve::Edge<'_>, place: &[usize]) -> Edge {
    Edge {
        from: place[edge.from],
        to: place[edge.to],
        port: edge.port,
        token: graph.stages[edge.to].ports()[edge.port].token.clone(),
        capacity: edge.stated.capacity.map_or(0, |capacity| capacity.value),
        reserved_by: place[edge.from],
        ends_at: [edge.stated.from.span, edge.stated.to.span],
        batch: edge.stated.batch.map_or(1, |batch| batch.value),
        origin,
    }
}
