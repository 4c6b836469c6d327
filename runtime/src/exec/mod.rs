//! Runs a plan with threads and wall time.

pub mod asked;
pub mod double;
mod edge;
mod engine;
pub mod firing;
mod guard;
mod handle;
mod ports;
mod room;
pub mod wiring;
mod worker;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use crossbeam_channel::{Sender, bounded};
use proofline_memory::{Counts, Registrar};

pub use engine::SubmitError;
pub use handle::Handle;
pub use room::{Reservation, expect_room};

use crate::admission::{Keeper, What};
use crate::arena::{Memory, Slots};
use crate::binding::{Binder, Bound};
use crate::capability::{CcdPool, GpuDevice, MemPermit};
use crate::event::{NoObserver, Observer};
use crate::exec::double::Double;
use crate::limits;
use crate::placement::{Placement, PlacementError, WorkerPlace, place};
use crate::plan::{Dealloc, GiveBack, Insist, MemoryTable, Plan, StagePlan};
use crate::policy::{self, Policy};
use crate::slot::{Dead, Travels};
use crate::stage::{Brought, Job, Thing};
use crate::tags::Tags;
use crate::topology::hwloc::{Hwloc, TopologyError};
use crate::topology::{Cpus, Machine};
use engine::Engine;
use firing::Rights;
use room::Room;
use wiring::{Graph, Wiring};
use worker::Worker;

/// How a pipeline is started.
pub struct Options {
    /// The machine; `None`: this one.
    pub machine: Option<Hwloc>,
    /// Who looks at what happens.
    pub observer: Arc<dyn Observer>,
    /// The policy; `None`: the one that the graph names.
    pub policy: Option<Box<dyn Policy>>,
    /// Who stands in for the stages; `None`: nobody. Then no thread is bound and no pool is made, so the machine need
    /// not be there.
    pub double: Option<Arc<dyn Double>>,
    /// What becomes of slots that nobody reads any more; `None`: what the graph says.
    pub dealloc: Option<Dealloc>,
    /// How the memory of slots goes back to the kernel; `None`: as the graph says.
    pub give_back: Option<GiveBack>,
    /// When slots are made that are recycled.
    pub slots: Slots,
    /// Who makes the memory of slots known to a device.
    pub registrar: Option<Arc<dyn Registrar>>,
    /// Who keeps what jobs bring along when they are over; `None`: nobody.
    pub keeper: Option<Arc<dyn Keeper>>,
    /// Where the kernel's files are that say how much memory there is; `/` but in tests.
    pub system: PathBuf,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            machine: None,
            observer: Arc::new(NoObserver),
            policy: None,
            double: None,
            dealloc: None,
            give_back: None,
            slots: Slots::default(),
            registrar: None,
            keeper: None,
            system: PathBuf::from("/"),
        }
    }
}

/// A pipeline could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The machine cannot be seen.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// The machine is not what the plan demands.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// A binding that the plan demands does not hold.
    #[error(
        "stage `{stage}` worker {worker}: {why}; the group demands its binding: write `insist: Prefer` to go without"
    )]
    Unbound {
        /// The stage.
        stage: String,
        /// The worker.
        worker: u32,
        /// What the system said.
        why: String,
    },
    /// The graph names a policy that this build does not have.
    #[error("the graph names policy `{name}`; there is {}", policy::NAMES.join(", "))]
    NoSuchPolicy {
        /// The name.
        name: String,
    },
    /// A stage is pinned and the plan gives it no group. Compiled graphs never see this.
    #[error("stage `{stage}` is tagged `ccd_pinned` and has no group")]
    NoGroup {
        /// The stage.
        stage: String,
    },
    /// A pool is too small for the workspace of the workers.
    #[error(
        "the workers' workspace does not fit: it {0}; raise the pool or lower workers or workspace in the graph file"
    )]
    Workspace(#[from] crate::permits::NeverFits),
    /// A thread could not be started.
    #[error("a thread of `{name}` could not be started: {why}")]
    Thread {
        /// What it was for.
        name: String,
        /// What the system said.
        why: String,
    },
}

/// Where one worker runs, and whether its binding holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Binding {
    /// The stage's name.
    pub stage: String,
    /// The worker of that stage.
    pub worker: u32,
    /// Its CCDs; empty where the stage may run anywhere.
    pub ccds: Vec<u32>,
    /// The processors that it was to be bound to; empty where the stage may run anywhere.
    pub cpus: Cpus,
    /// The threads of its pool; 0 without a group.
    pub threads: usize,
    /// What the system says, worker and pool together; `None` where the stage may run anywhere.
    pub bound: Option<Bound>,
}

