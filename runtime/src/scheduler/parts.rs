//! The pieces of a scheduler's state.

use std::sync::Arc;

use crate::key::TokenKey;
use crate::permits::{Claim, add_to_claim};
use crate::plan::{Bytes, Plan, Role};
use crate::policy::StageState;
use crate::stage::{Priority, Sizes};

/// A claim that many firings share.
pub(super) type SharedClaim = Arc<[(usize, u64)]>;

pub(super) fn no_claim() -> SharedClaim {
    Arc::from([])
}

pub(super) struct Edge {
    pub(super) to: usize,
}

/// What has come of a token at a stage of several ports.
#[derive(Clone, Copy)]
pub(super) struct Arrival {
    pub(super) key: TokenKey,
    pub(super) arrived: u32,
    pub(super) dead: bool,
}

pub(super) struct Stage {
    pub(super) name: String,
    pub(super) role: Role,
    pub(super) ports: u32,
    pub(super) needs: SharedClaim,
    /// Edges whose places a firing of this stage reserves.
    pub(super) reserves: Vec<usize>,
    pub(super) inputs: Vec<usize>,
    /// The pool of its slots, where they are bounded.
    pub(super) slot: SharedClaim,
    holds: Vec<(usize, Bytes)>,
    workspace: Vec<(usize, Bytes)>,
    /// Free lanes by worker: how many firings it may begin now.
    pub(super) lanes: Vec<u32>,
    /// The CCDs of each worker; empty where nothing was placed.
    pub(super) ccds: Vec<Vec<u32>>,
    /// Stages behind it.
    pub(super) readers: Vec<usize>,
    /// Tokens of which some inputs are there and some are not. At most as many as its edges have places.
    pub(super) joining: Vec<Arrival>,
    firings: u64,
    total_ns: u64,
}

impl Stage {
    /// `slots` is the pool of its slots.
    pub(super) fn new(plan: &Plan, position: usize, slots: Option<usize>) -> Self {
        let stage = &plan.stages[position];
        Self {
            name: stage.name.clone(),
            role: stage.role,
            ports: u32::try_from(stage.inputs.len()).unwrap_or(u32::MAX),
            needs: stage.needs.as_slice().into(),
            reserves: (0..plan.edges.len()).filter(|edge| plan.edges[*edge].reserved_by == position).collect(),
            inputs: stage.inputs.clone(),
            slot: slots.map_or_else(no_claim, |pool| Arc::from([(pool, 1)])),
            holds: stage.holds.clone(),
            workspace: stage.workspace.clone(),
            lanes: vec![stage.in_flight.max(1); stage.workers as usize],
            ccds: Vec::new(),
            readers: stage.outputs.iter().map(|edge| plan.edges[*edge].to).collect(),
            joining: Vec::new(),
            firings: 0,
            total_ns: 0,
        }
    }

    /// What policies see of it before anything ran.
    pub(super) fn idle(&self) -> StageState {
        StageState { running: 0, lanes_free: self.lanes.iter().sum(), mean_ns: None, rest_ns: 0 }
    }

    /// One more input of a token is there; gives the token if it was the last.
    pub(super) fn join(&mut self, one: Arrival) -> Option<Arrival> {
        let Some(at) = self.joining.iter().position(|arrival| arrival.key == one.key) else {
            self.joining.push(one);
            return None;
        };
        let arrival = &mut self.joining[at];
        arrival.arrived += 1;
        arrival.dead |= one.dead;
        (arrival.arrived == self.ports).then(|| self.joining.swap_remove(at))
    }

    /// A firing took so long. Whether that makes a new mean: at the firings number 1, 2, 4, 8, … only, so that what
    /// policies see moves seldom and costs nothing.
    pub(super) fn learn(&mut self, nanoseconds: u64) -> bool {
        self.firings += 1;
        self.total_ns = self.total_ns.saturating_add(nanoseconds);
        self.firings.is_power_of_two()
    }

    pub(super) fn mean_ns(&self) -> Option<u64> {
        self.total_ns.checked_div(self.firings)
    }

