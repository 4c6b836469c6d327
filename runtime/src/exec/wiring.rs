//! How generated code puts stages and edges together.

use std::any::Any;
use std::sync::Arc;

use crate::error::StageError;
use crate::exec::double::Doubled;
pub use crate::exec::edge::{InEnd, OutEnd};
use crate::exec::edge::{Packet, edge};
use crate::exec::worker::{self, Body, Outlet, StageParts};
use crate::key::TokenKey;
use crate::plan::Plan;
use crate::slot::{FreeList, Shared, Token};
use crate::stage::{DeallocStage, Job, Stage};

/// A compiled graph: what `pipeline!` emits.
pub trait Graph {
    /// The job that its stages read.
    type Job: Job;
    /// What its sink puts out.
    type Output: Token;
    /// The plan.
    fn plan() -> Plan;
    /// Puts stages and edges together; positions are those of the plan.
    fn wire(wiring: &mut Wiring<'_, Self::Job, Self::Output>);
}

/// Collects the stages and edges of a graph.
pub struct Wiring<'a, J: Job, O: Token> {
    plan: &'a Plan,
    /// Whether doubles stand in for the stages.
    doubled: bool,
    bodies: Vec<Vec<Body<J, O>>>,
}

impl<'a, J: Job, O: Token> Wiring<'a, J, O> {
    pub(crate) fn new(plan: &'a Plan, doubled: bool) -> Self {
        Self { plan, doubled, bodies: plan.stages.iter().map(|_| Vec::new()).collect() }
    }

    /// The bodies of the workers, by stage and worker.
    pub(crate) fn into_bodies(self) -> Vec<Vec<Body<J, O>>> {
        self.bodies
    }

    /// The two ends of an edge from a stage that puts out `A` to a port that takes `B`.
    ///
    /// # Panics
    /// If `A` is not `B`, which generated code asserts at compile time.
    pub fn edge<A: Token, B: Token>(&mut self, position: usize) -> (OutEnd<A>, InEnd<B>) {
        let plan = &self.plan.edges[position];
        let reader = &self.plan.stages[plan.to];
        let room = plan.capacity + reader.workers * reader.in_flight.max(1);
        let (out, end) = edge::<A>(position, room as usize);
        let end: Box<dyn Any> = Box::new(end);
        match end.downcast::<InEnd<B>>() {
            Ok(end) => (out, *end),
            Err(_) => panic!("edge {position} takes `{}` out but `{}` was put in", B::NAME, A::NAME),
        }
    }

    /// A stage whose output goes to `outputs`.
    pub fn stage<S: Stage<Job = J>>(
        &mut self,
        position: usize,
        inputs: impl InPorts<In = S::In>,
        outputs: Vec<OutEnd<S::Out>>,
    ) {
        match self.doubled {
            false => self.workers::<S, _>(position, inputs, Outlet::Edges(outputs)),
            true => self.workers::<Doubled<S>, _>(position, inputs, Outlet::Edges(outputs)),
        }
    }

    /// The stage whose output leaves the graph.
    pub fn sink<S: Stage<Job = J, Out = O>>(&mut self, position: usize, inputs: impl InPorts<In = S::In>) {
        match self.doubled {
            false => self.workers::<S, _>(position, inputs, Outlet::Sink(|output| output)),
            true => self.workers::<Doubled<S>, _>(position, inputs, Outlet::Sink(|output| output)),
        }
    }

    /// The stage that takes every dead slot.
    pub fn dealloc<D: DeallocStage>(&mut self, position: usize) {
        for _ in 0..self.plan.stages[position].workers {
            self.bodies[position].push(Box::new(worker::run_dealloc::<D, J, O>));
        }
    }

    fn workers<S: Stage<Job = J>, P: InPorts<In = S::In>>(&mut self, position: usize, inputs: P, outlet: Outlet<S, O>) {
        let stage = &self.plan.stages[position];
        let free = FreeList::new(self.slots_in_use(position));
        let parts = Arc::new(StageParts { inputs, outlet, free });
        for _ in 0..stage.workers {
            let parts = Arc::clone(&parts);
            self.bodies[position].push(Box::new(move |worker| worker::run_stage::<S, P, J, O>(&worker, &parts)));
        }
    }

    /// No more slots of the stage's output can be in use at once: one for each place, one for each firing that makes
    /// or reads one.
    fn slots_in_use(&self, position: usize) -> usize {
        let lanes = |stage: usize| {
            let stage = &self.plan.stages[stage];
            (stage.workers * stage.in_flight.max(1)) as usize
        };
        let behind = |edge: &usize| {
            let edge = &self.plan.edges[*edge];
            edge.capacity as usize + lanes(edge.to)
        };
        lanes(position) + self.plan.stages[position].outputs.iter().map(behind).sum::<usize>()
    }
}

/// The input ends of a stage, as a tuple.
pub trait InPorts: Send + Sync + 'static {
    /// What they give: a tuple of [`Shared`] tokens.
    type In: Send;
    #[doc(hidden)]
    fn take(&self, key: TokenKey) -> Result<Option<Self::In>, StageError>;
}

/// Spelled out for each arity: a tuple of packets is live when each of them is.
macro_rules! arity {
    ($($name:ident : $token:ident . $index:tt),*) => {
        impl<$($token: Token),*> InPorts for ($(InEnd<$token>,)*) {
            type In = ($(Shared<$token>,)*);

            #[allow(unused_variables, unreachable_patterns, clippy::unused_unit)]
            fn take(&self, key: TokenKey) -> Result<Option<Self::In>, StageError> {
                // All ports are emptied before any is judged: a tombstone takes its siblings off their edges.
                match ($(self.$index.take(key)?,)*) {
                    ($(Packet::Live($name),)*) => Ok(Some(($($name,)*))),
                    _ => Ok(None),
                }
            }
        }
    };
}

/// Any number of ports of one kind: what a plan without types of its own is wired with.
impl<T: Token> InPorts for Vec<InEnd<T>> {
    type In = Vec<Shared<T>>;

    fn take(&self, key: TokenKey) -> Result<Option<Self::In>, StageError> {
        let packets = self.iter().map(|end| end.take(key)).collect::<Result<Vec<_>, _>>()?;
        let live = |packet| match packet {
            Packet::Live(token) => Some(token),
            Packet::Tombstone => None,
        };
        Ok(packets.into_iter().map(live).collect())
    }
}

arity!();
arity!(a: A.0);
arity!(a: A.0, b: B.1);
arity!(a: A.0, b: B.1, c: C.2);
arity!(a: A.0, b: B.1, c: C.2, d: D.3);