/// A running pipeline.
///
/// Dropping it drains it: no more jobs are taken, those that were accepted run to their end. To stop at once, call
/// [`Running::abort`] first.
pub struct Running<J: Job, O: Travels> {
    engine: Arc<Engine<J, O>>,
    threads: Vec<JoinHandle<()>>,
    workers: Vec<std::thread::ThreadId>,
    bindings: Vec<Binding>,
    notes: Vec<String>,
    memory: Arc<Memory>,
}

impl<J: Job, O: Travels> Running<J, O> {
    /// Starts the workers of graph `G`.
    ///
    /// # Errors
    /// The machine lacks what the plan demands, or a thread cannot be started.
    pub fn start<G: Graph<Job = J, Output = O>>(options: Options) -> Result<Self, StartError> {
        Self::start_plan(G::plan(), G::wire, options)
    }

    /// Starts the workers of a plan that `wire` puts together.
    pub(crate) fn start_plan(
        mut plan: Plan,
        wire: impl FnOnce(&mut Wiring<'_, J, O>),
        options: Options,
    ) -> Result<Self, StartError> {
        let double = options.double;
        // A mocked pipeline runs on the machine that its plan is for, which need not be there.
        let described =
            plan.sku.as_ref().filter(|_| double.is_some() && options.machine.is_none()).map(Machine::of_sku);
        let hwloc = options.machine.map_or_else(Hwloc::this_system, Ok)?;
        let mut machine = described.unwrap_or_else(|| hwloc.machine());
        if plan.sku.as_ref().is_some_and(|sku| !sku.gpus.is_empty()) {
            machine = machine.with_devices();
        }
        let placement = place(&plan, &machine)?;
        let policy = options.policy.or_else(|| policy::by_name(&plan.policy));
        let policy = policy.ok_or_else(|| StartError::NoSuchPolicy { name: plan.policy.clone() })?;
        let binder = Binder::of(&hwloc);
        let pools = if double.is_none() { build_pools(&plan, &placement, &binder)? } else { Vec::new() };

        plan.dealloc = options.dealloc.unwrap_or(plan.dealloc);
        plan.give_back = options.give_back.unwrap_or(plan.give_back);
        let memory = Arc::new(Memory::new(plan.dealloc, plan.give_back, options.slots, options.registrar));
        let mut wiring = Wiring::new(&plan, double.is_some(), &memory);
        wire(&mut wiring);
        let bodies = wiring.into_bodies();

        let lanes = |stage: &StagePlan| (0..stage.workers).map(|_| bounded(stage.in_flight.max(1) as usize)).collect();
        let channels: Vec<Vec<_>> = plan.stages.iter().map(lanes).collect();
        let senders = channels.iter().map(|stage| stage.iter().map(|(sender, _)| sender.clone()).collect()).collect();
        let limit = if double.is_none() { limits::of_jobs(&plan, &options.system) } else { None };
        let threads = |stage: usize| {
            let of_stage = placement.workers.iter().find(|place| place.stage == stage);
            let pool = of_stage.and_then(|place| placement.pools.get(place.pool?));
            pool.map_or(1, |pool| pool.threads)
        };
        let room = Room {
            limit,
            threads: (0..plan.stages.len()).map(threads).collect(),
            trim: {
                let (memory, keeper) = (Arc::clone(&memory), options.keeper.clone());
                Box::new(move |what, hold| {
                    let (memory, keeper) = (Arc::clone(&memory), keeper.clone());
                    let let_go = move || match (what, keeper) {
                        (What::Slots(sizes), _) => memory.trim(&sizes),
                        (What::Brought(Thing::Kept(place)), Some(keeper)) => keeper.let_go(place),
                        (What::Program | What::Brought(_), _) => {}
                    };
                    Dead::idle(let_go, hold)
                })
            },
            keeper: options.keeper,
        };
        let engine = Engine::new(plan, &placement, policy, options.observer, senders, room)?;
        let mut running = Self {
            engine,
            threads: Vec::new(),
            workers: Vec::new(),
            bindings: Vec::new(),
            notes: placement.notes.clone(),
            memory,
        };

        let places = placement.workers.iter();
        let bodies = bodies.into_iter().flatten().zip(channels.into_iter().flatten());
        let (reports, reported) = bounded(placement.workers.len().max(1));
        for (place, (body, (_, grants))) in places.zip(bodies) {
            let pool = place.pool.and_then(|pool| pools.get(pool));
            let worker = running.worker(place, pool, grants, double.as_ref())?;
            let binder = double.is_none().then(|| binder.clone());
            running.spawn(place, worker, body, binder, reports.clone())?;
        }
        drop(reports);
        let mut bound: Vec<(usize, u32, Bound)> = reported.iter().collect();
        for place in &placement.workers {
            let position = bound.iter().position(|(stage, worker, _)| (*stage, *worker) == (place.stage, place.worker));
            let own = position.map(|position| bound.swap_remove(position).2);
            running.report(place, own, place.pool.and_then(|pool| pools.get(pool)))?;
        }
        Ok(running)
    }

    /// Takes a job in. Its partitions go through the graph as tokens; the handle gives their outputs in order.
    ///
    /// # Errors
    /// The job can never fit the plan, or the pipeline is shutting down.
    pub fn submit(&self, job: J) -> Result<Handle<O>, SubmitError> {
        self.engine.submit(job, None)
    }

    /// Reserves the memory of what is about to be loaded for a job, so that it counts from now on; waits until there is room for
    /// it, after the jobs that came before. While it is being loaded, jobs go on that come later; when it is there, give the
    /// job that it is for to [`submit_in`](Self::submit_in). Whoever has a reservation should wait for no job before.
    ///
    /// The bytes are known from a file's header, or are the most that it may take: the job will say how many they are.
    ///
    /// # Errors
    /// It can never fit, or the pipeline is shutting down.
    pub fn reserve(&self, brings: &[Brought]) -> Result<Reservation, SubmitError> {
        self.engine.reserve(brings)
    }

    /// [`submit`](Self::submit) in the place of a reservation of this pipeline: before all that came after it. What was
    /// reserved and is not what the job brings counts as the job's all the same.
    ///
    /// # Errors
    /// As [`submit`](Self::submit); the reservation is given up then.
    pub fn submit_in(&self, reservation: Reservation, job: J) -> Result<Handle<O>, SubmitError> {
        self.engine.submit(job, Some(reservation))
    }

    /// The plan that runs.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.engine.plan
    }

