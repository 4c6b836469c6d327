//! Mocked stages on the threads of a real pipeline.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::Mocked;
use crate::error::StageError;
use crate::exec::double::Double;
use crate::exec::firing::Firing;
use crate::exec::wiring::{Graph, InEnd, OutEnd, Wiring};
use crate::exec::{Options, Running, StartError};
use crate::key::TokenKey;
use crate::plan::{Plan, Role};
use crate::sim::Fate;
use crate::slot::{Dead, Shared, Token, Travels};
use crate::stage::{DeallocStage, Job, Port, Priority, Sizes, Stage};
use crate::tags::Tags;

/// One firing: stage and token.
pub(super) type Id = (usize, TokenKey);

/// A clock for tests: firings wait at it, each until the test lets it end.
#[derive(Default)]
pub struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    open: bool,
    came: BTreeSet<Id>,
    waiting: BTreeSet<Id>,
}

impl Gate {
    /// A gate that is closed.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// A gate that lets everything pass: firings take no time.
    #[must_use]
    pub fn opened() -> Arc<Self> {
        let gate = Self::new();
        gate.open();
        gate
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a firing end; `false` if it does not wait here.
    pub fn release(&self, stage: usize, key: TokenKey) -> bool {
        let waited = self.lock().waiting.remove(&(stage, key));
        self.changed.notify_all();
        waited
    }

    /// Lets all firings end, those that come later too.
    pub fn open(&self) {
        let mut state = self.lock();
        state.open = true;
        state.waiting.clear();
        drop(state);
        self.changed.notify_all();
    }

    /// The firings that wait: stage and token.
    #[must_use]
    pub fn waiting(&self) -> BTreeSet<(usize, TokenKey)> {
        self.lock().waiting.clone()
    }

    /// All firings that ever came.
    #[must_use]
    pub fn came(&self) -> BTreeSet<(usize, TokenKey)> {
        self.lock().came.clone()
    }

    /// Waits until every firing of `running` that was granted is here, so that nothing happens until one is released.
    pub fn settle<J: Job, O: Travels>(&self, running: &Running<J, O>) {
        // In this order: what waits here is a part of what is in flight, and only a release makes it fewer.
        loop {
            let waiting = self.lock().waiting.len();
            if running.in_flight() == waiting {
                return;
            }
            std::thread::yield_now();
        }
    }

    fn pass(&self, id: Id) {
        let mut state = self.lock();
        state.came.insert(id);
        if !state.open {
            state.waiting.insert(id);
        }
        while state.waiting.contains(&id) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// What the workers of a mocked pipeline call.
struct Bodies {
    gate: Arc<Gate>,
    fates: Vec<BTreeMap<TokenKey, Fate>>,
    dealloc: Option<usize>,
}

impl Double for Bodies {
    fn fire(&self, stage: usize, key: TokenKey) -> Result<(), StageError> {
        // Slots of one partition die several times, so `dealloc` has no firings that a test could tell apart.
        if Some(stage) == self.dealloc {
            return Ok(());
        }
        self.gate.pass((stage, key));
        match self.fates[stage].get(&key) {
            Some(Fate::Fails) => Err(StageError::new("the mock fails, as the test wants it")),
            Some(Fate::Panics) => panic!("the mock panics, as the test wants it"),
            Some(Fate::Succeeds) | None => Ok(()),
        }
    }
}

impl Mocked<'_> {
    /// Starts the compiled pipeline of graph `G` with mocks in place of the functions of its stages: firings wait at
    /// `gate` and end as the mocks say. Nothing is bound and nothing is computed, tokens are empty.
    ///
    /// # Errors
    /// As [`Running::start`].
    ///
    /// # Panics
    /// The plan that was mocked is not that of `G`.
    pub fn start<G: Graph>(
        &self,
        gate: &Arc<Gate>,
        options: Options,
    ) -> Result<Running<G::Job, G::Output>, StartError> {
        assert!(G::plan() == *self.plan, "the mocks are for another plan than the compiled one");
        Running::start::<G>(self.doubled(gate, options))
    }

    /// The same for a plan that nothing was compiled from: its tokens are [`Nothing`].
    ///
    /// # Errors
    /// As [`Running::start`].
    pub fn start_plan(&self, gate: &Arc<Gate>, options: Options) -> Result<Running<AnyJob, Nothing>, StartError> {
        Running::start_plan(self.plan.clone(), |wiring| wire(self.plan, wiring), self.doubled(gate, options))
    }

    /// The jobs of the load, for [`Self::start_plan`].
    pub fn any_jobs(&self) -> impl Iterator<Item = AnyJob> {
        (0..self.load.jobs as usize).map(|number| AnyJob {
            partitions: self.load.partitions,
            sizes: self.load.sizes,
            priority: match self.load.priorities.as_slice() {
                [] => Priority::default(),
                priorities => priorities[number % priorities.len()],
            },
        })
    }

    fn doubled(&self, gate: &Arc<Gate>, options: Options) -> Options {
        let dealloc = self.plan.stages.iter().position(|stage| stage.role == Role::Dealloc);
        let bodies = Bodies { gate: Arc::clone(gate), fates: self.fates(), dealloc };
        Options { double: Some(Arc::new(bodies)), ..options }
    }
}

/// A job of nothing but numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AnyJob {
    /// Its partitions.
    pub partitions: u32,
    /// The sizes of one.
    pub sizes: Sizes,
    /// How urgent it is.
    pub priority: Priority,
}

impl Job for AnyJob {
    fn partitions(&self) -> u32 {
        self.partitions
    }

