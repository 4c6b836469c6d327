//! How generated code puts stages and edges together.

use std::sync::Arc;

use crate::arena::Memory;
use crate::exec::double::Doubled;
use crate::exec::edge::edge;
pub use crate::exec::edge::{InEnd, OutEnd};
pub use crate::exec::ports::InPorts;
use crate::exec::worker::{self, Body, Outlet, StageParts};
use crate::plan::Plan;
use crate::slot::{FreeList, Travels};
use crate::stage::{DeallocStage, Job, Stage};

/// A compiled graph: what `pipeline!` emits.
pub trait Graph {
    /// The job that its stages read.
    type Job: Job;
    /// What its sink puts out.
    type Output: Travels;
    /// The plan in tables, as `proofline plan` shows it; nothing where no file states the graph.
    const TABLES: &'static str = "";
    /// The plan.
    fn plan() -> Plan;
    /// Puts stages and edges together; positions are those of the plan.
    fn wire(wiring: &mut Wiring<'_, Self::Job, Self::Output>);
}

/// Collects the stages and edges of a graph.
pub struct Wiring<'a, J: Job, O: Travels> {
    plan: &'a Plan,
    /// Whether doubles stand in for the stages.
    doubled: bool,
    memory: Arc<Memory>,
    bodies: Vec<Vec<Body<J, O>>>,
}

impl<'a, J: Job, O: Travels> Wiring<'a, J, O> {
    pub(crate) fn new(plan: &'a Plan, doubled: bool, memory: &Arc<Memory>) -> Self {
        Self { plan, doubled, memory: Arc::clone(memory), bodies: plan.stages.iter().map(|_| Vec::new()).collect() }
    }

    /// The bodies of the workers, by stage and worker.
    pub(crate) fn into_bodies(self) -> Vec<Vec<Body<J, O>>> {
        self.bodies
    }

    /// The two ends of an edge.
    pub fn edge<T: Travels>(&mut self, position: usize) -> (OutEnd<T>, InEnd<T>) {
        let plan = &self.plan.edges[position];
        let reader = &self.plan.stages[plan.to];
        let room = plan.capacity + reader.workers * reader.in_flight.max(1);
        edge(position, room as usize)
    }

    /// A stage whose output goes to `outputs`. What is demanded of the token is demanded of the edges', which a graph's
    /// own errors speak of.
    pub fn stage<S, T>(&mut self, position: usize, inputs: impl InPorts<In = S::In>, outputs: Vec<OutEnd<T>>)
    where
        S: Stage<Job = J, Out = T>,
        T: Travels,
    {
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

    fn workers<S, P>(&mut self, position: usize, inputs: P, outlet: Outlet<S, O>)
    where
        S: Stage<Job = J, Out: Travels>,
        P: InPorts<In = S::In>,
    {
        let stage = &self.plan.stages[position];
        let free = FreeList::new(self.slots_in_use(position), &self.memory);
        let parts = Arc::new(StageParts { inputs, outlet, free });
        for _ in 0..stage.workers {
            let parts = Arc::clone(&parts);
            self.bodies[position].push(Box::new(move |worker| worker::run_stage::<S, P, J, O>(&worker, &parts)));
        }
    }

    /// No more slots of the stage's output can be in use at once: those of the plan, or one for each place, one for each
    /// firing that makes or reads one.
    fn slots_in_use(&self, position: usize) -> usize {
        if let Some(slots) = self.plan.stages[position].slots {
            return slots as usize;
        }
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