    /// What a job takes of the memory: the program, what the job brings along, and all slots and workspaces for circuits of
    /// its size.
    #[must_use]
    pub fn memory_plan(&self, job: &J) -> MemoryTable {
        self.engine.memory_plan(job)
    }

    /// What the memory of slots and workspaces asked of the kernel so far.
    #[must_use]
    pub fn memory(&self) -> Counts {
        self.memory.counts()
    }

    /// Where each worker runs.
    #[must_use]
    pub fn bindings(&self) -> &[Binding] {
        &self.bindings
    }

    /// What could not be had and was only preferred: one sentence each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Fails every job that is not done with [`crate::error::Cause::ShutDown`]; what runs now ends first.
    pub fn abort(&self) {
        self.engine.close();
        self.engine.fail_all();
    }

    /// Waits until every accepted job has come to its end and every slot is home. More jobs may be submitted
    /// meanwhile, and are waited for too.
    pub fn drain(&self) {
        self.engine.wait_until_idle();
    }

    /// Whether nothing runs and every permit, place and slot is where it was at the start.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.engine.is_idle()
    }

    /// Firings that were granted and have not ended. Tests of mocked pipelines wait until all of them are where they
    /// want them.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.engine.in_flight()
    }

    fn worker(
        &self,
        place: &WorkerPlace,
        pool: Option<&BuiltPool>,
        grants: crossbeam_channel::Receiver<crate::scheduler::Grant>,
        double: Option<&Arc<dyn Double>>,
    ) -> Result<Worker<J, O>, StartError> {
        let stage = &self.engine.plan.stages[place.stage];
        let has = |tag| stage.tags.contains(tag);
        if has(Tags::CCD_PINNED) && place.pool.is_none() {
            return Err(StartError::NoGroup { stage: stage.name.clone() });
        }
        let rights = Rights {
            mem: has(Tags::MEM_HEAVY).then(MemPermit::new),
            cores: pool.filter(|_| has(Tags::CCD_PINNED)).map(|pool| CcdPool::new(Arc::clone(&pool.threads))),
            gpu: stage.device.filter(|_| has(Tags::GPU)).map(GpuDevice::new),
            double: double.map(|double| (Arc::clone(double), place.stage)),
        };
        let (engine, in_flight) = (Arc::clone(&self.engine), stage.in_flight.max(1) as usize);
        Ok(Worker { engine, stage: place.stage, number: place.worker, in_flight, grants, rights })
    }

    fn spawn(
        &mut self,
        place: &WorkerPlace,
        worker: Worker<J, O>,
        body: worker::Body<J, O>,
        binder: Option<Binder>,
        reports: Sender<(usize, u32, Bound)>,
    ) -> Result<(), StartError> {
        let name = format!("{}-{}", self.engine.plan.stages[place.stage].name, place.worker);
        let cpus = place.pool.map(|_| place.cpus.clone());
        let work = move || {
            if let (Some(cpus), Some(binder)) = (cpus, binder) {
                let bound = binder.bind_this_thread(&cpus, worker.number as usize);
                // `start` reads as many reports as there are workers, so there is room; if it gave up, nobody asks.
                let _ = reports.try_send((worker.stage, worker.number, bound));
            }
            drop(reports);
            let (engine, stage) = (Arc::clone(&worker.engine), worker.stage);
            if let Err(message) = guard::guarded(|| body(worker)) {
                engine.worker_died(stage, &message);
            }
        };
        let spawned = std::thread::Builder::new().name(name.clone()).spawn(work);
        let thread = spawned.map_err(|error| StartError::Thread { name, why: error.to_string() })?;
        self.workers.push(thread.thread().id());
        self.threads.push(thread);
        Ok(())
    }

    fn report(&mut self, place: &WorkerPlace, own: Option<Bound>, pool: Option<&BuiltPool>) -> Result<(), StartError> {
        let stage = &self.engine.plan.stages[place.stage];
        let of_pool = pool.and_then(|pool| pool.floats.clone()).map(Bound::Floats);
        let bound = own.map(|own| match own {
            Bound::Holds(_) => of_pool.unwrap_or(own),
            Bound::Floats(_) => own,
        });
        if let (Some(Bound::Floats(why)), Some(group)) = (&bound, stage.group) {
            let group = &self.engine.plan.groups[group];
            if group.insist == Insist::Demand {
                let (stage, worker) = (stage.name.clone(), place.worker);
                return Err(StartError::Unbound { stage, worker, why: why.clone() });
            }
            let note = format!("group `{}` prefers its binding, but {why}", group.name);
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        let threads = pool.map_or(0, |pool| pool.threads.current_num_threads());
        let (stage, ccds, cpus) = (stage.name.clone(), place.ccds.clone(), place.cpus.clone());
        self.bindings.push(Binding { stage, worker: place.worker, ccds, cpus, threads, bound });
        Ok(())
    }
}