    fn sizes(&self) -> Sizes {
        self.sizes
    }

    fn priority(&self) -> Priority {
        self.priority
    }
}

/// A token without contents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nothing;

impl Token for Nothing {
    const NAME: &'static str = "Nothing";
    type Shape = ();

    fn with_shape((): &()) -> Self {
        Self
    }

    fn shape(&self) {}

    fn bytes(&self) -> u64 {
        0
    }
}

/// A stage of which only the outside is used: a double stands in for it.
struct Anything;

impl Stage for Anything {
    type Job = AnyJob;
    type In = Vec<Shared<Nothing>>;
    type Out = Nothing;
    type Pending = ();
    const NAME: &'static str = "anything";
    const BACKEND: &'static str = "host";
    const TAGS: Tags = Tags::NONE;
    const PORTS: &'static [Port] = &[];

    fn start(_: &Firing<'_, Self>, _: &Self::In) -> Result<(), StageError> {
        Ok(())
    }

    fn finish(firing: &Firing<'_, Self>, _: &Self::In, (): ()) -> Result<Nothing, StageError> {
        Ok(firing.slot().take(&()))
    }
}

struct Home;

impl DeallocStage for Home {
    const BACKEND: &'static str = "host";
    const TAGS: Tags = Tags::UNMAPS;

    fn dealloc(dead: Dead, _: &crate::capability::DeallocPermit) -> Result<(), StageError> {
        dead.go_home();
        Ok(())
    }
}

fn wire(plan: &Plan, wiring: &mut Wiring<'_, AnyJob, Nothing>) {
    type Ends<E> = Vec<Option<E>>;
    let ends = (0..plan.edges.len()).map(|edge| wiring.edge::<Nothing>(edge));
    let (mut outs, mut ins): (Ends<OutEnd<Nothing>>, Ends<InEnd<Nothing>>) =
        ends.map(|(out, end)| (Some(out), Some(end))).unzip();
    for (at, stage) in plan.stages.iter().enumerate() {
        let inputs: Vec<_> = stage.inputs.iter().filter_map(|edge| ins[*edge].take()).collect();
        let outputs: Vec<_> = stage.outputs.iter().filter_map(|edge| outs[*edge].take()).collect();
        match stage.role {
            Role::Source | Role::Inner => wiring.stage::<Anything, _>(at, inputs, outputs),
            Role::Sink => wiring.sink::<Anything>(at, inputs),
            Role::Dealloc => wiring.dealloc::<Home>(at),
        }
    }
}