    fn needs_for(&self, sizes: &Sizes) -> SharedClaim {
        let varies = |bytes: &Bytes| Bytes { fixed: 0, ..*bytes }.of(sizes);
        let workspace: Claim = self.workspace.iter().map(|(pool, bytes)| (*pool, varies(bytes))).collect();
        if workspace.iter().all(|(_, bytes)| *bytes == 0) {
            return Arc::clone(&self.needs);
        }
        let mut claim = self.needs.to_vec();
        add_to_claim(&mut claim, workspace.into_iter().filter(|(_, bytes)| *bytes > 0));
        claim.into()
    }

    fn holds_for(&self, sizes: &Sizes) -> SharedClaim {
        let mut claim = Claim::new();
        add_to_claim(&mut claim, self.holds.iter().map(|(pool, bytes)| (*pool, bytes.of(sizes))));
        claim.into()
    }

    /// The worker with the most free lanes, the first of equals.
    pub(super) fn free_worker(&self) -> Option<usize> {
        let most = self.lanes.iter().copied().max().filter(|free| *free > 0)?;
        self.lanes.iter().position(|free| *free == most)
    }
}

pub(super) struct Job {
    pub(super) priority: Priority,
    /// What a firing takes for its own time, by stage: permits, and workspace that depends on the circuit.
    pub(super) needs: Vec<SharedClaim>,
    /// The same with a slot for its output, which the token keeps: all that a firing takes when it starts.
    pub(super) claims: Vec<SharedClaim>,
    /// What each partition holds, by stage: reserved by the source, given back by the stages' tokens.
    pub(super) holds: Vec<SharedClaim>,
    pub(super) all_holds: SharedClaim,
    /// What a firing of the source takes: its needs and all that the partition will hold.
    pub(super) source_claim: SharedClaim,
    /// Partitions for which `all_holds` was taken, those that the source did not skip: 64 to a word.
    reserved: Vec<u64>,
    pub(super) partitions: u32,
    /// The lowest partition that the source has not fired for.
    pub(super) next: u32,
    /// Partitions that the sink has not seen yet.
    pub(super) left: u32,
    pub(super) failed: bool,
    /// Its partitions do not come to the source yet.
    pub(super) held_back: bool,
    pub(super) since_ns: u64,
}

impl Job {
    pub(super) fn new(
        stages: &[Stage],
        source: Option<usize>,
        partitions: u32,
        sizes: &Sizes,
        priority: Priority,
        since_ns: u64,
    ) -> Self {
        let needs: Vec<SharedClaim> = stages.iter().map(|stage| stage.needs_for(sizes)).collect();
        let holds: Vec<SharedClaim> = stages.iter().map(|stage| stage.holds_for(sizes)).collect();
        let mut all_holds = Claim::new();
        holds.iter().for_each(|claim| add_to_claim(&mut all_holds, claim.iter().copied()));
        let with_slot = |(stage, needs): (&Stage, &SharedClaim)| -> SharedClaim {
            if stage.slot.is_empty() { Arc::clone(needs) } else { [&needs[..], &stage.slot].concat().into() }
        };
        let claims: Vec<SharedClaim> = stages.iter().zip(&needs).map(with_slot).collect();
        let mut source_claim = source.map(|source| claims[source].to_vec()).unwrap_or_default();
        add_to_claim(&mut source_claim, all_holds.iter().copied());
        Self {
            priority,
            needs,
            claims,
            holds,
            all_holds: all_holds.into(),
            source_claim: source_claim.into(),
            reserved: vec![0; partitions.div_ceil(64) as usize],
            partitions,
            next: 0,
            left: partitions,
            failed: false,
            held_back: false,
            since_ns,
        }
    }

    pub(super) fn reserve(&mut self, partition: u32) {
        self.reserved[(partition / 64) as usize] |= 1 << (partition % 64);
    }

    pub(super) fn has_reserved(&self, partition: u32) -> bool {
        self.reserved.get((partition / 64) as usize).is_some_and(|word| word >> (partition % 64) & 1 == 1)
    }
}