impl<J: Job, O: Travels> Drop for Running<J, O> {
    fn drop(&mut self) {
        let (engine, threads) = (Arc::clone(&self.engine), std::mem::take(&mut self.threads));
        engine.close();
        let here = std::thread::current().id();
        let end = move || {
            engine.wait_until_idle();
            engine.send_workers_home();
            for thread in threads {
                // A worker reports its own end; there is no one else to tell.
                let _ = thread.join();
            }
        };
        let by_a_worker = self.workers.contains(&here);
        if by_a_worker {
            // A waker or an observer dropped the last owner on a worker's thread, which cannot wait for itself.
            std::thread::spawn(end);
        } else {
            end();
        }
    }
}

/// A rayon pool, and why one of its threads floats if one does.
struct BuiltPool {
    threads: Arc<rayon::ThreadPool>,
    floats: Option<String>,
}

fn build_pools(plan: &Plan, placement: &Placement, binder: &Binder) -> Result<Vec<BuiltPool>, StartError> {
    let build = |place: &crate::placement::PoolPlace| {
        let group = plan.groups[place.group].name.clone();
        let ccds: Vec<String> = place.ccds.iter().map(u32::to_string).collect();
        let name = format!("{group}@{}", ccds.join(","));
        let (reports, reported) = bounded(place.threads);
        let (binder, cpus) = (binder.clone(), place.cpus.clone());
        let thread_name = name.clone();
        let threads = rayon::ThreadPoolBuilder::new()
            .num_threads(place.threads)
            .thread_name(move |thread| format!("{thread_name}-{thread}"))
            .start_handler(move |thread| {
                // Room for every thread's one report.
                let _ = reports.try_send(binder.bind_this_thread(&cpus, thread));
            })
            .build()
            .map_err(|error| StartError::Thread { name, why: error.to_string() })?;
        let floats = reported.iter().take(place.threads).find_map(|bound| match bound {
            Bound::Floats(why) => Some(why),
            Bound::Holds(_) => None,
        });
        Ok(BuiltPool { threads: Arc::new(threads), floats })
    };
    placement.pools.iter().map(build).collect()
}
